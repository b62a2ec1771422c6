"""Detectors swept over their parameters: how often early, good or late, and with how much headroom."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from downlink.analysis.exits.bins import too_coarse
from downlink.analysis.exits.capacity import Capacity, LinkRate, capacity_point
from downlink.analysis.exits.hystart import HyStart, Kernel, judge_hystart, kernel_clock
from downlink.analysis.exits.meansd import MeanDeviation, judge_meansd, rtt_sums
from downlink.analysis.exits.outcomes import ExitEstimate, Timing, shares, timing_of
from downlink.analysis.exits.search import (
    Search31,
    Search40,
    judge_search_31,
    judge_search_40,
    search_31_curves,
    search_40_curves,
)
from downlink.analysis.exits.sliding import Search10, judge_search_10, sliding_curves
from downlink.analysis.exits.sweep_parameters import sweepable
from downlink.analysis.exits.trace import AckTrace
from downlink.analysis.exits.verdict import Verdict
from downlink.domain.errors import InvalidError

Parameters = Search10 | Search31 | Search40 | HyStart | MeanDeviation


@dataclass(frozen=True)
class Replay:
    """The method to sweep a detector. prepare: computes what parameter sets of one key share on a trace. judge: one set's verdict
    with that."""

    key: Callable[[Any], Hashable]
    prepare: Callable[[AckTrace, Any], Any]
    judge: Callable[[AckTrace, Any, Any], Verdict]


def _by_bins(curves: Callable[[AckTrace, Any], Any], judge: Callable[[AckTrace, Any, Any], Verdict]) -> Replay:
    """Sets that differ in nothing but the threshold share their curves; there are none where rows are too coarse for the bins."""

    def prepare(trace: AckTrace, asked: Any) -> Any:
        return None if too_coarse(trace, asked.clock) else curves(trace, asked)

    return Replay(lambda asked: asked.clock, prepare, judge)


REPLAYS: dict[type, Replay] = {
    Search10: _by_bins(sliding_curves, judge_search_10),
    Search31: _by_bins(lambda *what: list(search_31_curves(*what)), judge_search_31),
    Search40: _by_bins(lambda *what: list(search_40_curves(*what)), judge_search_40),
    HyStart: Replay(lambda asked: asked.kernel, lambda trace, asked: kernel_clock(trace, asked.kernel), judge_hystart),
    MeanDeviation: Replay(lambda _: None, lambda trace, _: rtt_sums(trace), judge_meansd),
}


SWEEPABLE: dict[tuple[str, str], Parameters] = {
    ("search", "1.0"): Search10(),
    ("search", "3.1"): Search31(),
    ("search", "4.0"): Search40(),
    ("mean_sd", "Peters 2021"): MeanDeviation(),
    **{("hystart", kernel.value): HyStart(kernel) for kernel in (Kernel.V6, Kernel.V5_10, Kernel.UP_TO_5_4)},
}
"""Detector and version to the parameters it has by default."""
MAX_SETS = 1_000


@dataclass(frozen=True)
class Outcome:
    """The outcome of one parameter set on one trace. hr_us: first loss minus exit, None without either. timing: None when
    undecidable."""

    exit_us: int | None
    hr_us: int | None
    timing: Timing | None


@dataclass(frozen=True)
class Rates:
    """One cell of a heatmap. n: decidable traces. hr_s: median headroom of the good exits; None without any."""

    n: int
    shares: dict[Timing, ExitEstimate]
    hr_s: float | None


def grid(base: Parameters, **values: Sequence[Any]) -> list[Any]:
    """Every combination of the named parameters' values, the last one running fastest."""
    known = {field.name for field in fields(base)}
    if unknown := set(values) - known:
        raise ValueError(f"{type(base).__name__} has no parameter {', '.join(sorted(unknown))}")
    return [replace(base, **dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]


def parameter_sets(detector: str, version: str, values: Mapping[str, Sequence[float]]) -> list[Parameters]:
    """The grid over values in the units of `sweepable`, parameters by name. InvalidError `sweep_invalid` says what is wrong."""
    base = SWEEPABLE.get((detector, version))
    if base is None:
        known = ", ".join(" ".join(each) for each in SWEEPABLE)
        raise InvalidError("sweep_invalid", f"There is no detector {detector} {version} to sweep; there are {known}.")
    allowed = {each.name: each for each in sweepable(base)}
    if unknown := sorted(set(values) - set(allowed)):
        raise InvalidError(
            "sweep_invalid",
            f"{detector} {version} has no parameter {', '.join(unknown)} to sweep; it has {', '.join(allowed)}.",
        )
    _check_size(values)
    counted = {name: [allowed[name].counted(each) for each in values[name]] for name in sorted(values)}
    return grid(base, **counted)


def combinations(values: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """The same grid as values by name, in the same order."""
    return [dict(zip(sorted(values), chosen, strict=True)) for chosen in product(*(values[n] for n in sorted(values)))]


def _check_size(values: Mapping[str, Sequence[float]]) -> None:
    if not values or not all(values.values()):
        raise InvalidError("sweep_invalid", "A sweep needs at least one parameter with at least one value.")
    if twice := [name for name, each in values.items() if len(set(each)) < len(each)]:
        raise InvalidError("sweep_invalid", f"{', '.join(twice)} has a value twice; name each once.")
    if (sets := prod(len(each) for each in values.values())) > MAX_SETS:
        raise InvalidError(
            "sweep_invalid",
            f"This grid has {sets:,} parameter sets; at most {MAX_SETS:,} are allowed. Take fewer values.",
        )


def sweep(trace: AckTrace, parameter_sets: Sequence[Parameters], rate: LinkRate | None = None) -> list[Outcome]:
    """Every parameter set on one trace, judged by the trace's own capacity point and first loss, which no parameter moves.

    Only the rows up to the loss are replayed: nothing after it can count.
    """
    capacity = capacity_point(trace, rate)
    if capacity is None:
        return [Outcome(None, None, None)] * len(parameter_sets)
    return [_outcome(verdict, capacity, trace.loss_us) for verdict in _verdicts(until_loss(trace), parameter_sets)]


def _verdicts(trace: AckTrace, sets: Sequence[Parameters]) -> Iterator[Verdict]:
    """Yield verdicts in the order of the sets. Shared intermediate results are computed once, and released after their last set."""
    places: dict[tuple[type, Hashable], list[int]] = {}
    for index, asked in enumerate(sets):
        places.setdefault((type(asked), REPLAYS[type(asked)].key(asked)), []).append(index)
    verdicts: dict[int, Verdict] = {}
    for (kind, _), members in places.items():
        replay = REPLAYS[kind]
        shared = replay.prepare(trace, sets[members[0]])
        verdicts.update({index: replay.judge(trace, sets[index], shared) for index in members})
    return (verdicts[index] for index in range(len(sets)))


def _outcome(verdict: Verdict, capacity: Capacity, loss_us: int | None) -> Outcome:
    if not verdict.is_decidable:
        return Outcome(None, None, None)
    hr_us = None if verdict.exit_us is None or loss_us is None else loss_us - verdict.exit_us
    return Outcome(verdict.exit_us, hr_us, timing_of(verdict.exit_us, capacity, loss_us))


def until_loss(trace: AckTrace) -> AckTrace:
    """The trace up to and with the row of its first loss."""
    last = trace.rows - 1 if trace.loss_row is None else trace.loss_row
    arrays = {
        field.name: value for field in fields(trace) if isinstance(value := getattr(trace, field.name), np.ndarray)
    }
    cut: dict[str, Any] = {name: array[: last + 1] for name, array in arrays.items()}
    return replace(trace, **cut)


def rates(outcomes: Sequence[Outcome]) -> Rates:
    """One parameter set over many traces."""
    decided = [outcome for outcome in outcomes if outcome.timing is not None]
    headroom_s = [o.hr_us / 1e6 for o in decided if o.timing is Timing.GOOD and o.hr_us is not None]
    timings = [outcome.timing for outcome in decided if outcome.timing is not None]
    return Rates(len(decided), shares(timings), float(np.median(headroom_s)) if headroom_s else None)
