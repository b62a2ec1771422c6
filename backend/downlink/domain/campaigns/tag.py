"""Tags: words that help people find campaigns again."""

from __future__ import annotations

from collections.abc import Iterable

from downlink.domain.errors import InvalidError
from downlink.domain.text import is_storable

MAX_TAGS = 20
"""Tags of one campaign at most."""
MAX_CHARS = 40


def clean_tags(tags: Iterable[str]) -> list[str]:
    """Trimmed, each once whatever its case, in their order. InvalidError for what is no tag, and for too many."""
    cleaned: dict[str, str] = {}
    for tag in tags:
        plain = " ".join(tag.split())
        if not plain or len(plain) > MAX_CHARS or "," in plain or not plain.isprintable() or not is_storable(plain):
            message = f"{tag[:MAX_CHARS]!r} is no tag: a tag has 1 to {MAX_CHARS} characters and no comma."
            raise InvalidError("tag_invalid", message)
        cleaned.setdefault(plain.casefold(), plain)
    if len(cleaned) > MAX_TAGS:
        raise InvalidError("tags_too_many", f"A campaign has at most {MAX_TAGS} tags; these are {len(cleaned)}.")
    return list(cleaned.values())
