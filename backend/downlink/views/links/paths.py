"""The view of a path's file."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from downlink.codec.path import decode_path
from downlink.codec.path_csv import path_csv
from downlink.constellation.window import PathWindow, window_of
from downlink.storage.links import path_store
from downlink.storage.unit import Unit


def path_lines(unit: Unit, path_id: UUID) -> Iterator[str]:
    """All of it as CSV, in pieces. ConflictError where it is not ready."""
    return path_csv(*decode_path(path_store.content_of(unit, path_id)))


def path_window(
    unit: Unit, path_id: UUID, from_us: int, to_us: int | None, at_us: int | None, points: int
) -> PathWindow:
    """A stretch of it, for a drawing. ConflictError where it is not ready."""
    header, columns = decode_path(path_store.content_of(unit, path_id))
    return window_of(header, columns, from_us, to_us, at_us, points)
