"""Quantities that are computed of a flow, read from `quantities.csv`, and those that a campaign may ask about."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Quantity:
    """One computed quantity.

    kind: rate, gauge, ratio, time, or share (of a second, for which one limit held the flow). level: where it begins: each
    second, a phase, a whole run, an object of a size, the flows of a run together, one of them beside the others (`lead`), its
    slow start, an emulated link in a phase (`link`), or what that did to a flow (`flow on link`). average: how longer spans follow
    from it: `mean of seconds` (of a gauge, the mean over the time of its seconds), `mean of samples`, `ratio of sums` (of what was
    counted), `sum`, `percentile` and `largest` (of single values), `mean of blocks` (of a delivery table) and `mean of pairs of
    seconds` (in a row), or over runs `median`, `mean of runs` or `share of runs`. most:
    the end of its range, None if open. shown_unit, shown_factor: what people read, and how many of it are one `unit`.
    """

    name: str
    unit: str
    title: str
    kind: str
    level: str
    average: str
    most: float | None
    shown_unit: str
    shown_factor: float


def _quantity(row: Mapping[str, str]) -> Quantity:
    numbers = {"most": float(row["most"]) if row["most"] else None, "shown_factor": float(row["shown_factor"])}
    return Quantity(**{**row, **numbers})  # type: ignore[arg-type]


def _listed() -> tuple[Quantity, ...]:
    text = resources.files("downlink.domain").joinpath("quantities.csv").read_text(encoding="utf-8")
    return tuple(map(_quantity, csv.DictReader(text.splitlines())))


LISTED = _listed()
"""Every quantity, in the order of the list."""
NAMED = {each.name: each for each in LISTED}
PHASES = ("startup", "steady", "overall")
QUANTITIES = tuple(each.name for each in LISTED if each.level == "second" and each.kind != "share")
"""Quantities of each second."""
METRICS = (*QUANTITIES, *(each.name for each in LISTED if each.level == "phase"))
"""Quantities of each phase."""
STEADY_TIMES = tuple(each.name for each in LISTED if each.level == "run")
"""Times until throughput stays near the flow's own steady state, and near a level that is the same for every run."""
OBJECTS = tuple(each.name for each in LISTED if each.level == "object")
"""Times of objects of N MB."""
SHARED = tuple(each.name for each in LISTED if each.level == "flows")
"""Quantities of the flows of a run together, for each phase."""
LEADS = tuple(each.name for each in LISTED if each.level == "lead")
"""Quantities of a flow beside the other flows of its run."""
SLOW_STARTS = tuple(each.name for each in LISTED if each.level == "slow start")
"""Quantities of a flow's slow start: Table I of Kachooei 2023 (SEARCH), and when it was left."""
LIMITS = tuple(each.name for each in LISTED if each.kind == "share")
"""Causes that can hold a flow back."""
LINKED = tuple(each.name for each in LISTED if each.level == "link")
"""Quantities of an emulated link in each phase, by its log."""
LOST = tuple(each.name for each in LISTED if each.level == "flow on link")
"""Losses of a flow at an emulated link in a run, by the link's own count."""

PRIMARY_NAMES = (*(f"{phase}.{metric}" for phase in PHASES for metric in (*METRICS, *LINKED)), *STEADY_TIMES)
"""Metrics that every campaign can ask about; its windows add theirs."""
DEFAULT_PRIMARY = ("startup.throughput_bps", "steady.throughput_bps")

LEAST = 0.0
MOST = {each.name: each.most for each in LISTED if each.most is not None and each.name in (*METRICS, *LINKED, *LOST)}
"""No metric is below zero; these have an end above too."""


def phase_metric_of(primary: str) -> tuple[str, str]:
    """Phase and metric of a primary metric's name."""
    phase, _, metric = primary.rpartition(".")
    return phase or "overall", metric
