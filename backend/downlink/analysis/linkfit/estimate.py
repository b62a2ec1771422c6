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
    """Return a function's value of all items, with the error of a jackknife that leaves out one run at a time (Efron 1982)."""
    return each_over_runs(items, lambda some: (of(some),), n)[0]


def each_over_runs(items: Sequence[T], of: Callable[[Sequence[T]], tuple[float, ...]], n: str) -> list[Estimate]:
    """The same of several numbers at once."""
    values, count = of(items), len(items)
    if count < 2:
        return [Estimate(value, math.nan, n) for value in values]
    left_out = np.array([of([*items[:i], *items[i + 1 :]]) for i in range(count)])
    spread = np.sqrt((count - 1) / count * np.sum((left_out - left_out.mean(axis=0)) ** 2, axis=0))
    return [Estimate(value, float(error), n) for value, error in zip(values, spread, strict=True)]
