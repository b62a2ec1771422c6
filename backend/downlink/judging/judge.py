"""The shape of a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from downlink.codec.tables import Cell
from downlink.judging.traces import RunTrace
from downlink.storage.results.judgement_store import Found
from downlink.storage.tables import RunFlow, Table

Row = dict[str, Any]
"""A row as a table takes it, without its run_id."""
Rows = Mapping[type[Table], Sequence[Row]]
Cells = Iterator[Sequence[Cell]]
Own = Mapping[type[Table], Sequence[Any]]
"""Rows that are stored of one flow, by table."""


def _none(_own: Own) -> Cells:
    return iter(())


@dataclass(frozen=True)
class Judge:
    """name: of its CSV. tables: where its rows are. columns: of a sender's trace. find: the rows of a run.

    header, cells: its CSV behind the run's own columns; a flow of which nothing is stored has a line too. run_cells: lines of the
    run as a whole, before those of its flows.
    """

    name: str
    tables: tuple[type[Table], ...]
    columns: tuple[str, ...]
    find: Callable[[RunTrace], Rows]
    header: tuple[str, ...]
    cells: Callable[[RunFlow, Own], Cells]
    run_cells: Callable[[Own], Cells] = _none

    def found(self, run: RunTrace) -> Found:
        rows = self.find(run)
        return {table: [{"run_id": run.run.id, **row} for row in rows[table]] for table in self.tables}
