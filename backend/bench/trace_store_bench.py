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

from bench.disk_bench import per_ack
from downlink.actions.archive import load_archive
from downlink.actions.seal import PART_CHUNKS
from downlink.codec.chunk import MAX_SAMPLES
from downlink.codec.parquet import Columns, columns_to_parquet, joined
from downlink.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres
from downlink.storage.migrate import upgrade
from downlink.storage.tables import Run
from downlink.storage.traces import add_part, sealed_parts
from downlink.storage.unit import UnitFactory, drop_jobs, open_units
from downlink.tracestore import TraceStore
from tests.fixtures.recorded import ARCHIVE
from tests.fixtures.s3_server import S3Server

CHUNKS = 10 * PART_CHUNKS  # of a minute with a record of every ACK
ROUNDS = 7


def whole_part() -> Columns:
    """As many samples of ACKs as one part holds."""
    twice = joined([per_ack(), per_ack()])
    return {name: values[: PART_CHUNKS * MAX_SAMPLES] for name, values in twice.items()}


def rate(work: Callable[[], object]) -> float:
    """Chunks a second."""
    began = time.perf_counter()
    work()
    return CHUNKS / (time.perf_counter() - began)


def write(units: UnitFactory, run_id: UUID, flow: int, contents: list[bytes]) -> None:
    """A trace in one transaction, as the seal has it."""
    with units() as unit:
        for number, parquet in enumerate(contents):
            place = (run_id, flow, "sender", number * PART_CHUNKS)
            add_part(unit, place, [MAX_SAMPLES] * PART_CHUNKS, parquet, datetime.now(UTC))


def read(units: UnitFactory, run_id: UUID, flow: int) -> int:
    with units(is_read_only=True) as unit:
        return sum(map(len, sealed_parts(unit, run_id, flow, "sender")))


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
        found = measure(stores, run_id, [columns_to_parquet(whole_part())] * (CHUNKS // PART_CHUNKS))
        plain.close()
    for verb, goal in (("sealed", ">= 0.15"), ("read", ">= 0.25")):
        row = {"name": f"trace store: chunks {verb}, S3 beside the database", "value": round(found[verb, "s3"], 1)}
        print(json.dumps({**row, "unit": "chunks/s", "peer": round(found[verb, "database"], 1), "goal": goal}))


if __name__ == "__main__":
    main()
