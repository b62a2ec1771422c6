"""What the threat model names as its proof exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NAMED = re.compile(r"`((?:test_|Test)\w+)`")


def test_every_proof_is_a_test() -> None:
    named = set(NAMED.findall((ROOT / "docs" / "threat-model.md").read_text()))
    files = [*(ROOT / "backend" / "tests").rglob("test_*.py"), *(ROOT / "agents").rglob("*_test.go")]
    found = {name for file in files for name in re.findall(r"^(?:async )?(?:def|func) (\w+)\(", file.read_text(), re.M)}
    assert len(named) > 40
    assert sorted(named - found) == []
