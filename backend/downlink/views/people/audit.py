"""The record of changes to access, to take away. Short reads: no connection waits for the reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from downlink.codec.tables import Cell, csv_pieces
from downlink.storage.people.account_store import audit_page
from downlink.storage.unit import UnitFactory

COLUMNS = ("id", "at", "actor", "actor_kind", "actor_id", "action", "subject", "subject_id")
PAGE = 1_000


def audit_csv(units: UnitFactory) -> Iterator[bytes]:
    """All entries, the oldest first, as pieces of CSV."""
    return (piece.encode() for piece in csv_pieces(COLUMNS, _entries(units)))


def _entries(units: UnitFactory) -> Iterator[Sequence[Cell]]:
    last = 0
    while True:
        with units(is_read_only=True) as unit:
            page = [[_cell(getattr(row, name)) for name in COLUMNS] for row in audit_page(unit, last, PAGE)]
        yield from page
        if len(page) < PAGE:
            return
        last = int(str(page[-1][0]))


def _cell(value: Cell | UUID) -> Cell:
    return str(value) if isinstance(value, UUID) else value
