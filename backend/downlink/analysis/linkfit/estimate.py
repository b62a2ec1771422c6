"""A number with its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True)
class Estimate:
    """error: one standard error, NaN where runs are too few to say. n: what it is made of, in words."""

    value: float
    error: float
    n: str


def over_runs(items: Sequence[T], of: Callable[[Sequence[T]], float], n: str) -> Estimate:
    """What a function says of all items, with the error of a jackknife that leaves out one run at a time (Efron 1982)."""
    value, count = of(items), len(items)
    if count < 2:
        return Estimate(value, math.nan, n)
    left_out = np.array([of([*items[:i], *items[i + 1 :]]) for i in range(count)])
    spread = float(np.sqrt((count - 1) / count * np.sum((left_out - left_out.mean()) ** 2)))
    return Estimate(value, spread, n)
