"""Chunks and traces: as uploaded, then sealed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from downlink.storage.tables import Chunk, Trace
from downlink.storage.unit import Unit

Address = tuple[int, str, int]
"""Flow, end and sequence of a chunk, within its run."""
FETCHED_CHUNKS = 4  # at once: one may have 4 MiB, and takes several times that on its way


_DIGESTS = """
    SELECT flow, "end", sequence, sha256 FROM chunks JOIN unnest(
        CAST(:flow AS bigint[]), CAST(:end AS text[]), CAST(:sequence AS bigint[])
    ) AS wanted (flow, "end", sequence) USING (flow, "end", sequence) WHERE run_id = :run_id
"""


def store_chunks(unit: Unit, chunks: Sequence[Mapping[str, object]]) -> set[Address]:
    """Store chunks; the addresses of those that were not there yet. What is there stays as it is.

    One statement for any number of them, whose contents go as bytes: in an array psycopg would write them as text.
    """
    if not chunks:
        return set()
    new = insert(Chunk).on_conflict_do_nothing().returning(Chunk.flow, Chunk.end, Chunk.sequence)
    return {(flow, end, sequence) for flow, end, sequence in unit.session.connection().execute(new, chunks)}


def stored_digests(unit: Unit, run_id: UUID, addresses: Iterable[Address]) -> dict[Address, bytes]:
    """The SHA-256 of what is stored at these addresses."""
    columns = dict(zip(("flow", "end", "sequence"), map(list, zip(*addresses, strict=True)), strict=True))
    found = unit.session.execute(text(_DIGESTS), {"run_id": run_id, **columns})
    return {(flow, end, sequence): digest for flow, end, sequence, digest in found}


def chunks_of(unit: Unit, run_id: UUID, flow: int, end: str) -> Iterator[tuple[int, bytes | None, bytes | None]]:
    """(sequence, as uploaded, Parquet) of one trace's chunks, in their order; a sealed one has Parquet alone."""
    query = select(Chunk.sequence, Chunk.packed, Chunk.parquet)
    query = query.where(Chunk.run_id == run_id, Chunk.flow == flow, Chunk.end == end).order_by(Chunk.sequence)
    yield from unit.session.execute(query, execution_options={"yield_per": FETCHED_CHUNKS})


def seal_chunk(unit: Unit, run_id: UUID, flow: int, end: str, sequence: int, parquet: bytes) -> None:
    """Put Parquet in the place of the upload. The sha256 of the upload stays, so that a late repeat is still known."""
    place = (Chunk.run_id == run_id, Chunk.flow == flow, Chunk.end == end, Chunk.sequence == sequence)
    unit.session.execute(update(Chunk).where(*place, Chunk.packed.is_not(None)).values(parquet=parquet, packed=None))


def drop_chunk(unit: Unit, run_id: UUID, flow: int, end: str, sequence: int) -> None:
    place = (Chunk.run_id == run_id, Chunk.flow == flow, Chunk.end == end, Chunk.sequence == sequence)
    unit.session.execute(delete(Chunk).where(*place))


def chunk_sequences(unit: Unit, run_id: UUID) -> dict[tuple[int, str], list[int]]:
    """(flow, end) to the sequence numbers that are there, rising."""
    found: dict[tuple[int, str], list[int]] = {}
    query = select(Chunk.flow, Chunk.end, Chunk.sequence).where(Chunk.run_id == run_id)
    for flow, end, sequence in unit.session.execute(query.order_by(Chunk.flow, Chunk.end, Chunk.sequence)):
        found.setdefault((flow, end), []).append(sequence)
    return found


def count_samples(unit: Unit, run_id: UUID, flow: int, end: str) -> int:
    query = select(func.coalesce(func.sum(Chunk.samples), 0)).where(
        Chunk.run_id == run_id, Chunk.flow == flow, Chunk.end == end
    )
    return int(unit.session.scalar(query) or 0)


def add_trace(unit: Unit, run_id: UUID, flow: int, end: str, missing: list[int], chunks: int, now: datetime) -> None:
    """Note what sealing found; after late chunks, what it found last."""
    samples = count_samples(unit, run_id, flow, end)
    row = {
        "run_id": run_id,
        "flow": flow,
        "end": end,
        "samples": samples,
        "chunks": chunks,
        "missing": missing,
        "sealed_at": now,
    }
    found = {key: row[key] for key in ("samples", "chunks", "missing", "sealed_at")}
    place = [Trace.run_id, Trace.flow, Trace.end]
    unit.session.execute(insert(Trace).values(row).on_conflict_do_update(index_elements=place, set_=found))


def find_trace(unit: Unit, run_id: UUID, flow: int, end: str) -> Trace | None:
    return unit.session.get(Trace, (run_id, flow, end))


def traces_of(unit: Unit, run_id: UUID) -> Sequence[Trace]:
    return unit.session.scalars(select(Trace).where(Trace.run_id == run_id).order_by(Trace.flow, Trace.end)).all()


def sealed_chunks(unit: Unit, run_id: UUID, flow: int, end: str) -> Iterator[bytes]:
    """The Parquet of one trace, chunk by chunk in their order; fetched a few at a time."""
    query = select(Chunk.parquet).where(
        Chunk.run_id == run_id, Chunk.flow == flow, Chunk.end == end, Chunk.parquet.is_not(None)
    )
    streamed = unit.session.execute(query.order_by(Chunk.sequence), execution_options={"yield_per": FETCHED_CHUNKS})
    for (parquet,) in streamed:
        if parquet is not None:
            yield parquet


def next_sealed_chunk(unit: Unit, run_id: UUID, flow: int, end: str, after: int) -> tuple[int, bytes] | None:
    """The first chunk of a trace behind this sequence number, as (sequence, Parquet)."""
    place = (Chunk.run_id == run_id, Chunk.flow == flow, Chunk.end == end, Chunk.sequence > after)
    query = select(Chunk.sequence, Chunk.parquet).where(*place, Chunk.parquet.is_not(None))
    row = unit.session.execute(query.order_by(Chunk.sequence).limit(1)).first()
    return (row[0], row[1]) if row and row[1] is not None else None


def add_sealed_chunk(unit: Unit, chunk: Chunk) -> None:
    unit.session.add(chunk)
