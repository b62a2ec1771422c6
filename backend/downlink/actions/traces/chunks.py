"""Chunks come in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from downlink.actions.fleet import agents
from downlink.codec.chunk import read_header
from downlink.domain.errors import ConflictError, DownlinkError, InvalidError
from downlink.domain.fleet.instance import Instance
from downlink.domain.traces.point import Point
from downlink.storage.notices import events
from downlink.storage.runs import run_store
from downlink.storage.traces import trace_store, uploads
from downlink.storage.traces.trace_store import Address
from downlink.storage.traces.uploads import Upload
from downlink.storage.unit import Unit

DIFFERS = "chunk_differs"
HEARD_EVERY = timedelta(seconds=1)
MOST_BYTES = 2 * 2**30
"""Bytes of one agent in one run, packed: some twenty million samples of every field."""


@dataclass(frozen=True, slots=True)
class ChunkKey:
    """The address of a chunk."""

    run_id: UUID
    attempt: int
    flow: int
    point: Point
    sequence: int

    @property
    def address(self) -> Address:
        """Within its run."""
        return (self.flow, self.point, self.sequence)


@dataclass(frozen=True, slots=True)
class Checked:
    """A chunk that is what was sent, and belongs where it was sent to; its columns are checked when its trace is sealed."""

    key: ChunkKey
    content: bytes
    digest: bytes
    samples: int


def check_chunk(body: bytes, sha256_hex: str, address: ChunkKey) -> Checked:
    """InvalidError says what is wrong. No database is touched."""
    digest = hashlib.sha256(body)
    if digest.hexdigest() != sha256_hex.lower():
        raise InvalidError("chunk_damaged", "The chunk's SHA-256 is not the one that was sent with it; send it again.")
    header = read_header(body)
    stated = ChunkKey(UUID(header.run_id), header.attempt, header.flow, header.point, header.sequence)
    if stated != address:
        raise InvalidError("chunk_misplaced", f"The chunk says it is {stated}, its address says {address}.")
    return Checked(address, body, digest.digest(), header.samples)


def take_chunks(
    unit: Unit, secret: str, shown: Instance | None, run_id: UUID, chunks: Sequence[Checked], now: datetime
) -> list[bool | DownlinkError]:
    """accept_chunks for the agent of this secret. Its word that it lives is noted once a second, not with every chunk.

    Locks are taken in everybody's order: the agent, its run, its part in it.
    """
    agent = agents.authenticate(unit, secret, shown)
    is_due = agent.last_seen_at is None or now - agent.last_seen_at > HEARD_EVERY
    if is_due:
        agent = agents.authenticate(unit, secret, shown, is_locked=True)
        agent.last_seen_at = now
    answers = accept_chunks(unit, agent.name, chunks, now) if chunks else []
    if is_due and (host := run_store.find_host(unit, run_id, agent.name)):
        host.heard_at = now
    return answers


def accept_chunks(unit: Unit, agent: str, chunks: Sequence[Checked], now: datetime) -> list[bool | DownlinkError]:
    """Store a known agent's checked chunks of one attempt; for each whether it is new: False when it is already stored.

    In the place of a refused one is the error: ConflictError when the run is not this agent's, does not want chunks now, or
    holds another content there; InvalidError when it was not announced, or is too much. The others are stored all the same.
    """
    run_id = chunks[0].key.run_id
    known = uploads.find_uploads(unit, run_id, {chunk.key.flow for chunk in chunks}, agent)
    refused: list[DownlinkError | None] = []
    wanted: list[Checked] = []
    size = 0
    for chunk in chunks:
        upload = known.get((chunk.key.flow, chunk.key.point))
        refused.append(_refusal(upload, agent, chunk, size))
        if refused[-1] is None and upload and upload.is_wanted:
            wanted.append(chunk)
            size += len(chunk.content)
    new = trace_store.store_chunks(unit, [_row(chunk, now) for chunk in wanted])
    if new:
        sizes = {chunk.key.address: len(chunk.content) for chunk in reversed(wanted)}  # of two at one address the first
        uploads.note_stored(unit, run_id, agent, sum(sizes[address] for address in new), now)
    there = (
        {}
        if len(new) == len(chunks)
        else trace_store.stored_digests(unit, run_id, [chunk.key.address for chunk in chunks])
    )
    answers = [
        refusal or _is_new(chunk, new, there, known.get((chunk.key.flow, chunk.key.point)))
        for chunk, refusal in zip(chunks, refused, strict=True)
    ]
    differing = [each for each in answers if isinstance(each, ConflictError) and each.code == DIFFERS]
    if differing:
        _record(unit, run_id, agent, differing[0], now)
    return answers


def _record(unit: Unit, run_id: UUID, agent: str, refusal: ConflictError, now: datetime) -> None:
    """Record a refusal once for each agent in a run: an agent that sends such chunks may send very many."""
    run = run_store.get_run(unit, run_id)
    events.add_first(unit, now, f"{agent}: {DIFFERS}: ", refusal.message, run.campaign_id, run_id)


def _refusal(known: Upload | None, agent: str, chunk: Checked, size: int) -> DownlinkError | None:
    """Return why a chunk is not for this run, whatever is stored of it. size: of those before it that are to be stored with it."""
    address = chunk.key
    if known is None or known.attempt != address.attempt:
        return ConflictError(
            "not_your_run",
            f"{agent} is not the {address.point} of flow {address.flow} in attempt {address.attempt} of run {address.run_id}.",
        )
    if address.sequence >= known.chunks:
        return InvalidError(
            "chunk_surplus", f"Chunk {address.sequence} was not announced: `finished` announced {known.chunks} chunks."
        )
    stored = known.stored_bytes + size
    if stored + len(chunk.content) > MOST_BYTES:
        return InvalidError(
            "quota_used", f"An agent may store {MOST_BYTES} bytes of one run, packed; {stored} are stored."
        )
    return None


def _is_new(
    chunk: Checked, new: set[Address], there: Mapping[Address, bytes], known: Upload | None
) -> bool | DownlinkError:
    """True the first time that a newly stored address is asked for; a repeat of what is stored is fine, anything else is not."""
    if chunk.key.address in new:
        new.remove(chunk.key.address)
        return True
    if there.get(chunk.key.address) == chunk.digest:
        return False
    if known and not known.is_wanted:
        return ConflictError("chunk_unwanted", f"The run is {known.state} and takes no chunks now; poll for an order.")
    where = f"Chunk {chunk.key.sequence} of flow {chunk.key.flow}, {chunk.key.point}"
    return ConflictError(DIFFERS, f"{where}, is already stored with different content.")


def _row(chunk: Checked, now: datetime) -> dict[str, object]:
    address = chunk.key
    return {
        "run_id": address.run_id, "flow": address.flow, "point": address.point, "sequence": address.sequence,
        "sha256": chunk.digest, "samples": chunk.samples, "packed": chunk.content, "stored_at": now,
    }  # fmt: skip
