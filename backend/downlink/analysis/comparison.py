"""Conditions against a baseline, cycle by cycle: by how much they differ, and what these cycles can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from downlink.analysis.binning import Floats
from downlink.analysis.compare import Tested, judge_family
from downlink.analysis.intervals import Intervals, bootstrap_interval, mean_intervals, plain, ratio_intervals
from downlink.analysis.power import cycles_needed, detectable_difference
from downlink.domain.results.metric import METRICS, MOST, STEADY_TIMES

PhaseMetric = tuple[str, str]
Pair = tuple[Floats, Floats]
SIGNIFICANT = 0.05


def places(phases: Sequence[str]) -> tuple[PhaseMetric, ...]:
    """Phase and metric of each column of a table of values. phases: their names."""
    return (
        *((phase, metric) for phase in phases for metric in METRICS),
        *(("overall", name) for name in STEADY_TIMES),
    )


@dataclass(frozen=True)
class Comparison:
    """A condition minus the baseline, paired by cycle, for one metric of one flow.

    own, base: the values of the cycles that both have. ratio: own mean over base mean, NaN without a base above 0.
    paired_ratio: the geometric mean of the cycles' own ratios, over those that have one: with fewer than the difference has, they are
    a choice and say nothing of all.
    tested: what the tests of a primary metric say; None for the others.
    """

    link: str
    flow: int
    phase: str
    metric: str
    condition: str
    baseline: str
    difference: Intervals
    paired_ratio: Intervals
    bootstrap_low: float
    bootstrap_high: float
    own: Floats = field(repr=False)
    base: Floats = field(repr=False)
    tested: Tested | None = None

    @property
    def differences(self) -> Floats:
        each = self.own - self.base
        return each[~np.isnan(each)]

    @property
    def reading(self) -> str:
        """The permitted conclusion, in one word, wherever this comparison is shown."""
        if self.tested is None:
            return "exploratory"
        if not self.tested.can_show_level:
            return "too_few"
        if self.tested.level_p > SIGNIFICANT:
            return "no_difference"
        return "higher" if self.difference.mean > 0 else "lower"

    @property
    def cycles_needed(self) -> int | None:
        """The cycles that would show a difference as small as the near end of its interval, the test included. The observed
        difference would overstate the effect (Hoenig and Heisey, 2001); None while the interval includes 0."""
        low, high = float(self.difference.low), float(self.difference.high)
        if not (low > 0 or high < 0):
            return None
        needed = cycles_needed(float(self.difference.sd), min(abs(low), abs(high)))
        return needed if needed is None or self.tested is None else max(needed, self.tested.cycles_for_test)

    def to_dict(self) -> dict[str, Any]:
        n, needed, tested = int(self.difference.n), self.cycles_needed, self.tested
        return {
            **{name: getattr(self, name) for name in ("link", "flow", "phase", "metric", "condition", "baseline")},
            "difference": self.difference.to_dict(),
            "ratio": plain(_ratio(self.own, self.base)),
            "paired_ratio": self.paired_ratio.to_dict(),
            "bootstrap_low": plain(self.bootstrap_low),
            "bootstrap_high": plain(self.bootstrap_high),
            "cycles_higher": int((self.differences > 0).sum()),
            "cycles_lower": int((self.differences < 0).sum()),
            "reading": self.reading,
            "is_primary": tested is not None,
            "family": None if tested is None else tested.family,
            "cycles_for_test": None if tested is None else tested.cycles_for_test,
            "level_p": plain(tested.level_p) if tested and tested.can_show_level else None,
            "ks_distance": plain(tested.ks_distance) if tested and tested.can_show_shape else None,
            "shape_p": plain(tested.shape_p) if tested and tested.can_show_shape else None,
            "detectable_difference": plain(detectable_difference(float(self.difference.sd), n)),
            "cycles_needed": needed,
            "cycles_missing": None if needed is None else max(0, needed - n),
        }


@dataclass(frozen=True)
class Side:
    """One flow of one condition on one link: its runs' values (runs, places) with their cycles."""

    link: str
    flow: int
    condition: str
    cycles: Sequence[int]
    values: Floats


def compare_sides(
    sides: Sequence[Side],
    baseline: str,
    columns: Sequence[PhaseMetric],
    primary: Sequence[PhaseMetric],
    seed: int,
    *,
    is_declared: bool = True,
) -> tuple[Comparison, ...]:
    """Each side against the baseline's of the same link and flow. columns: of the sides' values. primary: those that are tested,
    each a family of its own over links, flows and conditions. seed: of the bootstrap and of sampled permutations.

    is_declared: whether the baseline was named beforehand. One that is chosen over the results asks every pair of conditions, and the
    p values are adjusted for all of them (decision 0105).
    """
    bases = {(side.link, side.flow): side for side in sides if side.condition == baseline}
    comparisons = [
        each
        for side in sides
        if side.condition != baseline and (side.link, side.flow) in bases
        for each in _against(side, bases[side.link, side.flow], columns, seed)
    ]
    tested = dict(_tests(comparisons, primary, seed, {} if is_declared else _beside(sides, baseline, columns, primary)))
    return tuple(replace(each, tested=tested.get(index)) for index, each in enumerate(comparisons))


def _paired(side: Side, base: Side) -> tuple[Floats, Floats]:
    """The values of the cycles that both have."""
    rows = [{cycle: row for row, cycle in enumerate(each.cycles)} for each in (side, base)]
    common = [cycle for cycle in side.cycles if cycle in rows[1]]
    own, other = (each.values[[at[cycle] for cycle in common]] for each, at in zip((side, base), rows, strict=True))
    return own, other


def _against(side: Side, base: Side, columns: Sequence[PhaseMetric], seed: int) -> Iterator[Comparison]:
    own, other = _paired(side, base)
    reach = np.array([MOST.get(metric, np.inf) for _, metric in columns])
    statistics = mean_intervals(own - other, least=-reach, most=reach)
    ratios = ratio_intervals(own, other)
    low, high = bootstrap_interval(own - other, seed)
    for column, (phase, metric) in enumerate(columns):
        yield Comparison(
            link=side.link,
            flow=side.flow,
            phase=phase,
            metric=metric,
            condition=side.condition,
            baseline=base.condition,
            difference=statistics[column],
            paired_ratio=ratios[column],
            bootstrap_low=float(low[column]),
            bootstrap_high=float(high[column]),
            own=own[:, column],
            base=other[:, column],
        )


def _tests(
    comparisons: Sequence[Comparison],
    primary: Sequence[PhaseMetric],
    seed: int,
    beside: Mapping[PhaseMetric, Sequence[Pair]],
) -> Iterator[tuple[int, Tested]]:
    """beside: further pairs that the same question was open to."""
    for quantity in primary:
        family = [index for index, each in enumerate(comparisons) if (each.phase, each.metric) == quantity]
        pairs = [(comparisons[index].own, comparisons[index].base) for index in family]
        judged = judge_family([*pairs, *beside.get(quantity, ())], seed)
        yield from zip(family, judged[: len(family)], strict=True)


def _beside(
    sides: Sequence[Side], baseline: str, columns: Sequence[PhaseMetric], primary: Sequence[PhaseMetric]
) -> Mapping[PhaseMetric, Sequence[Pair]]:
    """All pairs of conditions of a link and flow that the baseline has no part in."""
    asked = [quantity for quantity in primary if quantity in columns]
    at = [columns.index(quantity) for quantity in asked]
    known = [replace(side, values=side.values[:, at]) for side in sides if side.condition != baseline]
    groups: dict[tuple[str, int], list[Side]] = {}
    for side in known:
        groups.setdefault((side.link, side.flow), []).append(side)
    pairs = [_paired(one, other) for group in groups.values() for one, other in combinations(group, 2)]
    return {quantity: [(own[:, n], base[:, n]) for own, base in pairs] for n, quantity in enumerate(asked)}


def _ratio(own: Floats, base: Floats) -> float:
    is_there = ~np.isnan(own - base)
    if not is_there.any() or base[is_there].mean() <= 0:
        return np.nan
    return float(own[is_there].mean() / base[is_there].mean())
