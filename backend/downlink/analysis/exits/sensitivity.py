"""Detectors swept over their parameters: how often early, good or late, and with how much headroom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np

from downlink.analysis.exits.bins import too_coarse
from downlink.analysis.exits.hystart import HyStart, judge_hystart
from downlink.analysis.exits.outcomes import Interval, Timing, shares, timing_of
from downlink.analysis.exits.search import Search31, Search40, judge_search_31, judge_search_40
from downlink.analysis.exits.sliding import ExitTimes, Search10, exit_times, judge_search_10, sliding_curves
from downlink.analysis.exits.trace import AckTrace
from downlink.analysis.exits.verdict import Verdict

Parameters = Search10 | Search31 | Search40 | HyStart

JUDGES: dict[type, Callable[[AckTrace, Any], Verdict]] = {
    Search10: judge_search_10,
    Search31: judge_search_31,
    Search40: judge_search_40,
    HyStart: judge_hystart,
}


@dataclass(frozen=True)
class Outcome:
    """What one parameter set did on one trace. hr_us: first loss minus exit, None without either. timing: None when undecidable."""

    exit_us: int | None
    hr_us: int | None
    timing: Timing | None


@dataclass(frozen=True)
class Rates:
    """One cell of a heatmap. n: decidable traces. hr_s: median headroom of the good exits; None without any."""

    n: int
    shares: dict[Timing, Interval]
    hr_s: float | None


def grid(base: Parameters, **values: Sequence[Any]) -> list[Any]:
    """Every combination of the named parameters' values, the last one running fastest."""
    known = {field.name for field in fields(base)}
    if unknown := set(values) - known:
        raise ValueError(f"{type(base).__name__} has no parameter {', '.join(sorted(unknown))}")
    return [replace(base, **dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]


def sweep(trace: AckTrace, parameter_sets: Sequence[Parameters]) -> list[Outcome]:
    """Every parameter set on one trace, judged by the trace's own cg (version 1.0 as published) and first loss.

    Only the rows up to the loss are replayed: nothing after it can count.
    """
    before = until_loss(trace)
    published = Search10()
    if before.snd_nxt_bytes is None or too_coarse(before, published.clock):
        return [Outcome(None, None, None)] * len(parameter_sets)
    times = exit_times(before, sliding_curves(before, published))
    return [_outcome(JUDGES[type(parameters)](before, parameters), times) for parameters in parameter_sets]


def _outcome(verdict: Verdict, times: ExitTimes) -> Outcome:
    if not verdict.is_decidable:
        return Outcome(None, None, None)
    hr_us = None if verdict.exit_us is None or times.dp_us is None else times.dp_us - verdict.exit_us
    return Outcome(verdict.exit_us, hr_us, timing_of(verdict.exit_us, times))


def until_loss(trace: AckTrace) -> AckTrace:
    """The trace up to and with the row of its first loss."""
    last = max((row for row in (trace.first_loss_row, trace.loss_row) if row is not None), default=trace.rows - 1)
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
