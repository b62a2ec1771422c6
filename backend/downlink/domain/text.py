"""What counts as text."""

from __future__ import annotations

import re


def is_storable(text: str) -> bool:
    """Whether a database takes the text: no zero character, no half of a surrogate pair."""
    return "\x00" not in text and not re.search("[\ud800-\udfff]", text)
