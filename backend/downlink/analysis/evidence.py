"""How far a campaign's differences can be trusted: what its cycles can show, whether distributions differ, which runs stand out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from downlink.analysis.compare import compare_distributions, flag_outliers
from downlink.analysis.intervals import bootstrap_interval, mean_intervals, plain
from downlink.analysis.power import cycles_needed, detectable_difference

Place = tuple[str, int, str, str]
"""Link, flow, phase, metric."""


@dataclass(frozen=True)
class Value:
    """One metric of one flow of one complete run in one phase; NaN where missing. run: its name, copied into the answer."""

    run: str
    link: str
    condition: str
    cycle: int
    flow: int
    phase: str
    metric: str
    value: float

    @property
    def place(self) -> Place:
        return self.link, self.flow, self.phase, self.metric


@dataclass(frozen=True)
class Pair:
    """A condition beside the baseline at one place."""

    place: Place
    condition: str
    own: Sequence[Value]
    base: Sequence[Value]

    def differences(self) -> list[float]:
        """Condition minus baseline, cycle by cycle, for the cycles that both have."""
        by_cycle = {each.cycle: each.value for each in self.base}
        own = sorted(self.own, key=lambda each: each.cycle)
        return [each.value - by_cycle[each.cycle] for each in own if each.cycle in by_cycle]


def weigh(values: Sequence[Value], conditions: Sequence[str], seed: int) -> dict[str, Any]:
    """Comparisons with the first condition, and values that stand out. p values are adjusted over all the comparisons.

    seed: of the bootstrap; the campaign's own gives the intervals of its report.
    """
    grouped: dict[Place, dict[str, list[Value]]] = {}
    for each in values:
        grouped.setdefault(each.place, {}).setdefault(each.condition, []).append(each)
    pairs = list(_pairs(grouped, conditions))
    tests = compare_distributions([(_numbers(pair.own), _numbers(pair.base)) for pair in pairs])
    comparisons = [
        {
            **_named(pair.place), "condition": pair.condition, "baseline": conditions[0], **_power(pair, seed),
            "ks_distance": plain(test.ks_distance), "shape_p": plain(test.shape_p), "location_p": plain(test.location_p),
        }
        for pair, test in zip(pairs, tests, strict=True)
    ]  # fmt: skip
    outliers = [
        found for by_condition in grouped.values() for members in by_condition.values() for found in _outliers(members)
    ]
    return {"comparisons": comparisons, "outliers": outliers}


def _pairs(grouped: Mapping[Place, Mapping[str, list[Value]]], conditions: Sequence[str]) -> Iterator[Pair]:
    for place, by_condition in grouped.items():
        for condition in conditions[1:]:
            if condition in by_condition and conditions[0] in by_condition:
                yield Pair(place, condition, by_condition[condition], by_condition[conditions[0]])


def _power(pair: Pair, seed: int) -> dict[str, Any]:
    """What these cycles show, and how many more the difference seen so far would take."""
    differences = pair.differences()
    seen, (low, high) = mean_intervals(differences), bootstrap_interval(differences, seed)
    n, sd, mean = int(seen.n), float(seen.sd), float(seen.mean)
    needed = cycles_needed(sd, mean)
    return {
        "difference": seen.to_dict(),
        "bootstrap_low": plain(low),
        "bootstrap_high": plain(high),
        "detectable_difference": plain(detectable_difference(sd, n)),
        "cycles_needed": needed,
        "cycles_missing": None if needed is None else max(0, needed - n),
    }


def _outliers(members: Sequence[Value]) -> Iterator[dict[str, Any]]:
    numbers = _numbers(members)
    stands_out = flag_outliers(numbers)
    for each in (each for each, is_out in zip(members, stands_out, strict=True) if is_out):
        own = {"run_id": each.run, "condition": each.condition, "cycle": each.cycle}
        yield {**_named(each.place), **own, "value": each.value, "median": float(np.nanmedian(numbers))}


def _numbers(values: Sequence[Value]) -> list[float]:
    return [each.value for each in values]


def _named(place: Place) -> dict[str, Any]:
    return dict(zip(("link", "flow", "phase", "metric"), place, strict=True))
