"""Chunks and traces: as uploaded, then sealed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from sqlalchemy import Select, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from downlink.storage.tables import Chunk, Trace, TraceFolder
from downlink.storage.traces import part_store
from downlink.storage.traces.objects import Kept
from downlink.storage.unit import IN_BINARY, Unit

Address = tuple[int, str, int]
"""Flow, point and sequence of a chunk, within its run."""
FETCHED = 4  # chunks or parts at once: one may have 4 MiB, and takes several times that on its way


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """A chunk as its agent packed it."""

    sequence: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class SealedPart:
    """A part of a trace that is sealed: its end says how the trace goes on."""

    parquet: bytes


_DIGESTS = """
    SELECT flow, point, sequence, sha256 FROM chunks JOIN unnest(
        CAST(:flow AS bigint[]), CAST(:point AS text[]), CAST(:sequence AS bigint[])
    ) AS wanted (flow, point, sequence) USING (flow, point, sequence) WHERE run_id = :run_id
"""


def store_chunks(unit: Unit, chunks: Sequence[Mapping[str, object]]) -> set[Address]:
    """Store chunks; the addresses of those that were not there yet. What is there stays as it is.

    One statement for any number of them, whose contents go as bytes: in an array psycopg would write them as text.
    """
    if not chunks:
        return set()
    new = insert(Chunk).on_conflict_do_nothing().returning(Chunk.flow, Chunk.point, Chunk.sequence)
    return {(flow, point, sequence) for flow, point, sequence in unit.session.connection().execute(new, chunks)}


def stored_digests(unit: Unit, run_id: UUID, addresses: Iterable[Address]) -> dict[Address, bytes]:
    """The SHA-256 of what is stored at these addresses."""
    columns = dict(zip(("flow", "point", "sequence"), map(list, zip(*addresses, strict=True)), strict=True))
    rows = unit.session.execute(text(_DIGESTS), {"run_id": run_id, **columns})
    return {(flow, point, sequence): digest for flow, point, sequence, digest in rows}


def chunks_of(unit: Unit, run_id: UUID, flow: int, point: str) -> Iterator[PackedChunk | SealedPart]:
    """One trace's uploads in their order, and between them the last part that was sealed before the next upload."""
    query = select(Chunk.sequence, Chunk.packed, Chunk.parquet, TraceFolder.url).outerjoin(TraceFolder)
    query = query.where(Chunk.run_id == run_id, Chunk.flow == flow, Chunk.point == point, Chunk.joined_to.is_(None))
    query = query.order_by(Chunk.sequence)
    sealed: Kept | None = None
    for sequence, packed, parquet, url in unit.session.execute(
        query, execution_options={"yield_per": FETCHED, **IN_BINARY}
    ):
        if packed is None:
            sealed = part_store.location(parquet, url, (run_id, flow, point, sequence))
            continue
        if sealed is not None:
            yield SealedPart(next(unit.store.contents([sealed])))
            sealed = None
        yield PackedChunk(sequence, packed)


def seal_part(unit: Unit, run_id: UUID, flow: int, point: str, sequences: Sequence[int], parquet: bytes) -> None:
    """Put one Parquet file in the place of these uploads. Their sha256 stay, so that late repeats are still known."""
    first = sequences[0]
    uploads = (Chunk.run_id == run_id, Chunk.flow == flow, Chunk.point == point, Chunk.packed.is_not(None))
    kept = part_store.keep(unit, (run_id, flow, point, first), parquet)
    unit.session.execute(update(Chunk).where(*uploads, Chunk.sequence == first).values(**kept, packed=None))
    if len(sequences) > 1:
        others = update(Chunk).where(*uploads, Chunk.sequence.in_(sequences[1:]))
        unit.session.execute(others.values(joined_to=first, packed=None))


def drop_chunk(unit: Unit, run_id: UUID, flow: int, point: str, sequence: int) -> None:
    key = (Chunk.run_id == run_id, Chunk.flow == flow, Chunk.point == point, Chunk.sequence == sequence)
    unit.session.execute(delete(Chunk).where(*key))


def chunk_sequences(unit: Unit, run_id: UUID) -> dict[tuple[int, str], list[int]]:
    """(flow, point) to the sequence numbers that are there, rising."""
    sequences: dict[tuple[int, str], list[int]] = {}
    query = select(Chunk.flow, Chunk.point, Chunk.sequence).where(Chunk.run_id == run_id)
    for flow, point, sequence in unit.session.execute(query.order_by(Chunk.flow, Chunk.point, Chunk.sequence)):
        sequences.setdefault((flow, point), []).append(sequence)
    return sequences


def count_samples(unit: Unit, run_id: UUID, flow: int, point: str) -> int:
    query = select(func.coalesce(func.sum(Chunk.samples), 0)).where(
        Chunk.run_id == run_id, Chunk.flow == flow, Chunk.point == point
    )
    return int(unit.session.scalar(query) or 0)


def add_trace(unit: Unit, run_id: UUID, flow: int, point: str, missing: list[int], chunks: int, now: datetime) -> None:
    """Note what sealing found; after late chunks, what it found last."""
    samples = count_samples(unit, run_id, flow, point)
    row = {
        "run_id": run_id,
        "flow": flow,
        "point": point,
        "samples": samples,
        "chunks": chunks,
        "missing": missing,
        "sealed_at": now,
    }
    changes = {key: row[key] for key in ("samples", "chunks", "missing", "sealed_at")}
    key_columns = [Trace.run_id, Trace.flow, Trace.point]
    unit.session.execute(insert(Trace).values(row).on_conflict_do_update(index_elements=key_columns, set_=changes))


def find_trace(unit: Unit, run_id: UUID, flow: int, point: str) -> Trace | None:
    return unit.session.get(Trace, (run_id, flow, point))


def traces_of(unit: Unit, run_id: UUID) -> Sequence[Trace]:
    return unit.session.scalars(select(Trace).where(Trace.run_id == run_id).order_by(Trace.flow, Trace.point)).all()


def sealed_parts(unit: Unit, run_id: UUID, flow: int, point: str) -> Iterator[bytes]:
    """The Parquet of one trace, part by part in their order; fetched a few at a time."""
    return unit.store.contents(_places(unit, run_id, flow, point))


def _places(unit: Unit, run_id: UUID, flow: int, point: str) -> Iterator[Kept]:
    """A query for each few parts: most traces have no more, and a cursor costs three queries."""
    last, is_last = -1, False
    while not is_last:
        rows = unit.session.execute(_sealed(run_id, flow, point).where(Chunk.sequence > last).limit(FETCHED)).all()
        is_last = len(rows) < FETCHED
        for last, parquet, url in rows:
            yield part_store.location(parquet, url, (run_id, flow, point, last))


def part_sequences(unit: Unit, run_id: UUID, flow: int, point: str) -> list[int]:
    """A sealed trace's parts by the sequence of their first chunk, rising."""
    query = select(Chunk.sequence).where(Chunk.run_id == run_id, Chunk.flow == flow, Chunk.point == point)
    return list(unit.session.scalars(query.where(part_store.HAS_PARQUET).order_by(Chunk.sequence)))


def part_places(unit: Unit, run_id: UUID, flow: int, point: str, parts: Sequence[int]) -> list[Kept]:
    """Return where the Parquet of the existing ones of these parts is."""
    rows = unit.session.execute(_sealed(run_id, flow, point).where(Chunk.sequence.in_(parts)))
    return [part_store.location(parquet, url, (run_id, flow, point, at)) for at, parquet, url in rows]


def _sealed(run_id: UUID, flow: int, point: str) -> Select[int, bytes | None, str]:
    query = select(Chunk.sequence, Chunk.parquet, TraceFolder.url).outerjoin(TraceFolder).order_by(Chunk.sequence)
    return query.execution_options(**IN_BINARY).where(
        Chunk.run_id == run_id, Chunk.flow == flow, Chunk.point == point, part_store.HAS_PARQUET
    )


def add_part(unit: Unit, address: part_store.PartKey, samples: Sequence[int], parquet: bytes, now: datetime) -> None:
    """Store chunks that nobody uploaded, of so many samples each, as one part: their digest is that of its Parquet."""
    run_id, flow, point, first = address
    own = {"run_id": run_id, "flow": flow, "point": point, "sha256": sha256(parquet).digest(), "stored_at": now}
    unit.session.execute(
        insert(Chunk).values(**own, sequence=first, samples=samples[0], **part_store.keep(unit, address, parquet))
    )
    rest = [
        {**own, "sequence": first + at, "samples": size, "joined_to": first} for at, size in enumerate(samples) if at
    ]
    if rest:
        unit.session.execute(insert(Chunk), rest)
