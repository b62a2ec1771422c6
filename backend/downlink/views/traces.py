"""Sealed traces to take away, a chunk at a time. No connection waits while a reader takes what it was given."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from downlink.codec.parquet import join_parquet, parquet_to_columns
from downlink.codec.tables import columns_to_csv
from downlink.domain.errors import NotFoundError
from downlink.storage import traces
from downlink.storage.unit import UnitFactory


def trace_parquet(units: UnitFactory, run_id: UUID, flow: int, point: str) -> Iterator[bytes]:
    """A sealed trace as one Parquet file, a row group at a time."""
    return join_parquet(_chunks(units, run_id, flow, point))


def trace_csv(units: UnitFactory, run_id: UUID, flow: int, point: str) -> Iterator[bytes]:
    """A sealed trace as CSV, a chunk at a time."""
    chunks = _chunks(units, run_id, flow, point)

    def pieces() -> Iterator[bytes]:
        for number, chunk in enumerate(chunks):
            text = columns_to_csv(parquet_to_columns(chunk))
            yield text if number == 0 else text.partition(b"\r\n")[2]

    return pieces()


def _chunks(units: UnitFactory, run_id: UUID, flow: int, point: str) -> Iterator[bytes]:
    """A trace's chunks. NotFoundError before the first; one that ends within, deleted, must not look whole."""
    with units(is_read_only=True) as unit:
        trace = traces.find_trace(unit, run_id, flow, point)
        if trace is None or trace.chunks == 0:
            raise _no_trace(run_id, flow, point)

    def read() -> Iterator[bytes]:
        last, left = -1, trace.chunks
        while left > 0:
            with units(is_read_only=True) as unit:
                found = traces.sealed_places(unit, run_id, flow, point, last)
            if not found:
                raise _no_trace(run_id, flow, point)
            yield from units.store.contents(place for _, place in found[:left])
            last, left = found[-1][0], left - len(found)

    return read()


def _no_trace(run_id: UUID, flow: int, point: str) -> NotFoundError:
    message = f"Run {run_id} has no sealed trace of flow {flow} at the {point}; the run's page says how far it is."
    return NotFoundError("trace_not_found", message)
