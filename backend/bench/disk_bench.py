"""Space of a sealed sample on PostgreSQL's disk: its table, TOAST and indexes over the number of samples.

Polled: every trace of the recorded example, two or three chunks each. Per ACK: the golden traces, one behind the other, ten chunks.
Both are joined as the seal does it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path

from sqlalchemy import select, text

from bench.database import Opened, database
from bench.rows import Row, show
from downlink.actions.campaigns.archive_read import load_archive
from downlink.codec.chunk import MAX_SAMPLES, PART_CHUNKS
from downlink.codec.parquet import Columns, columns_to_parquet, trace_columns
from downlink.storage.tables import Run
from downlink.storage.traces.trace_store import add_part
from downlink.storage.unit import UnitFactory
from tests.fixtures.recorded import ARCHIVE


@dataclass(frozen=True)
class Size:
    """The most traces of each kind; all where None."""

    traces: int | None


FULL, TINY = Size(None), Size(1)
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


def per_ack(traces: int | None = None) -> Columns:
    """The golden traces, or the first of them, one behind the other."""
    return trace_columns([path.read_bytes() for path in sorted(GOLDEN.glob("*.parquet"))[:traces]])


def pieces(columns: Columns, size: int) -> Iterator[Columns]:
    """A trace, cut after so many samples each."""
    for start in range(0, len(columns["elapsed_us"]), size):
        yield {name: values[start : start + size] for name, values in columns.items()}


def parts(columns: Columns) -> Iterator[tuple[int, list[int], bytes]]:
    """A trace as sealing cuts it: each part's first sequence number, its chunks' samples, and its content."""
    for number, part in enumerate(pieces(columns, PART_CHUNKS * MAX_SAMPLES)):
        sizes = [len(each["elapsed_us"]) for each in pieces(part, MAX_SAMPLES)]
        yield number * PART_CHUNKS, sizes, columns_to_parquet(part)


def store(units: UnitFactory, flow: int, traces: Iterable[Columns]) -> float:
    """Seal traces as a flow beside a run's own; the bytes that each sample takes."""
    before, samples_before = used(units)
    with units() as unit:
        run_id = unit.session.scalars(select(Run.id).limit(1)).one()
        cut = (part for each in traces for part in parts(each))
        for number, (_, sizes, parquet) in enumerate(cut):
            add_part(unit, (run_id, flow, "sender", number * PART_CHUNKS), sizes, parquet, datetime.now(UTC))
    after, samples = used(units)
    return (after - before) / (samples - samples_before)


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (_, _, units):
        with units() as unit:
            load_archive(unit, ARCHIVE.read_bytes())
        taken = store(units, 900, islice(polled(), size.traces))
        yield Row("disk per sample, polled", taken, "bytes", goal="<= 12")
        taken = store(units, 901, [per_ack(size.traces)])
        yield Row("disk per sample, of an ACK", taken, "bytes", goal="<= 20")


if __name__ == "__main__":
    show(rows, FULL, TINY)
