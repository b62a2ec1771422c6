"""Measurement of work by the machine's clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

Work = Callable[[], object]


def timed_s(work: Work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def times_s(work: Work, rounds: int) -> list[float]:
    return [timed_s(work) for _ in range(rounds)]


def median_s(work: Work, rounds: int) -> float:
    return statistics.median(times_s(work, rounds))


def p95(times: Sequence[float]) -> float:
    return sorted(times)[len(times) * 95 // 100]
