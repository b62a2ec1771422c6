"""Activity of the emulated links of a campaign's runs, per condition: statistics over the runs whose link was logged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from downlink.analysis.binning import Floats
from downlink.analysis.comparison import PhaseMetric
from downlink.analysis.intervals import Intervals, mean_intervals
from downlink.analysis.values import RunValues
from downlink.domain.results.metric import LEAST, LINKED, LOST, MOST

THE_LINK = 0
"""Number in place of a flow's, in values and comparisons of what the link itself did."""
LINKED_MOST, LOST_MOST = (np.array([MOST.get(name, np.inf) for name in names]) for names in (LINKED, LOST))


@dataclass(frozen=True)
class LinkRecord:
    """One complete run whose link was logged. phases: (phases, LINKED). losses: of each flow (LOST,); empty where the log broke off."""

    run: str
    link: str
    condition: str
    cycle: int
    phases: Floats
    losses: Mapping[int, Floats]


@dataclass(frozen=True)
class LinkGroup:
    """A link under one condition, over its logged runs. values: of each run (runs, phases, LINKED). metrics: over the runs
    (phases, LINKED). losses: of each flow its values (runs, LOST). without_log: complete runs whose link was not logged."""

    link: str
    condition: str
    runs: tuple[str, ...]
    cycles: tuple[int, ...]
    phases: tuple[str, ...]
    values: Floats
    metrics: Intervals
    losses: Mapping[int, Floats]
    without_log: int

    @property
    def run_values(self) -> RunValues:
        return RunValues(
            link=self.link,
            condition=self.condition,
            flow=THE_LINK,
            cc="",
            runs=self.runs,
            cycles=self.cycles,
            places=linked_places(self.phases),
            values=self.values.reshape(len(self.runs), -1),
            not_within=np.zeros((len(self.runs), 0), bool),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "link": self.link,
            "condition": self.condition,
            "runs": len(self.runs),
            "without_log": self.without_log,
            "metrics": {
                phase: {name: self.metrics[row, column].to_dict() for column, name in enumerate(LINKED)}
                for row, phase in enumerate(self.phases)
            },
            "flows": [_flow(flow, values) for flow, values in self.losses.items()],
        }


def _flow(flow: int, values: Floats) -> dict[str, Any]:
    intervals = mean_intervals(values, least=LEAST, most=LOST_MOST)
    return {"flow": flow, **{name: intervals[column].to_dict() for column, name in enumerate(LOST)}}


def linked_places(phases: Sequence[str]) -> tuple[PhaseMetric, ...]:
    """Phase and metric of each column of a link's values. phases: their names."""
    return tuple((phase, name) for phase in phases for name in LINKED)


def link_groups(
    records: Iterable[LinkRecord],
    conditions: Sequence[str],
    phases: tuple[str, ...],
    complete: Mapping[tuple[str, str], int],
) -> tuple[LinkGroup, ...]:
    """Group records by link, then condition in the campaign's order. phases: their names. complete: runs of each link and condition."""
    rank = {name: index for index, name in enumerate(conditions)}
    ordered = sorted(records, key=lambda each: (each.link, rank[each.condition], each.cycle))
    return tuple(
        _group(list(members), phases, complete)
        for _, members in groupby(ordered, key=lambda each: (each.link, each.condition))
    )


def _group(
    members: Sequence[LinkRecord], phases: tuple[str, ...], complete: Mapping[tuple[str, str], int]
) -> LinkGroup:
    first, unknown = members[0], np.full(len(LOST), np.nan)
    values = np.stack([each.phases for each in members])
    flows = sorted({flow for each in members for flow in each.losses})
    return LinkGroup(
        link=first.link,
        condition=first.condition,
        runs=tuple(each.run for each in members),
        cycles=tuple(each.cycle for each in members),
        phases=phases,
        values=values,
        metrics=mean_intervals(values, least=LEAST, most=LINKED_MOST),
        losses={flow: np.stack([each.losses.get(flow, unknown) for each in members]) for flow in flows},
        without_log=complete[first.link, first.condition] - len(members),
    )
