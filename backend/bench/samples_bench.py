"""Time of the raw viewer for its samples: a stored trace of a million ACKs, whole and zoomed, a request's work without HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import numpy as np

from bench.database import Opened, database
from bench.rows import Row, show
from bench.timing import median_s
from downlink.actions.campaigns.archive_read import load_archive
from downlink.api.http.answers import json_response
from downlink.codec.parquet import Ints, columns_to_parquet
from downlink.domain.traces.point import Point
from downlink.storage.runs import run_details
from downlink.storage.traces import trace_store
from downlink.storage.unit import Unit, UnitFactory
from downlink.views.traces.samples import Wanted, samples
from tests.fixtures.recorded import ARCHIVE


@dataclass(frozen=True)
class Size:
    acks: int
    repeats: int


FULL, TINY = Size(acks=1_000_000, repeats=7), Size(acks=20_000, repeats=1)
PART, DURATION_S = 80_000, 120
FLOW, POINTS = 900, 1_000
STRETCHES = {"whole": (0.0, None), "a tenth": (60.0, 72.0), "50 ms, every sample": (60.0, 60.05)}
FIELDS = ("cwnd_segments", "ssthresh_segments", "rtt_us", "acked_bytes", "sent_bytes", "delivered_segments")
OTHERS = 24
"""Columns of a per-ACK trace that nobody asked for."""


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (_, _, units):
        with units() as unit:
            run_id = add_trace(unit, size.acks)
        for name, (from_s, to_s) in STRETCHES.items():
            wanted = Wanted(FIELDS, int(from_s * 1e6), None if to_s is None else int(to_s * 1e6), POINTS)
            ask = partial(answer, units, run_id, wanted)
            remark = f"{len(ask()) / 1_000:.0f} kB of JSON"
            value_ms = 1e3 * median_s(ask, size.repeats)
            yield Row(f"samples of 10^6 ACKs, 6 columns, {name}", value_ms, "ms", remark=remark)


def answer(units: UnitFactory, run_id: UUID, wanted: Wanted) -> bytes:
    with units(is_read_only=True) as unit:
        return bytes(json_response(samples(unit, run_id, FLOW, Point.SENDER, wanted)).body)


def add_trace(unit: Unit, acks: int) -> UUID:
    """A flow more for a run of the shipped example, in parts as sealing makes them."""
    campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
    run_id = run_details.list_runs(unit, campaign, None, 1, 0)[0][0].run.id
    columns, now = drawn(acks), datetime.now(UTC)
    for first in range(0, acks, PART):
        held = {name: values[first : first + PART] for name, values in columns.items()}
        parquet = columns_to_parquet(held)
        trace_store.add_part(unit, (run_id, FLOW, "sender", first), [len(held["elapsed_us"])], parquet, now)
    trace_store.add_trace(unit, run_id, FLOW, "sender", [], 1, now)
    return run_id


def drawn(acks: int) -> dict[str, Ints]:
    rng = np.random.default_rng(1)
    elapsed_us = np.cumsum(rng.integers(1, 2 * DURATION_S * 1_000_000 // acks, acks))
    walks = {name: np.cumsum(rng.integers(0, 3, acks)) for name in FIELDS}
    return {"elapsed_us": elapsed_us, **walks, **{f"other_{at}": rng.integers(0, 9, acks) for at in range(OTHERS)}}


if __name__ == "__main__":
    show(rows, FULL, TINY)
