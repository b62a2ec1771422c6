"""Chunks come in, and traces are sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from downlink.actions import agents, runs
from downlink.codec.chunk import Columns, decode_chunk
from downlink.codec.parquet import columns_to_parquet, trace_columns
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.sample import TIME_FIELD, End
from downlink.storage import runs as rows
from downlink.storage import traces, uploads
from downlink.storage.tables import Chunk, Run, RunFlow
from downlink.storage.unit import Unit
from downlink.storage.uploads import Upload

HEARD_EVERY = timedelta(seconds=1)
MOST_BYTES = 2 * 2**30
"""Of one agent in one run, packed: some twenty million samples of every field."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chunk belongs."""

    run_id: UUID
    attempt: int
    flow: int
    end: End
    sequence: int


def check_chunk(body: bytes, sha256_hex: str, place: Place) -> tuple[bytes, int]:
    """Digest and number of samples of a sound chunk. InvalidError says what is wrong. No database is touched."""
    digest = hashlib.sha256(body)
    if digest.hexdigest() != sha256_hex.lower():
        raise InvalidError("chunk_damaged", "The chunk's SHA-256 is not the one of X-Content-SHA256; send it again.")
    header, _ = decode_chunk(body)
    said = Place(UUID(header.run_id), header.attempt, header.flow, header.end, header.sequence)
    if said != place:
        raise InvalidError("chunk_misplaced", f"The chunk says it is {said}, its address says {place}.")
    return digest.digest(), header.samples


def hear_upload(unit: Unit, secret: str, run_id: UUID, now: datetime) -> str:
    """The name of the agent, known before its body is read. Its word that it lives is noted once a second, not with every chunk."""
    agent = agents.authenticate(unit, secret)
    if agent.last_seen_at is None or now - agent.last_seen_at > HEARD_EVERY:
        agent = agents.authenticate(unit, secret, is_locked=True)
        agent.last_seen_at = now
        if host := rows.find_host(unit, run_id, agent.name):
            host.heard_at = now
    return agent.name


def accept_chunk(unit: Unit, agent: str, place: Place, body: bytes, digest: bytes, samples: int, now: datetime) -> bool:
    """Store a known agent's checked chunk; False when it is already stored.

    ConflictError when the run is not this agent's, does not want chunks now, or holds another content in this place.
    """
    found = uploads.find_upload(unit, place.run_id, place.flow, place.end, agent)
    if found is None or found.attempt != place.attempt:
        raise ConflictError(
            "not_your_run",
            f"{agent} is not the {place.end} of flow {place.flow} in attempt {place.attempt} of run {place.run_id}.",
        )
    _refuse_surplus(found, place, len(body))
    row = Chunk(
        run_id=place.run_id, flow=place.flow, end=place.end.value, sequence=place.sequence,
        sha256=digest, samples=samples, packed=body, parquet=None, stored_at=now,
    )  # fmt: skip
    if not found.is_wanted:
        return _repeat(unit, row, found)
    if not traces.store_chunk(unit, row):
        return False
    uploads.note_stored(unit, place.run_id, agent, len(body), now)
    return True


def _repeat(unit: Unit, row: Chunk, found: Upload) -> bool:
    """A late repeat of a stored chunk is fine; a new chunk is not."""
    if traces.stored_digest(unit, row) == row.sha256:
        return False
    raise ConflictError("chunk_unwanted", f"The run is {found.state} and takes no chunks now; poll for an order.")


def _refuse_surplus(found: Upload, place: Place, size: int) -> None:
    if place.sequence >= found.chunks:
        raise InvalidError(
            "chunk_surplus", f"Chunk {place.sequence} was not announced: `finished` announced {found.chunks} chunks."
        )
    if found.stored_bytes + size > MOST_BYTES:
        raise InvalidError(
            "quota_used", f"An agent may store {MOST_BYTES} bytes of one run, packed; {found.stored_bytes} are stored."
        )


def seal(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Turn a released run's uploads into sealed traces, and want it analysed. Safe to run twice."""
    run = rows.get_run(unit, run_id, is_locked=True)
    if run.needs != "seal":
        return
    there = traces.chunk_sequences(unit, run_id)
    for flow in rows.flows_of(unit, run_id):
        for end in End:
            _seal_trace(unit, run, flow, end, there.get((flow.flow, end.value), []), now)
    runs.need(unit, run, "analyse")


def _seal_trace(unit: Unit, run: Run, flow: RunFlow, end: End, there: Sequence[int], now: datetime) -> None:
    """Chunks that do not continue the trace are dropped and count as missing. What was sealed before stays as it is."""
    outcome = getattr(flow, f"{end}_outcome")
    announced = outcome["chunks"] if outcome else 0
    if not announced and not there:
        return
    last: Columns | None = None
    bad: set[int] = set()
    for sequence, packed, parquet in traces.chunks_of(unit, run.id, flow.flow, end.value):
        columns = trace_columns([parquet]) if packed is None and parquet else decode_chunk(packed or b"")[1]
        if packed is not None and last is not None and not _continues(last, columns):
            bad.add(sequence)
            traces.drop_chunk(unit, run.id, flow.flow, end.value, sequence)
            continue
        if packed is not None:
            traces.seal_chunk(unit, run.id, flow.flow, end.value, sequence, columns_to_parquet(columns))
        last = columns
    good = set(there) - bad
    missing = sorted(set(range(announced)) - good)
    traces.add_trace(unit, run.id, flow.flow, end.value, missing, len(good), now)


def _continues(before: Columns, after: Columns) -> bool:
    """One list of fields per trace, and time that goes on (docs/data-format.md section 1)."""
    return list(before) == list(after) and bool(after[TIME_FIELD][0] > before[TIME_FIELD][-1])
