"""Rules for text that the server takes."""

from __future__ import annotations

import re

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer a terminal or turn the direction of a line, line breaks, tabs, and code points that are no
character of their own."""


def is_storable(text: str) -> bool:
    """Return whether a database takes the text: no zero character, no half of a surrogate pair."""
    return "\x00" not in text and not re.search("[\ud800-\udfff]", text)


def is_one_line(text: str) -> bool:
    """Return whether the text may be a name: it has no line break or other control character."""
    return not CONTROLS.search(text)


def without_controls(text: str, but: str = "") -> str:
    """The text to show: a replacement character for each control character but those named."""
    return CONTROLS.sub(lambda match: match[0] if match[0] in but else "\N{REPLACEMENT CHARACTER}", text)
