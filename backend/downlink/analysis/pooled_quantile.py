"""A quantile over all values of several runs, with an interval that takes runs, and not single values, for independent.

Blocks and seconds of one run are alike: its queue, its path and its losses are in all of them. So the bootstrap draws whole runs, as
often as there are, and pools what they hold (Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from downlink.analysis.binning import Floats, Ints
from downlink.analysis.intervals import CONFIDENCE, RESAMPLES, resample_weights
from downlink.analysis.sketch import Sketch, middles

SLACK = 1e-9
"""Tolerance as a share of all values: sums of drawn shares are off by a last digit."""


@dataclass(frozen=True)
class Counted:
    """A run's values, rising, and how many of its values are not above each."""

    values: Floats
    reached: Ints

    def up_to(self, values: Floats) -> Ints:
        """Count the values that are not above each of these."""
        counts: Ints = np.append(0, self.reached)[np.searchsorted(self.values, values, side="right")]
        return counts


@dataclass(frozen=True)
class PooledQuantile:
    """low, high: the 95 % interval; NaN for one run. n: runs."""

    value: float
    low: float
    high: float
    n: int


def counted(values: Floats) -> Counted:
    """Single values (n,), of which NaN are unknown."""
    known = np.sort(values[~np.isnan(values)])
    return Counted(known, np.arange(1, len(known) + 1))


def counted_bins(sketch: Sketch) -> Counted:
    """The values that bins stand for."""
    places = np.flatnonzero(sketch.counts)
    return Counted(middles(sketch.first + places), np.cumsum(sketch.counts[places]))


def pooled_quantile(runs: Sequence[Counted], share: float, seed: int) -> PooledQuantile:
    """The smallest value that so large a share of all are not above. runs: each with values. The same seed draws the same runs."""
    n = len(runs)
    if not n:
        return PooledQuantile(math.nan, math.nan, math.nan, 0)
    (value,) = _quantiles(runs, share, np.ones((1, n)))
    if n == 1:
        return PooledQuantile(float(value), math.nan, math.nan, 1)
    drawn = _quantiles(runs, share, resample_weights(n, seed, RESAMPLES))
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return PooledQuantile(float(value), float(low), float(high), n)


def _quantiles(runs: Sequence[Counted], share: float, weights: Floats) -> Floats:
    """One for each row of weights (draws, runs): how often each run counts. All draws halve their stretch of the values together."""
    grid = np.unique(np.concatenate([run.values for run in runs]))
    totals = weights @ np.array([run.reached[-1] for run in runs])
    wanted = (share - SLACK) * totals
    low, high = np.zeros(len(weights), np.int64), np.full(len(weights), len(grid) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        places, which = np.unique(middle, return_inverse=True)
        reached = np.stack([run.up_to(grid[places]) for run in runs], axis=1)
        is_reached = np.einsum("ij,ij->i", weights, reached[which]) >= wanted
        low, high = np.where(is_reached, low, middle + 1), np.where(is_reached, middle, high)
    quantiles: Floats = grid[low]
    return quantiles
