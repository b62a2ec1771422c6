"""Parameters that can be swept say so beside their defaults: range, unit, meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from downlink.domain.errors import InvalidError

_KEY = "swept"


@dataclass(frozen=True)
class SweptParameter:
    name: str
    default: float
    low: float
    high: float
    unit: str
    meaning: str
    steps: int = field(metadata={"exclude": True})

    def counted(self, value: float) -> float:
        """The detector's own value. InvalidError `sweep_invalid` outside of the range or between two steps."""
        if not self.low <= value <= self.high:
            raise InvalidError(
                "sweep_invalid", f"{self.name} must be from {self.low:g} to {self.high:g} {self.unit}, not {value:g}."
            )
        if not self.steps:
            return float(value)
        whole = round(value * self.steps)
        if abs(value * self.steps - whole) > 1e-6:
            raise InvalidError(
                "sweep_invalid", f"{self.name} must be a multiple of {1 / self.steps:g} {self.unit}, not {value:g}."
            )
        return whole


def swept(default: float, low: float, high: float, unit: str, meaning: str, *, steps: int = 1) -> Any:
    """A dataclass field that can be swept; low and high in `unit`, the default as the detector counts."""
    return field(default=default, metadata={_KEY: (low, high, unit, meaning, steps)})


def sweepable(parameters: Any) -> Iterator[SweptParameter]:
    """The parameters of a detector that can be swept, in their order."""
    for each in fields(parameters):
        if _KEY in each.metadata:
            low, high, unit, meaning, steps = each.metadata[_KEY]
            counted: Any = each.default
            default = counted / steps if steps > 1 else counted
            yield SweptParameter(each.name, default, low, high, unit, meaning, steps)
