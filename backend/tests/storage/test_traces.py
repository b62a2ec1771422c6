"""Chunks are kept as they are and read a few at a time: an agent may store two gigabytes of one run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from sqlalchemy import insert, text

from downlink.storage.tables import Chunk
from downlink.storage.traces import trace_store
from downlink.storage.traces.trace_store import PackedChunk, SealedPart
from downlink.storage.unit import UnitFactory
from tests.storage.test_leases import NOW, add_runs

CHUNKS, CHUNK_BYTES = 128, 2**20


def high_water_mib() -> float:
    """proc(5), VmHWM."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def packed_bytes(chunk: PackedChunk | SealedPart) -> int:
    return len(chunk.packed) if isinstance(chunk, PackedChunk) else 0


@pytest.mark.parametrize("column", ["packed", "parquet"])
def test_a_long_trace_is_read_a_few_chunks_at_a_time(units: UnitFactory, column: str) -> None:
    (run_id,) = add_runs(units, 1)
    content = random.Random(1).randbytes(CHUNK_BYTES)
    own = {"run_id": run_id, "flow": 1, "point": "sender", "sha256": b"", "samples": 1, "stored_at": NOW}
    with units() as unit:
        for sequence in range(CHUNKS):
            unit.session.execute(insert(Chunk).values(**own, sequence=sequence, **{column: content}))
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again
    before = high_water_mib()
    with units(is_read_only=True) as unit:
        if column == "packed":
            read = sum(map(packed_bytes, trace_store.chunks_of(unit, run_id, 1, "sender")))
        else:
            read = sum(map(len, trace_store.sealed_parts(unit, run_id, 1, "sender")))
    assert read == CHUNKS * CHUNK_BYTES
    assert high_water_mib() - before < CHUNKS / 2


def test_of_sealed_parts_in_a_row_the_last_one_says_how_the_trace_goes_on(units: UnitFactory) -> None:
    (run_id,) = add_runs(units, 1)
    own = {"run_id": run_id, "flow": 1, "point": "sender", "sha256": b"", "samples": 1, "stored_at": NOW}
    rows = [{"parquet": b"a"}, {"parquet": b"b"}, {"packed": b"c"}, {"packed": b"d"}, {"parquet": b"e"}, {"packed": b"f"},
            {"parquet": b"g"}]  # fmt: skip
    with units() as unit:
        for sequence, content in enumerate(rows):
            unit.session.execute(insert(Chunk).values(**own, sequence=sequence, **content))
        assert list(trace_store.chunks_of(unit, run_id, 1, "sender")) == [
            SealedPart(b"b"), PackedChunk(2, b"c"), PackedChunk(3, b"d"), SealedPart(b"e"), PackedChunk(5, b"f"),
        ]  # fmt: skip


def test_the_database_does_not_compress_what_is_compressed(units: UnitFactory) -> None:
    query = "SELECT attname FROM pg_attribute WHERE attrelid = 'chunks'::regclass AND attstorage = 'e'"
    with units() as unit:
        assert set(unit.session.execute(text(query)).scalars()) == {"packed", "parquet"}
