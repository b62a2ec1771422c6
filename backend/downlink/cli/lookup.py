"""Names on the command line: a thing is called by its id, the start of its id, or its name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from downlink.cli.client import Client, find_access
from downlink.domain.errors import InvalidError, NotFoundError


def connect() -> Client:
    return Client(find_access(Path.cwd(), os.environ))


def pick(items: Sequence[dict[str, Any]], wanted: str, noun: str) -> dict[str, Any]:
    """The one item that `wanted` names. The newest of several campaigns of one name is not guessed: the ids are shown."""
    exact = [item for item in items if wanted in (item["id"], item.get("name"))]
    matches = exact or [item for item in items if item["id"].startswith(wanted)]
    if not matches:
        raise NotFoundError(
            f"{noun}_not_found", f"There is no {noun} {wanted!r}; `downlink {noun}s list` shows them all."
        )
    if len(matches) > 1:
        ids = ", ".join(item["id"] for item in matches)
        raise InvalidError(f"{noun}_ambiguous", f"{wanted!r} names {len(matches)} {noun}s; use one of the ids: {ids}")
    return matches[0]


def campaign_id(client: Client, wanted: str) -> str:
    return str(pick(client.items("/campaigns"), wanted, "campaign")["id"])
