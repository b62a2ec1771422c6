"""Time to compute 24 h of the reference path, one route a second, on one core."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from sgp4.api import SatrecArray

from bench.rows import Row, show
from downlink.codec.path import encode_path
from downlink.constellation.maker import Asked, make_path
from downlink.constellation.orbits import positions
from downlink.constellation.requests import DAY_US, ready_path

NAME = "beijing-new-york"
STEP_US, PIECE_US = 1_000_000, 60_000_000


@dataclass(frozen=True)
class Size:
    duration_us: int


FULL, TINY = Size(DAY_US), Size(30_000_000)


def rows(size: Size) -> Iterator[Row]:
    asked = replace(ready_path(NAME, "bench"), duration_us=size.duration_us)
    started, busy = time.perf_counter(), time.process_time()
    header, columns = make_path(asked)
    packed = encode_path(header, columns)
    taken_s, busy_s = time.perf_counter() - started, time.process_time() - busy
    remark = f"peer: where all satellites are each second; {len(columns['path']):,} rows, {len(packed) / 1e6:.2f} MB, "
    remark += f"{taken_s:.0f} s by the clock"
    yield Row("path of 24 h at 1 s", busy_s, "s of one core", orbits_s(asked), "<= 3", remark)


def orbits_s(asked: Asked) -> float:
    """Return the processor seconds that SGP4 takes for all satellites at each moment of a path."""
    satellites, busy = SatrecArray(list(asked.orbits.satellites)), time.process_time()
    for first_us in range(0, asked.duration_us, PIECE_US):
        last_us = min(first_us + PIECE_US, asked.duration_us)
        positions(satellites, asked.start, np.arange(first_us, last_us, STEP_US))
    return time.process_time() - busy


if __name__ == "__main__":
    show(rows, FULL, TINY)
