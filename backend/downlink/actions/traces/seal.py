"""Traces are sealed: what was uploaded of them becomes Parquet, in parts of several chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from downlink.actions.runs import progress
from downlink.codec.chunk import MAX_PACKED_BYTES, PART_CHUNKS, Columns, decode_chunk
from downlink.codec.parquet import columns_to_parquet, joined, trace_columns
from downlink.domain.errors import InvalidError
from downlink.domain.runs.outcome import Announced
from downlink.domain.runs.run import Ending, Reason, RunState
from downlink.domain.traces.point import NO_FLOW, TABLES, Point, trace_name
from downlink.domain.traces.sample import TIME_FIELD
from downlink.storage.runs import run_store
from downlink.storage.tables import Run
from downlink.storage.traces import trace_store
from downlink.storage.unit import Unit

PART_BYTES = MAX_PACKED_BYTES
"""Bytes of a part as uploaded: it takes no more memory than the largest chunk."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk that continues its trace. size: bytes, as it was uploaded."""

    sequence: int
    size: int
    columns: Columns


def seal(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Turn a released run's uploads into sealed traces, and want it analysed. Safe to run twice."""
    run = run_store.get_run(unit, run_id, is_locked=True)
    if run.needs != "seal":
        return
    there = trace_store.chunk_sequences(unit, run_id)
    for flow in run_store.flows_of(unit, run_id):
        for point in (*flow.points, *TABLES):
            key = (flow.flow, point)
            _seal_trace(unit, run, key, flow.announced_at(point), there.get(key, []), now)
    link = (NO_FLOW, Point.LINK)
    _seal_trace(unit, run, link, run.link_outcome, there.get(link, []), now)
    progress.need(unit, run, "analyse")


def _seal_trace(
    unit: Unit, run: Run, key: tuple[int, Point], outcome: Announced | None, there: Sequence[int], now: datetime
) -> None:
    """Chunks that cannot be read, or do not continue the trace, are dropped, count as missing and are noted in the run.

    What was sealed before stays as it is.
    """
    flow, point = key
    announced = outcome.announced_chunks if outcome else 0
    if not announced and not there:
        return
    bad: dict[int, str] = {}
    for part in parts(_uploads(unit, run.id, flow, point, bad)):
        parquet = columns_to_parquet(joined([each.columns for each in part]))
        trace_store.seal_part(unit, run.id, flow, point, [each.sequence for each in part], parquet)
    good = set(there) - set(bad)
    missing = sorted(set(range(announced)) - good)
    trace_store.add_trace(unit, run.id, flow, point, missing, len(good), now)
    if bad:
        sequence, why = next(iter(bad.items()))
        detail = f"{len(bad)} of the chunks of {trace_name(flow, point)} cannot be used; the first is {sequence}: {why}"
        progress.condemn(unit, run, Ending(RunState.INCOMPLETE, Reason.UPLOAD_REFUSED, detail))


def _uploads(unit: Unit, run_id: UUID, flow: int, point: Point, bad: dict[int, str]) -> Iterator[Piece]:
    """A trace's uploads that continue it, in their order. The others are dropped, and put into `bad` with the reason."""
    last: Columns | None = None
    for chunk in trace_store.chunks_of(unit, run_id, flow, point):
        if isinstance(chunk, trace_store.SealedPart):
            last = trace_columns([chunk.parquet])
            continue
        try:
            last = _next_columns(chunk.packed, last)
        except InvalidError as error:
            bad[chunk.sequence] = error.message
            trace_store.drop_chunk(unit, run_id, flow, point, chunk.sequence)
        else:
            yield Piece(chunk.sequence, len(chunk.packed), last)


def parts(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces in groups that become one file each. Where one is missing a group ends: it may come late, and goes in between."""
    part: list[Piece] = []
    for piece in pieces:
        if part and not _goes_into(part, piece):
            yield part
            part = []
        part.append(piece)
    if part:
        yield part


def _goes_into(part: Sequence[Piece], piece: Piece) -> bool:
    is_next = piece.sequence == part[-1].sequence + 1
    return is_next and len(part) < PART_CHUNKS and sum(each.size for each in part) + piece.size <= PART_BYTES


def _next_columns(packed: bytes, last: Columns | None) -> Columns:
    """Decode a chunk. Raise InvalidError if it cannot be read, or does not continue the trace."""
    _, columns = decode_chunk(packed)
    if last is not None and not _continues(last, columns):
        raise InvalidError("chunk_invalid", "its fields are others than before, or its time goes back.")
    return columns


def _continues(before: Columns, after: Columns) -> bool:
    """One list of fields per trace, and time that goes on (docs/data-format.md section 1)."""
    return list(before) == list(after) and bool(after[TIME_FIELD][0] > before[TIME_FIELD][-1])
