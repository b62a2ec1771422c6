"""Link profiles as far as the stack reads them: which paths they name. The agent reads and checks the rest (docs/link-profiles.md)."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

ENDING = ".dlpath"


def kept_paths(text: str) -> list[str]:
    """The paths that a profile names as `downlink paths make` keeps them. None in a text that is no profile."""
    try:
        profile = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):  # ValueError: a date that is none
        return []
    return [name for name in _named(profile) if not name.endswith(ENDING)]


def _named(profile: object) -> Iterator[str]:
    if not isinstance(profile, dict):
        return
    hops = profile.get("hops")
    for part in (profile, *(hops if isinstance(hops, list) else ())):
        path = part.get("path") if isinstance(part, dict) else None
        name = path.get("file") if isinstance(path, dict) else path
        if isinstance(name, str):
            yield name
