"""Was an exit early, good or late? Shares over many runs, and paper 002's Table I."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scipy import stats

from downlink.analysis.exits.sliding import ExitTimes
from downlink.analysis.intervals import CONFIDENCE, mean_intervals


class Timing(StrEnum):
    """An exit against the capacity point cg and the first loss dp of its run.

    EARLY: before cg. GOOD: from cg on and before dp. LATE: not before dp. OPEN: neither an exit nor a loss in the trace.
    """

    EARLY = "early"
    GOOD = "good"
    LATE = "late"
    OPEN = "open"


@dataclass(frozen=True)
class Interval:
    """A mean or a share with its 95 % confidence interval; low and high are None where n does not allow one."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class TableRow:
    """One line of Table I, times in seconds. A time that no run has is None; hr counts the successful runs."""

    runs: int
    success_percent: Interval
    cg_s: Interval | None
    ex_s: Interval | None
    dp_s: Interval | None
    hr_s: Interval | None


def timing_of(exit_us: int | None, times: ExitTimes) -> Timing:
    """Where an exit lies. A run that never reached capacity cannot be left too late, so that any exit before the loss is early."""
    if exit_us is None or (times.dp_us is not None and exit_us >= times.dp_us):
        return Timing.OPEN if times.dp_us is None else Timing.LATE
    return Timing.EARLY if times.cg_us is None or exit_us < times.cg_us else Timing.GOOD


def shares(timings: Sequence[Timing]) -> dict[Timing, Interval]:
    """The share of each timing among all, with Wilson's interval."""
    return {kind: _share(sum(timing is kind for timing in timings), len(timings)) for kind in Timing}


def table_row(runs: Sequence[ExitTimes]) -> TableRow:
    """Table I over the runs of a link. Needs at least one run."""
    success = _share(sum(run.is_success for run in runs), len(runs))
    percent = Interval(success.value * 100, _scaled(success.low), _scaled(success.high), success.n)
    return TableRow(
        len(runs),
        percent,
        _mean_s(run.cg_us for run in runs),
        _mean_s(run.ex_us for run in runs),
        _mean_s(run.dp_us for run in runs),
        _mean_s(run.hr_us for run in runs if run.is_success),
    )


def _scaled(value: float | None) -> float | None:
    return None if value is None else value * 100


def _share(hits: int, n: int) -> Interval:
    if n == 0:
        return Interval(float("nan"), None, None, 0)
    bounds = stats.binomtest(hits, n).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(hits / n, float(bounds.low), float(bounds.high), n)


def _mean_s(times_us: Iterable[int | None]) -> Interval | None:
    """Mean with Student's interval; n = 1 has none."""
    found = mean_intervals([time_us / 1e6 for time_us in times_us if time_us is not None]).to_dict()
    return Interval(found["mean"], found["low"], found["high"], found["n"]) if found["n"] else None
