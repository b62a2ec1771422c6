"""Prose with named holes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from study import prose
from study.prose import WORDS, HoleError, fill, heading

STUDY = Path(prose.__file__).parent


def test_a_hole_gets_its_value() -> None:
    filled = fill("papers/not-run", file="000.yaml", command="make study-000")
    assert filled == "Campaign `000.yaml`. **Not run yet**: `make study-000`.\n"
    assert heading("intcp/parts") == "## What each mechanism earns"


def test_a_hole_without_a_value_and_a_value_without_a_hole_are_refused() -> None:
    with pytest.raises(HoleError, match=r"words/papers/not-run\.md: command "):
        fill("papers/not-run", file="000.yaml")
    with pytest.raises(HoleError, match="more"):
        fill("papers/not-run", file="000.yaml", command="make study-000", more="")


def test_every_text_is_of_a_page() -> None:
    """A text that no page takes is prose that nobody reads."""
    source = "".join(path.read_text() for path in STUDY.rglob("*.py"))
    texts = {path.relative_to(WORDS).with_suffix("").as_posix() for path in WORDS.rglob("*.md")}
    assert len(texts) > 20
    quoted = set(re.findall(r"""["']([a-z0-9/-]+)["']""", source))
    assert {text for text in texts if not {text, text.removeprefix("intcp/")} & quoted} == set()
