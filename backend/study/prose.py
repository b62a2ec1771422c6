"""Prose of the pages: Markdown files of the folder words, with named holes such as `{ratio}`."""

from __future__ import annotations

from pathlib import Path
from string import Formatter

WORDS = Path(__file__).parent / "words"


class HoleError(Exception):
    """A text and the values for its holes do not fit each other: a fault of the study, not of its archives."""


def fill(text: str, **holes: str) -> str:
    """The text words/TEXT.md with a value in each hole. HoleError where a hole has no value, or a value no hole."""
    prose = (WORDS / f"{text}.md").read_text()
    named = {hole for _, hole, _, _ in Formatter().parse(prose) if hole is not None}
    if odd := named ^ holes.keys():
        raise HoleError(f"words/{text}.md: {', '.join(sorted(odd))} has a hole or a value, not both.")
    return prose.format_map(holes)


def heading(text: str) -> str:
    """The first line of words/TEXT.md."""
    return (WORDS / f"{text}.md").read_text().partition("\n")[0]
