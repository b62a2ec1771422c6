"""Values of each run, quantity by quantity: distributions are drawn from them, and conditions compared by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.binning import Floats
from downlink.analysis.comparison import Comparison, PhaseMetric, Side, compare_sides
from downlink.analysis.intervals import plain
from downlink.domain.results.metric import STEADY_TIMES


@dataclass(frozen=True)
class RunValues:
    """One flow of one condition on one link, run by run.

    flow: 0 for the emulated link itself, whose cc is empty. runs, cycles: of each run its name and its cycle. values: (runs, places),
    NaN where a run has none; a time that a run did not reach is the time watched, and is marked in not_within: (runs, times).
    """

    link: str
    condition: str
    flow: int
    cc: str
    runs: tuple[str, ...]
    cycles: tuple[int, ...]
    places: tuple[PhaseMetric, ...]
    values: Floats
    not_within: NDArray[np.bool_]

    @property
    def side(self) -> Side:
        return Side(self.link, self.flow, self.condition, self.cycles, self.values)

    @property
    def known(self) -> tuple[PhaseMetric, ...]:
        """Return the pairs of phase and metric for which any run has a value."""
        return tuple(
            quantity for quantity, column in zip(self.places, self.values.T, strict=True) if not np.isnan(column).all()
        )

    def at(self, quantity: PhaseMetric) -> tuple[Floats, NDArray[np.bool_]]:
        """The runs' values of one quantity, and which of them are only times watched. ValueError for a place that it does not have."""
        values = self.values[:, self.places.index(quantity)]
        if quantity[1] not in STEADY_TIMES or not self.not_within.size:
            return values, np.zeros(len(self.runs), bool)
        return values, self.not_within[:, STEADY_TIMES.index(quantity[1])]

    def only(self, places: Sequence[PhaseMetric]) -> RunValues:
        """The same of some places alone; those that it does not have are left out."""
        kept = [index for index, quantity in enumerate(self.places) if quantity in places]
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return RunValues(
            **{**own, "places": tuple(self.places[index] for index in kept), "values": self.values[:, kept]}
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, missing values null. The way back is `values_from`."""
        return {
            **{name: getattr(self, name) for name in ("link", "condition", "flow", "cc")},
            **{name: list(getattr(self, name)) for name in ("runs", "cycles", "places")},
            "values": plain(self.values),
            "not_within": self.not_within.tolist(),
        }


def values_from(stored: Mapping[str, Any]) -> RunValues:
    """Read the values that `to_dict` wrote."""
    places = tuple((phase, metric) for phase, metric in stored["places"])
    runs = len(stored["runs"])
    return RunValues(
        **{name: stored[name] for name in ("link", "condition", "flow", "cc")},
        runs=tuple(stored["runs"]),
        cycles=tuple(stored["cycles"]),
        places=places,
        values=np.array(stored["values"], dtype=np.float64).reshape(runs, len(places)),
        not_within=np.array(stored["not_within"], dtype=bool).reshape(runs, -1),
    )


def compare_runs(
    sides: Sequence[RunValues], baseline: str, primary: Sequence[PhaseMetric], seed: int, *, is_declared: bool = True
) -> tuple[Comparison, ...]:
    """Every condition against the baseline, cycle by cycle: flows first, then what their links did, where both were logged.

    primary: what is tested. is_declared: whether the baseline was named beforehand (`compare_sides`).
    """
    flows, links = ([side for side in sides if (side.flow > 0) is is_flow] for is_flow in (True, False))
    compared = [
        compare_sides(
            [side.side for side in kind],
            baseline,
            kind[0].places,
            [quantity for quantity in primary if quantity in kind[0].places],
            seed,
            is_declared=is_declared,
        )
        for kind in (flows, links)
        if kind
    ]
    return tuple(each for kind in compared for each in kind if each.flow > 0 or int(each.difference.n))
