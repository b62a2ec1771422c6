"""Time to compute 24 h of the reference path, one route a second, on one core."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bench.rows import Row, show
from downlink.codec.path import encode_path
from downlink.constellation.maker import make_path
from downlink.constellation.requests import DAY_US, ready_path

NAME = "beijing-new-york"


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
    remark = f"{len(columns['path']):,} rows, {len(packed) / 1e6:.2f} MB, {taken_s:.0f} s by the clock"
    yield Row("path of 24 h at 1 s", busy_s, "s of one core", goal="<= 240", remark=remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
