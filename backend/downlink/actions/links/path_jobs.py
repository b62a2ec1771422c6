"""A worker makes a path. No transaction is open meanwhile; how far it is, is noted about once a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from importlib.metadata import version
from uuid import UUID

from downlink.codec.path import encode_path, header_document
from downlink.constellation.maker import make_path
from downlink.constellation.requests import ready_path
from downlink.constellation.summary import summarise
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.storage.links import path_store
from downlink.storage.unit import UnitFactory

TELL_EVERY = timedelta(seconds=1)


def make(units: UnitFactory, path_id: UUID, clock: Callable[[], datetime]) -> None:
    """Make it, and keep the file. NotFoundError, at the next note, once it was deleted or taken over by a later try."""
    with units() as unit:
        path = path_store.get_path(unit, path_id)
    if path.state != "making":
        return
    asked = replace(
        ready_path(path.ready, f"downlink {version('downlink')}"),
        duration_us=path.duration_us,
        named={"name": path.ready, "hours": path.duration_us / 3_600e6},
    )
    told_at = clock()

    def say(done_us: int) -> None:
        nonlocal told_at
        if clock() - told_at >= TELL_EVERY:
            told_at = clock()
            with units() as unit:
                if not path_store.note_progress(unit, path_id, path.tries, done_us):
                    raise NotFoundError("path_not_found", f"Nobody waits for path {path_id} any more.")

    try:
        header, columns = make_path(asked, say)
        content = encode_path(header, columns)
    except InvalidError as error:
        with units() as unit:
            refused = path_store.get_path(unit, path_id, is_locked=True)
            refused.state, refused.reason, refused.ended_at = "failed", error.message, clock()
        return
    with units() as unit:
        made = path_store.get_path(unit, path_id, is_locked=True)
        if made.state == "making":
            made.state, made.done_us, made.ended_at = "ready", made.duration_us, clock()
            made.header, made.summary = header_document(header), asdict(summarise(header, columns))
            made.content, made.size_bytes = content, len(content)
