"""Traces in an S3 store beside the database: what the seal writes and a reader gets, over a real S3 server on this machine.

Its objects are files on the same disk as the database. Over a network each request waits for the way there and back as well;
eight are under way at once.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import select

from bench.disk_bench import polled
from downlink.actions.archive import load_archive
from downlink.codec.parquet import columns_to_parquet
from downlink.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres
from downlink.storage.migrate import upgrade
from downlink.storage.tables import Chunk, Run
from downlink.storage.traces import add_sealed_chunk, sealed_chunks
from downlink.storage.unit import UnitFactory, drop_jobs, open_units
from downlink.tracestore import TraceStore
from tests.fixtures.recorded import ARCHIVE
from tests.fixtures.s3_server import S3Server

CHUNKS = 150  # of a minute with a record of every ACK
ROUNDS = 7


def rate(work: Callable[[], object]) -> float:
    """Chunks a second."""
    began = time.perf_counter()
    work()
    return CHUNKS / (time.perf_counter() - began)


def write(units: UnitFactory, run_id: UUID, flow: int, contents: list[bytes]) -> None:
    """A trace in one transaction, as the seal has it."""
    with units() as unit:
        for sequence, parquet in enumerate(contents):
            chunk = Chunk(
                run_id=run_id, flow=flow, point="sender", sequence=sequence, sha256=bytes(32), packed=None, samples=5000,
                stored_at=datetime.now(UTC),
            )  # fmt: skip
            add_sealed_chunk(unit, chunk, parquet)


def read(units: UnitFactory, run_id: UUID, flow: int) -> int:
    with units(is_read_only=True) as unit:
        return sum(map(len, sealed_chunks(unit, run_id, flow, "sender")))


def measure(stores: dict[str, UnitFactory], run_id: UUID, contents: list[bytes]) -> dict[tuple[str, str], float]:
    """The best of some rounds, each with both stores, so that both have the same machine."""
    best: dict[tuple[str, str], float] = {}
    for number in range(ROUNDS):
        for place, (name, units) in enumerate(stores.items()):
            flow = 1_000 + 2 * number + place
            for verb, work in (("sealed", write), ("read", read)):
                args = (units, run_id, flow, contents) if work is write else (units, run_id, flow)
                found = rate(lambda work=work, args=args: work(*args))  # type: ignore[misc]
                best[verb, name] = max(best.get((verb, name), 0), found)
            assert read(units, run_id, flow) == sum(map(len, contents))
    return best


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, Supervisor(Path(folder)) as supervisor:
        url = start_postgres(supervisor, Path(folder) / "postgres")
        settings = Settings(database_url=SecretStr(url))
        upgrade(settings)
        s3 = S3Server(supervisor, Path(folder))
        s3.start()
        plain = open_units(url, 2)
        stores = {"database": plain, "s3": UnitFactory(plain.engine, drop_jobs, TraceStore.of(s3.settings(settings)))}
        with plain() as unit:
            load_archive(unit, ARCHIVE.read_bytes())
            run_id = unit.session.scalars(select(Run.id).limit(1)).one()
        own = [columns_to_parquet(columns) for columns in polled()]
        found = measure(stores, run_id, [own[each % len(own)] for each in range(CHUNKS)])
        plain.close()
    for verb, goal in (("sealed", ">= 0.15"), ("read", ">= 0.25")):
        row = {"name": f"trace store: chunks {verb}, S3 beside the database", "value": round(found[verb, "s3"], 1)}
        print(json.dumps({**row, "unit": "chunks/s", "peer": round(found[verb, "database"], 1), "goal": goal}))


if __name__ == "__main__":
    main()
