"""How long the raw viewer waits for its samples: a stored trace of a million ACKs, whole and zoomed, a request's work without HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import numpy as np

from bench.database import database
from downlink.actions.archive import load_archive
from downlink.api.encoded import json_response
from downlink.codec.parquet import Ints, columns_to_parquet
from downlink.domain.point import Point
from downlink.storage import runs, traces
from downlink.storage.unit import Unit
from downlink.views.samples import Wanted, samples

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "recorded-hystart.zip"
ACKS, PART, DURATION_S = 1_000_000, 80_000, 120
FLOW, REPEATS, POINTS = 900, 7, 1_000
FIELDS = ("cwnd_segments", "ssthresh_segments", "rtt_us", "acked_bytes", "sent_bytes", "delivered_segments")
OTHERS = 24
"""Columns of a per-ACK trace that nobody asked for."""


def main() -> None:
    with database() as (_, _, units):
        with units() as unit:
            run_id = add_trace(unit)
        stretches = {"whole": (0.0, None), "a tenth": (60.0, 72.0), "50 ms, every sample": (60.0, 60.05)}
        for name, (from_s, to_s) in stretches.items():
            wanted = Wanted(FIELDS, int(from_s * 1e6), None if to_s is None else int(to_s * 1e6), POINTS)

            def ask(wanted: Wanted = wanted) -> int:
                with units(is_read_only=True) as unit:
                    return len(json_response(samples(unit, run_id, FLOW, Point.SENDER, wanted)).body)

            size = ask()
            row = {"name": f"samples of 10^6 ACKs, 6 columns, {name}", "value": median_s(ask) * 1_000, "unit": "ms"}
            print(json.dumps({**row, "remark": f"{size / 1_000:.0f} kB of JSON"}))


def add_trace(unit: Unit) -> UUID:
    """A flow more for a run of the shipped example, in parts as sealing makes them."""
    campaign, _ = load_archive(unit, EXAMPLE.read_bytes())
    run_id = runs.list_runs(unit, campaign, None, 1, 0)[0][0].run.id
    columns, now = drawn(), datetime.now(UTC)
    for first in range(0, ACKS, PART):
        held = {name: values[first : first + PART] for name, values in columns.items()}
        parquet = columns_to_parquet(held)
        traces.add_part(unit, (run_id, FLOW, "sender", first), [len(held["elapsed_us"])], parquet, now)
    traces.add_trace(unit, run_id, FLOW, "sender", [], 1, now)
    return run_id


def drawn() -> dict[str, Ints]:
    rng = np.random.default_rng(1)
    elapsed_us = np.cumsum(rng.integers(1, 2 * DURATION_S * 1_000_000 // ACKS, ACKS))
    walks = {name: np.cumsum(rng.integers(0, 3, ACKS)) for name in FIELDS}
    return {"elapsed_us": elapsed_us, **walks, **{f"other_{at}": rng.integers(0, 9, ACKS) for at in range(OTHERS)}}


def median_s(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return sorted(taken)[REPEATS // 2]


if __name__ == "__main__":
    main()
