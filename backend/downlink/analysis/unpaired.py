"""Conditions that share no cycles, as those of different campaigns: differences of their means, and nothing tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from downlink.analysis.binning import Floats
from downlink.analysis.comparison import PhaseMetric
from downlink.analysis.intervals import CONFIDENCE, held_within, mean_intervals, plain
from downlink.analysis.values import RunValues
from downlink.domain.results.metric import LEAST, LINKED, MOST, STEADY_TIMES


@dataclass(frozen=True)
class Unpaired:
    """Runs against other runs: by how much, or how many times.

    low, high: Welch's 95 % interval, NaN where a side has fewer than two runs. degrees: of freedom, by Welch and Satterthwaite, NaN
    where no run of either side differs from the others of it.
    """

    mean: float
    low: float
    high: float
    degrees: float
    n: int
    n_base: int

    def to_dict(self) -> dict[str, Any]:
        return {name: plain(value) for name, value in vars(self).items()}


def difference_of_means(own: ArrayLike, base: ArrayLike, reach: float = np.inf) -> Unpaired:
    """Mean minus mean, of runs that have a value, with Welch's interval (Biometrika 34, 1947).

    It does not take the two for equally variable, nor for equally many. reach: the most that a difference can be, either way.
    """
    above, below = mean_intervals(own), mean_intervals(base)
    mean = above.mean - below.mean
    half, degrees = _half_width(above.sd**2 / _counted(above.n), below.sd**2 / _counted(below.n), above.n, below.n)
    low, high = held_within(mean, half, np.asarray(-reach), np.asarray(reach))
    return Unpaired(float(mean), float(low), float(high), degrees, int(above.n), int(below.n))


def ratio_of_means(own: ArrayLike, base: ArrayLike) -> Unpaired | None:
    """Geometric mean over geometric mean, with Welch's interval of the logarithms carried back; None where a run of either side is
    not above 0: the runs left would be a choice."""
    sides = [_known(values) for values in (own, base)]
    if any(not side.size or (side <= 0).any() for side in sides):
        return None
    difference = difference_of_means(np.log(sides[0]), np.log(sides[1]))
    mean, low, high = (float(np.exp(value)) for value in (difference.mean, difference.low, difference.high))
    return Unpaired(mean, low, high, difference.degrees, difference.n, difference.n_base)


def _half_width(own: Floats, base: Floats, n: ArrayLike, n_base: ArrayLike) -> tuple[Floats, float]:
    """Return the half width of the interval, and the degrees of freedom. own, base: each side's variance over its number of runs."""
    parts = own**2 / _counted(np.asarray(n) - 1) + base**2 / _counted(np.asarray(n_base) - 1)
    total = own + base
    if total == 0:
        return np.zeros(()), float("nan")
    degrees = total**2 / parts
    half: Floats = scipy.special.stdtrit(degrees, (1 + CONFIDENCE) / 2) * np.sqrt(total)
    return half, float(degrees)


def _counted(n: ArrayLike) -> Floats:
    """Counts to divide by: NaN for none."""
    count = np.asarray(n, np.float64)
    return np.where(count > 0, count, np.nan)


def _known(values: ArrayLike) -> Floats:
    data = np.asarray(values, np.float64)
    return data[~np.isnan(data)]


@dataclass(frozen=True)
class Picked:
    """One flow of one condition that somebody picked, and what the emulated link under it did; None: no run, or no log."""

    flow: RunValues | None
    link: RunValues | None

    @property
    def known(self) -> tuple[PhaseMetric, ...]:
        """Return the pairs of phase and metric for which any run has a value: the flow's, then the link's."""
        return tuple(quantity for side in (self.flow, self.link) if side for quantity in side.known)

    def of(self, quantity: PhaseMetric) -> RunValues | None:
        """Return the side that has this quantity; None if there is none."""
        side = self.link if quantity[1] in LINKED else self.flow
        return side if side is not None and quantity in side.places else None

    def at(self, quantity: PhaseMetric) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the values as `RunValues.at` does; empty arrays if no side has them."""
        side = self.of(quantity)
        return (np.zeros(0), np.zeros(0, bool)) if side is None else side.at(quantity)


@dataclass(frozen=True)
class QuantityCompared:
    """One quantity of every side. means: each side's. differences, ratios: each side against the baseline, None for itself.

    within_s: of times that some run did not reach; all of them count up to here. None where every run got there, and for other
    quantities.
    """

    place: PhaseMetric
    means: tuple[Mapping[str, Any], ...]
    differences: tuple[Unpaired | None, ...]
    ratios: tuple[Unpaired | None, ...]
    within_s: float | None

    def to_dict(self) -> dict[str, Any]:
        parts = {name: [each and each.to_dict() for each in getattr(self, name)] for name in ("differences", "ratios")}
        phase, metric = self.place
        return {"phase": phase, "metric": metric, "within_s": self.within_s, "means": list(self.means), **parts}


def offered(sides: Iterable[Picked]) -> tuple[PhaseMetric, ...]:
    """Every place that a side has a value of, each once."""
    return tuple(dict.fromkeys(quantity for side in sides for quantity in side.known))


def compare_picked(sides: Sequence[Picked], baseline: int, places: Iterable[PhaseMetric]) -> list[QuantityCompared]:
    """Each side against that of number `baseline`, one quantity after the other."""
    return [_compared(sides, baseline, quantity) for quantity in places]


def _compared(sides: Sequence[Picked], baseline: int, quantity: PhaseMetric) -> QuantityCompared:
    measured = [side.at(quantity) for side in sides]
    within_s = least_watched(measured) if quantity[1] in STEADY_TIMES else None
    values = [own if within_s is None else np.minimum(own, within_s) for own, _ in measured]
    most = MOST.get(quantity[1], np.inf)
    others = [index for index in range(len(sides)) if index != baseline]
    differences = {index: difference_of_means(values[index], values[baseline], most) for index in others}
    ratios = {index: ratio_of_means(values[index], values[baseline]) for index in others}
    least = -np.inf if quantity[1] in STEADY_TIMES else LEAST
    return QuantityCompared(
        quantity,
        tuple(mean_intervals(own, least=least, most=most).to_dict() for own in values),
        tuple(map(differences.get, range(len(sides)))),
        tuple(map(ratios.get, range(len(sides)))),
        within_s,
    )


def least_watched(sides: Sequence[tuple[Floats, NDArray[np.bool_]]]) -> float | None:
    """The shortest that a run was watched in vain: beyond it nobody knows of that run. None where every run got there."""
    watched = [float(values[is_open].min()) for values, is_open in sides if is_open.any()]
    return min(watched, default=None)
