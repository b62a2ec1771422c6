"""No Python file of the product is longer than 350 lines, so that each has one subject. `make lint` holds Go files at the same limit."""

from __future__ import annotations

from pathlib import Path

BACKEND = Path(__file__).resolve().parents[2]
PARTS = ("downlink", "study", "bench", "tools")
MOST_LINES = 350


def test_no_file_is_longer_than_the_limit() -> None:
    files = [file for part in PARTS for file in (BACKEND / part).rglob("*.py")]
    assert len(files) > 500
    lines = {str(file.relative_to(BACKEND)): len(file.read_text().splitlines()) for file in files}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
