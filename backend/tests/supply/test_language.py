"""Texts and comments are plain English: none of the project's former idioms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
IDIOMS = ("anew", "whoever", "by which", "says so", "what came of it", "this once", "turns it round", "one's own")
IDIOM = re.compile(rf"\b({'|'.join(IDIOMS)})\b(?!-)", re.IGNORECASE)
SETS = {
    "documents": ("*.md", "docs/**/*.md"),
    "backend": ("backend/downlink/**/*.py", "backend/study/**/*.py", "backend/study/**/*.md"),
    "dashboard": ("frontend/src/**/*.ts", "frontend/src/**/*.tsx"),
    "agents": ("agents/**/*.go",),
}


def texts(patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from (path for path in ROOT.glob(pattern) if not re.search(r"\.test\.tsx?$|_test\.go$", path.name))


@pytest.mark.parametrize("patterns", SETS.values(), ids=SETS)
def test_no_private_idiom(patterns: tuple[str, ...]) -> None:
    files = list(texts(patterns))
    assert len(files) > 20
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if IDIOM.search(line)
    ]
    assert found == [], "\n".join(found)
