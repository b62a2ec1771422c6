"""A distribution as counts in bins that grow with the value: small, and as exact after pooling as before.

Bin k holds values above g^(k-1) and up to g^k microseconds, bin 0 all below, with g = 1.01. Two sketches are pooled by adding their
counts, which is what the sketch of both sets of values has. A quantile is the middle of its bin: at most 0.5 % of the value off
the pooled values' own, the smallest value that so many are not above (Masson, Rim and Lee, DDSketch, VLDB 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.binning import Floats

Counts = NDArray[np.int64]

GROWTH = 1.01
MOST_BINS = 2_728
"""Up to 604,800 s, which no moment of a delivery table is above."""
LEAST_MS = 1e-3
"""A value up to this, and any below zero, counts as 0."""
_MIDDLE = 2 / (GROWTH + 1)


@dataclass(frozen=True)
class Sketch:
    """first: the number of the first bin that holds something. counts: (bins,) of this one and those after it; empty for no values."""

    first: int
    counts: Counts

    @property
    def total(self) -> int:
        return int(self.counts.sum())


NOTHING = Sketch(0, np.zeros(0, np.int64))


def sketch(values_ms: Floats, weights: Counts) -> Sketch:
    """values_ms: (n,). weights: (n,) how often each value counts."""
    if not len(values_ms):
        return NOTHING
    scaled = np.log(np.maximum(values_ms, LEAST_MS) / LEAST_MS) / np.log(GROWTH)
    # Values on an edge belong below it; the logarithm of an edge is off by a last digit.
    bin_of = np.minimum(np.ceil(scaled - 1e-9).astype(np.int64), MOST_BINS - 1)
    first = int(bin_of.min())
    counts = np.bincount(bin_of - first, weights=weights).astype(np.int64)
    return Sketch(first, counts)


def pool(sketches: Sequence[Sketch]) -> Sketch:
    """The sketch of all their values."""
    present = [each for each in sketches if len(each.counts)]
    if not present:
        return NOTHING
    first = min(each.first for each in present)
    counts = np.zeros(max(each.first + len(each.counts) for each in present) - first, np.int64)
    for each in present:
        start = each.first - first
        counts[start : start + len(each.counts)] += each.counts
    return Sketch(first, counts)


def quantiles(of: Sketch, shares: Sequence[float]) -> Floats:
    """(len(shares),) in ms, of shares from 0 to 1; NaN for no values."""
    if not of.total:
        return np.full(len(shares), np.nan)
    reached = np.cumsum(of.counts)
    wanted = np.maximum(np.asarray(shares) * reached[-1], 1)
    return middles(of.first + np.searchsorted(reached, wanted - 1e-9 * reached[-1]))


def middles(places: Counts) -> Floats:
    """The value in ms that each bin stands for."""
    middles_ms: Floats = np.where(places == 0, 0.0, LEAST_MS * GROWTH ** places.astype(float) * _MIDDLE)
    return middles_ms
