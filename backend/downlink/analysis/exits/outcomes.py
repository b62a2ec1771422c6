"""Was an exit early, good or late? Shares over many runs, and Table I of Kachooei 2023 (SEARCH)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import scipy

from downlink.analysis.exits.capacity import Capacity
from downlink.analysis.exits.sliding import ExitTimes
from downlink.analysis.intervals import CONFIDENCE, mean_intervals
from downlink.domain.doc import Doc

UNBOUNDED = float("-inf")
"""Headroom may be negative; no time is."""


class Timing(StrEnum):
    """An exit against the capacity point and the first loss of its flow.

    EARLY: before capacity. GOOD: from then on and before the loss. LATE: not before the loss. OPEN: neither an exit nor a loss.
    """

    EARLY = "early"
    GOOD = "good"
    LATE = "late"
    OPEN = "open"


@dataclass(frozen=True)
class ExitEstimate:
    """A mean or a share with its 95 % interval; null where n does not allow one."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Reached:
    """One flow's material for Table I: the times of Kachooei 2023 (SEARCH), the capacity point beside them, and the mean error of
    the curve that they are read off."""

    times: ExitTimes
    capacity_us: int | None
    error_ratio: float | None = None


@dataclass(frozen=True)
class CommonMeans:
    """All columns over the runs that have cg, ex and dp: here hr is dp - ex of the means too."""

    cg_s: ExitEstimate
    ex_s: ExitEstimate
    dp_s: ExitEstimate
    hr_s: ExitEstimate


@dataclass(frozen=True)
class TableOne:
    """Table I of Kachooei 2023 (SEARCH) over the flows in slow start until their loss: means, seconds, each over the runs that have it."""

    runs: int
    success_percent: ExitEstimate
    capacity_s: Annotated[ExitEstimate | None, Doc("The capacity point that exits are judged by")]
    cg_s: ExitEstimate | None
    ex_s: ExitEstimate | None
    dp_s: ExitEstimate | None
    hr_s: Annotated[ExitEstimate | None, Doc("Over the runs with ex and dp")]
    success_hr_s: Annotated[ExitEstimate | None, Doc("Over the successful runs")]
    common: Annotated[CommonMeans | None, Doc("As in Kachooei 2023 (SEARCH); null when no run has all three times")]
    error_percent: Annotated[
        ExitEstimate | None, Doc("How far the curve is off for being made of bins: mean of Figure 6b")
    ]


def timing_of(exit_us: int | None, capacity: Capacity, loss_us: int | None) -> Timing:
    """Classify an exit as early, good, late or open. A flow that never reached capacity cannot be left too late, so that any exit
    before the loss is early."""
    if exit_us is None or (loss_us is not None and exit_us >= loss_us):
        return Timing.OPEN if loss_us is None else Timing.LATE
    return Timing.EARLY if capacity.at_us is None or exit_us < capacity.at_us else Timing.GOOD


def shares(timings: Sequence[Timing]) -> dict[Timing, ExitEstimate]:
    """The share of each timing among all, with Wilson's interval."""
    return {kind: share(sum(timing is kind for timing in timings), len(timings)) for kind in Timing}


def table_row(runs: Sequence[Reached]) -> TableOne:
    """Table I over the runs of a link that were in slow start until their loss. Needs at least one run."""
    times = [run.times for run in runs]
    success = share(sum(each.is_success for each in times), len(times))
    percent = ExitEstimate(success.value * 100, _scaled(success.low), _scaled(success.high), success.n)
    return TableOne(
        len(runs),
        percent,
        _mean_s(run.capacity_us for run in runs),
        _mean_s(each.cg_us for each in times),
        _mean_s(each.ex_us for each in times),
        _mean_s(each.dp_us for each in times),
        _mean_s((each.hr_us for each in times), UNBOUNDED),
        _mean_s((each.hr_us for each in times if each.is_success), UNBOUNDED),
        _common_means([each for each in times if None not in (each.cg_us, each.ex_us, each.dp_us)]),
        _mean([100 * run.error_ratio for run in runs if run.error_ratio is not None], most=100.0),
    )


def _common_means(times: Sequence[ExitTimes]) -> CommonMeans | None:
    least = {"cg_us": 0.0, "ex_us": 0.0, "dp_us": 0.0, "hr_us": UNBOUNDED}
    means = [_mean_s((getattr(each, name) for each in times), end) for name, end in least.items()]
    known = [mean for mean in means if mean is not None]
    return CommonMeans(*known) if len(known) == len(means) else None


def _scaled(value: float | None) -> float | None:
    return None if value is None else value * 100


def share(hits: int, n: int) -> ExitEstimate:
    """hits of n, with Wilson's interval; NaN without any."""
    if n == 0:
        return ExitEstimate(float("nan"), None, None, 0)
    bounds = scipy.stats.binomtest(hits, n).proportion_ci(CONFIDENCE, method="wilson")
    return ExitEstimate(hits / n, float(bounds.low), float(bounds.high), n)


def _mean_s(times_us: Iterable[int | None], least: float = 0.0) -> ExitEstimate | None:
    """Mean with Student's interval, which does not go below `least`; n = 1 has none."""
    return _mean([time_us / 1e6 for time_us in times_us if time_us is not None], least)


def _mean(values: Sequence[float], least: float = 0.0, most: float = float("inf")) -> ExitEstimate | None:
    interval = mean_intervals(values, least=least, most=most).to_dict()
    return ExitEstimate(interval["mean"], interval["low"], interval["high"], interval["n"]) if interval["n"] else None
