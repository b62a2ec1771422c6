"""Rank correlation of two quantities, with its interval (docs/method.md, section Dish and weather)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are used: the api starts without them

LEAST_PAIRS = 5
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho of n pairs with its 95 % interval. None where it cannot be said; `why` in a sentence."""

    n: int
    rho: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> RankCorrelation:
    """Equal values share the mean of their ranks. The interval is that of Bonett and Wright (2000): Fisher's transform with
    the variance (1 + rho^2 / 2) / (n - 3). At rho of 1 or -1 it has none."""
    n = len(x)
    if n < LEAST_PAIRS:
        return RankCorrelation(n, why=f"{n} runs have both; {LEAST_PAIRS} are needed.")
    first, second = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return RankCorrelation(n, why="One of both has the same value in every run.")
    rho = float(np.clip(np.corrcoef(first, second)[0, 1], -1, 1))
    if 1 - abs(rho) < 1e-12:
        return RankCorrelation(
            n, round(rho), why="The order is the same in all runs; more runs are needed for an interval."
        )
    half = float(scipy.special.ndtri((1 + CONFIDENCE) / 2)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return RankCorrelation(n, rho, math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half))
