"""Sealed traces to take away, piece by piece. No connection waits while a reader takes what it was given."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from downlink.codec.parquet import join_parquet, row_batches
from downlink.codec.tables import columns_to_csv
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.domain.moment import moment_text
from downlink.storage.runs import run_store
from downlink.storage.traces import trace_store
from downlink.storage.unit import Unit, UnitFactory


def trace_parquet(units: UnitFactory, run_id: UUID, flow: int, point: str) -> Iterator[bytes]:
    """A sealed trace as one Parquet file, a row group at a time."""
    return join_parquet(_parts(units, run_id, flow, point))


def trace_csv(units: UnitFactory, run_id: UUID, flow: int, point: str) -> Iterator[bytes]:
    """A sealed trace as CSV, some thousand samples at a time."""
    parts = _parts(units, run_id, flow, point)

    def pieces() -> Iterator[bytes]:
        batches = (batch for part in parts for batch in row_batches(part))
        for number, batch in enumerate(batches):
            text = columns_to_csv(batch)
            yield text if number == 0 else text.partition(b"\r\n")[2]

    return pieces()


def refuse_backward(from_us: int, to_us: int | None) -> None:
    """InvalidError `span_invalid` for a stretch that ends before it begins; None is the trace's end."""
    if to_us is not None and to_us < from_us:
        message = f"to_s ({to_us / 1e6:g}) lies before from_s ({from_us / 1e6:g}): give the earlier second as from_s."
        raise InvalidError("span_invalid", message)


def _parts(units: UnitFactory, run_id: UUID, flow: int, point: str) -> Iterator[bytes]:
    """A trace's parts. NotFoundError before the first; one that ends within, deleted, must not look whole."""
    with units(is_read_only=True) as unit:
        trace = trace_store.find_trace(unit, run_id, flow, point)
        if trace is None or trace.chunks == 0:
            raise no_trace(run_id, flow, point)
        refuse_removed(unit, run_id)
        parts = trace_store.part_sequences(unit, run_id, flow, point)

    def read() -> Iterator[bytes]:
        for at in range(0, len(parts), trace_store.FETCHED):
            wanted = parts[at : at + trace_store.FETCHED]
            with units(is_read_only=True) as unit:
                places = trace_store.part_places(unit, run_id, flow, point, wanted)
            if len(places) < len(wanted):
                raise no_trace(run_id, flow, point)
            yield from units.store.contents(places)

    return read()


def no_trace(run_id: UUID, flow: int, point: str) -> NotFoundError:
    message = f"Run {run_id} has no sealed trace of flow {flow} at the {point}; the run's page says how far it is."
    return NotFoundError("trace_not_found", message)


def refuse_removed(unit: Unit, run_id: UUID) -> None:
    """NotFoundError where the run's raw traces are gone."""
    if at := run_store.get_run(unit, run_id).traces_removed_at:
        message = f"The raw traces of run {run_id} were removed at {moment_text(at)}; its numbers were computed before and stay."
        raise NotFoundError("traces_removed", message)
