"""Traces in an S3 store beside the database: what the seal writes and a reader gets, over a real S3 server on this machine.

Its objects are files on the same disk as the database. Over a network each request waits for the way there and back as well;
eight are under way at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import select

from bench.database import Opened, database
from bench.disk_bench import per_ack
from bench.rows import Row, show
from bench.timing import timed_s
from downlink.actions.campaigns.archive_read import load_archive
from downlink.codec.chunk import MAX_SAMPLES, PART_CHUNKS
from downlink.codec.parquet import Columns, columns_to_parquet, joined
from downlink.process.settings import Settings
from downlink.stack.process import Supervisor
from downlink.storage.tables import Run
from downlink.storage.traces.objects import TraceStore
from downlink.storage.traces.trace_store import add_part, sealed_parts
from downlink.storage.unit import UnitFactory, drop_jobs
from tests.fixtures.recorded import ARCHIVE
from tests.fixtures.s3_server import S3Server


@dataclass(frozen=True)
class Size:
    """parts: of a trace; ten are a minute with a record of every ACK."""

    parts: int
    rounds: int


FULL, TINY = Size(parts=10, rounds=7), Size(parts=1, rounds=1)


def whole_part() -> Columns:
    """Return as many samples of ACKs as one part holds."""
    twice = joined([per_ack(), per_ack()])
    return {name: values[: PART_CHUNKS * MAX_SAMPLES] for name, values in twice.items()}


def write(units: UnitFactory, run_id: UUID, flow: int, contents: list[bytes]) -> None:
    """A trace in one transaction, as the seal has it."""
    with units() as unit:
        for number, parquet in enumerate(contents):
            key = (run_id, flow, "sender", number * PART_CHUNKS)
            add_part(unit, key, [MAX_SAMPLES] * PART_CHUNKS, parquet, datetime.now(UTC))


def read(units: UnitFactory, run_id: UUID, flow: int) -> int:
    with units(is_read_only=True) as unit:
        return sum(map(len, sealed_parts(unit, run_id, flow, "sender")))


def measure(
    stores: Mapping[str, UnitFactory], run_id: UUID, contents: list[bytes], rounds: int
) -> dict[tuple[str, str], float]:
    """Chunks a second, the best of some rounds, each with both stores, so that both have the same machine."""
    best: dict[tuple[str, str], float] = {}
    for number in range(rounds):
        for index, (name, units) in enumerate(stores.items()):
            flow = 1_000 + 2 * number + index
            works: dict[str, Callable[[], object]] = {
                "sealed": partial(write, units, run_id, flow, contents),
                "read": partial(read, units, run_id, flow),
            }
            for verb, work in works.items():
                rate = len(contents) * PART_CHUNKS / timed_s(work)
                best[verb, name] = max(best.get((verb, name), 0), rate)
            assert read(units, run_id, flow) == sum(map(len, contents))
    return best


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (home, url, plain), Supervisor(home / "store") as supervisor:
        s3 = S3Server(supervisor, home)
        s3.start()
        store = TraceStore.of(s3.settings(Settings(database_url=SecretStr(url))))
        with plain() as unit:
            load_archive(unit, ARCHIVE.read_bytes())
            run_id = unit.session.scalars(select(Run.id).limit(1)).one()
        stores = {"database": plain, "s3": UnitFactory(plain.engine, drop_jobs, store)}
        measured = measure(stores, run_id, [columns_to_parquet(whole_part())] * size.parts, size.rounds)
    for verb, goal in (("sealed", ">= 0.15"), ("read", ">= 0.25")):
        name = f"trace store: chunks {verb}, S3 beside the database"
        yield Row(name, measured[verb, "s3"], "chunks/s", measured[verb, "database"], goal)


if __name__ == "__main__":
    show(rows, FULL, TINY)
