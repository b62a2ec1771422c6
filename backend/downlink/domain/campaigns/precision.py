"""The precision of a mean while its campaign continues: intervals that hold at every look, and the rule that ends the campaign.

An ordinary 95 % interval misses the truth in 5 % of looks. A person who looks after each cycle and stops when it is narrow has many
looks, and stops where it happened to be narrow. A confidence sequence holds the truth at all of its looks together.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from downlink.domain.doc import Doc

ERROR = 0.05
"""The chance that a sequence ever leaves the true mean out, whenever and however often it is looked at."""
SPREAD = 1.0
"""Variance of the mean's place in units of the values' variance, over which alternatives are mixed: narrowest at some ten runs."""
LEAST_RUNS = 3
"""Fewer runs are never enough, whatever their interval."""
Side = tuple[str, str]
"""A link and a condition."""


@dataclass(frozen=True, slots=True)
class Until:
    """Cycles go on until each condition's mean is known so exactly on each link, or most_cycles have run."""

    metric: str
    phase: str
    half_width_percent: Annotated[float, Doc("Half the width of the interval at most, in percent of the mean")]
    most_cycles: int
    flow: Annotated[int, Doc("Which of a condition's flows, from 1")]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Values:
    """Statistics of a condition's complete runs on a link that have the metric: count, mean and sample standard deviation (None for a
    single run)."""

    runs: int
    mean: float
    sd: float | None

    @property
    def half_width(self) -> float | None:
        """Half width of the confidence sequence, in the metric's unit; None while it is infinite."""
        return None if self.sd is None or (width := relative_width(self.runs)) is None else width * self.sd

    @property
    def half_width_percent(self) -> float | None:
        """Half width as a percentage of the mean; None also for a mean of zero or less."""
        half = self.half_width
        return None if half is None or self.mean <= 0 else 100 * half / self.mean


def relative_width(runs: int) -> float | None:
    """The half width of the sequence in sample deviations (divisor runs - 1); None where it is without end, below five runs.

    The t statistic's likelihood ratio with the mean's distance in deviations drawn from N(0, SPREAD) and the scale's right Haar
    measure is a martingale of what the values say apart from their unit; by Ville's inequality it ever reaches 1 / ERROR with
    probability ERROR at most. The means at which it has not are the interval. Sources: docs/method.md, section 10.
    """
    if runs < 2:
        return None
    spread = 1 + runs * SPREAD
    exponent = (math.log(spread) - 2 * math.log(ERROR)) / runs
    below = 1 - math.exp(exponent) / spread
    return None if below <= 0 else math.sqrt((runs - 1) / runs * math.expm1(exponent) / below)


def is_narrow(values: Values | None, until: Until) -> bool:
    """Return whether these runs are enough for the wanted half width."""
    if values is None or values.runs < LEAST_RUNS:
        return False
    percent = values.half_width_percent
    return percent is not None and percent <= until.half_width_percent


def is_precise(until: Until, sides: Collection[Side], values: Mapping[Side, Values]) -> bool:
    """Return whether every side of the campaign is narrow enough. values: statistics by side."""
    return bool(sides) and all(is_narrow(values.get(side), until) for side in sides)


@dataclass(frozen=True, slots=True)
class Expected:
    """The forecast that a pilot allows. cycles: until all sides are narrow, most_cycles at most. half_width_percent: of the widest
    side then; None if a side has no width."""

    cycles: int
    half_width_percent: float | None

    @classmethod
    def of(cls, until: Until, pilot: Collection[Values]) -> Expected:
        """Forecast with each side's mean and standard deviation from the pilot."""
        cycles = max((_enough(until, each) for each in pilot), default=until.most_cycles)
        widths = [Values(cycles, each.mean, each.sd).half_width_percent for each in pilot]
        known = [width for width in widths if width is not None]
        return cls(cycles, max(known) if known and len(known) == len(widths) else None)


def _enough(until: Until, pilot: Values) -> int:
    """The least number of cycles that is enough, or the most: the width falls with every cycle."""
    if not is_narrow(Values(until.most_cycles, pilot.mean, pilot.sd), until):
        return until.most_cycles
    least, most = 1, until.most_cycles
    while least < most:
        middle = (least + most) // 2
        if is_narrow(Values(middle, pilot.mean, pilot.sd), until):
            most = middle
        else:
            least = middle + 1
    return most


@dataclass(frozen=True, slots=True)
class CycleRun:
    """A run of the plan. has_begun: it was started, or has ended otherwise than by being cancelled beforehand."""

    link: str
    cycle: int
    attempt: int
    is_planned: bool
    has_begun: bool


def unneeded(places: Sequence[CycleRun]) -> list[int]:
    """Return the indices of the runs that are not needed once the campaign is precise enough.

    Planned ones of cycles of which no run on their link has begun: a cycle that has begun is a block, and is finished. Later
    attempts stay: somebody has asked for them.
    """
    begun = {(each.link, each.cycle) for each in places if each.has_begun}
    return [
        index
        for index, each in enumerate(places)
        if each.is_planned and each.attempt == 1 and (each.link, each.cycle) not in begun
    ]
