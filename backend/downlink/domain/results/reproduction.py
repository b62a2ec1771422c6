"""Published values that a campaign is compared with, each with the number of ours that corresponds to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Side:
    """A flow of a condition."""

    condition: str
    flow: int = 1


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """One published number, and which of ours it is compared to.

    name: the same in every campaign that reproduces it. side: whose number; over, minus: another flow, pair by pair (of a run, or
    of a cycle where conditions differ), for ratios and differences. than_link: the ratio is given as a multiple of the same over
    that link. share: the value is what this share of all blocks, pairs of seconds or seconds of the runs do not exceed. least,
    most: what was published, in the shown unit of the metric, equal for one number, infinite where open. tolerance: how far ours
    may be off, in the same unit; None: nobody says. source: where in the paper it is. why: the cause, found by experiment, where
    ours is off.
    """

    name: str
    metric: str
    side: Side
    least: float
    most: float
    phase: str = "overall"
    over: Side | None = None
    minus: Side | None = None
    object_mb: int | None = None
    link: str | None = None
    than_link: str | None = None
    share: float | None = None
    tolerance: float | None = None
    source: str = ""
    why: str = ""

    @property
    def is_number(self) -> bool:
        """True if one number was published, not a range or a bound."""
        return self.least == self.most

    def to_dict(self) -> dict[str, Any]:
        """Return the value as the campaign file writes it."""
        own = {key: value for key, value in asdict(self).items() if value not in (None, "")}
        side = own.pop("side")
        ends = {"least": own.pop("least"), "most": own.pop("most")}
        known = {key: value for key, value in ends.items() if math.isfinite(value)}
        return {**own, **side, **({"published": self.least} if self.is_number else known)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PublishedValue:
        """The value that to_dict wrote."""
        own = dict(data)
        side = Side(own.pop("condition"), own.pop("flow", 1))
        number = own.pop("published", None)
        least, most = own.pop("least", -math.inf), own.pop("most", math.inf)
        for key in ("over", "minus"):
            if key in own:
                own[key] = Side(**own[key])
        return cls(side=side, least=least if number is None else number, most=most if number is None else number, **own)


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A figure or table of a paper. paper: as docs/papers.md cites it."""

    paper: str
    figure: str
    values: tuple[PublishedValue, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"paper": self.paper, "figure": self.figure, "values": [value.to_dict() for value in self.values]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PublishedFigure:
        return cls(data["paper"], data["figure"], tuple(map(PublishedValue.from_dict, data["values"])))
