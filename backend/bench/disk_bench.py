"""What a sealed sample takes on PostgreSQL's disk: its table, TOAST and indexes over the number of samples.

Polled: every trace of the recorded example, two or three chunks each. Per ACK: the golden traces, one behind the other, ten chunks.
Both are joined as the seal does it.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import select, text

from downlink.actions.archive import load_archive
from downlink.actions.seal import PART_CHUNKS
from downlink.codec.chunk import MAX_SAMPLES
from downlink.codec.parquet import Columns, columns_to_parquet, trace_columns
from downlink.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres
from downlink.storage.migrate import upgrade
from downlink.storage.tables import Run
from downlink.storage.traces import add_part
from downlink.storage.unit import UnitFactory, open_units
from tests.fixtures.recorded import ARCHIVE

GOLDEN = Path(__file__).parents[1] / "tests" / "data" / "exits"
USED = "SELECT pg_total_relation_size('chunks'), (SELECT sum(samples) FROM chunks)"


def used(units: UnitFactory) -> tuple[int, int]:
    """Bytes and samples."""
    with units() as unit:
        size, samples = unit.session.execute(text(USED)).one()
    return size, int(samples or 0)


def polled() -> Iterator[Columns]:
    """Every trace of the recorded example."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        own = groupby(json.loads(archive.read("chunks.json")), lambda each: each["member"].rpartition("-")[0])
        for _, chunks in own:
            yield trace_columns([archive.read(each["member"]) for each in chunks])


def per_ack() -> Columns:
    """The golden traces, one behind the other."""
    return trace_columns([path.read_bytes() for path in sorted(GOLDEN.glob("*.parquet"))])


def pieces(columns: Columns, size: int) -> Iterator[Columns]:
    """A trace, cut after so many samples each."""
    for start in range(0, len(columns["elapsed_us"]), size):
        yield {name: values[start : start + size] for name, values in columns.items()}


def store(units: UnitFactory, flow: int, traces: Iterable[Columns]) -> float:
    """Seal traces as a flow beside a run's own; the bytes that each sample takes."""
    before, samples_before = used(units)
    with units() as unit:
        run_id = unit.session.scalars(select(Run.id).limit(1)).one()
        parts = (part for each in traces for part in pieces(each, PART_CHUNKS * MAX_SAMPLES))
        for number, part in enumerate(parts):
            sizes = [len(each["elapsed_us"]) for each in pieces(part, MAX_SAMPLES)]
            place = (run_id, flow, "sender", number * PART_CHUNKS)
            add_part(unit, place, sizes, columns_to_parquet(part), datetime.now(UTC))
    after, samples = used(units)
    return (after - before) / (samples - samples_before)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, Supervisor(Path(folder)) as supervisor:
        url = start_postgres(supervisor, Path(folder) / "postgres")
        upgrade(Settings(database_url=SecretStr(url)))
        units = open_units(url, 1)
        with units() as unit:
            load_archive(unit, ARCHIVE.read_bytes())
        found = [store(units, 900, polled()), store(units, 901, [per_ack()])]
        units.close()
    for name, value, goal in zip(("polled", "of an ACK"), found, ("<= 12", "<= 20"), strict=True):
        print(json.dumps({"name": f"disk per sample, {name}", "value": round(value, 2), "unit": "bytes", "goal": goal}))


if __name__ == "__main__":
    main()
