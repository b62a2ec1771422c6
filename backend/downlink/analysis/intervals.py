"""Means with 95 % confidence intervals, over runs and over paired differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
RESAMPLES = 4_000


@dataclass(frozen=True)
class Intervals:
    """Statistics of many quantities at once: every field has one value per quantity.

    low, high: the interval by Student's t with n - 1 degrees of freedom, within the quantity's range; NaN for n < 2, as is
    the sample deviation sd.
    """

    mean: Floats
    low: Floats
    high: Floats
    sd: Floats
    n: NDArray[np.int64]

    def __getitem__(self, index: Any) -> Intervals:
        return Intervals(self.mean[index], self.low[index], self.high[index], self.sd[index], self.n[index])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: numbers or lists of them, null where missing."""
        return {name: plain(getattr(self, name)) for name in ("mean", "low", "high", "n", "sd")}


def mean_intervals(values: ArrayLike, axis: int = 0, least: ArrayLike = -np.inf, most: ArrayLike = np.inf) -> Intervals:
    """Mean and interval along an axis (the runs), leaving missing values (NaN) out.

    least, most: what the quantity cannot leave, shaped like the result or one for all. With both ends open the interval is
    mean +- t s / sqrt(n); with one end it is that on a logarithmic scale from there, with both on a logit scale between them
    (by the delta method), so that it stays inside and still holds the mean.
    """
    data = np.asarray(values, dtype=np.float64)
    is_there = ~np.isnan(data)
    n = is_there.sum(axis=axis)
    total = np.where(is_there, data, 0).sum(axis=axis)
    mean = _divide(total, n)
    deviation = np.where(is_there, data - np.expand_dims(mean, axis), 0)
    sd = np.sqrt(_divide((deviation**2).sum(axis=axis), n - 1))
    half = _quantile_t(n) * _divide(sd, np.sqrt(n))
    low, high = held_within(mean, half, np.asarray(least, np.float64), np.asarray(most, np.float64))
    return Intervals(mean, low, high, sd, n)


def ratio_intervals(above: ArrayLike, below: ArrayLike, axis: int = 0) -> Intervals:
    """The geometric mean of paired ratios along an axis, with Student's interval of their logarithms carried back.

    A pair counts where both are above 0. Swapping the two inverts the mean and both ends. sd: of the natural logarithms.
    """
    own, base = np.broadcast_arrays(np.asarray(above, np.float64), np.asarray(below, np.float64))
    is_there = (own > 0) & (base > 0)
    logs = np.log(own, out=np.full(own.shape, np.nan), where=is_there)
    logs -= np.log(base, out=np.full(own.shape, np.nan), where=is_there)
    intervals = mean_intervals(logs, axis)
    return Intervals(np.exp(intervals.mean), np.exp(intervals.low), np.exp(intervals.high), intervals.sd, intervals.n)


def held_within(mean: Floats, half: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """mean +- half on a scale that ends at least and most: low and high."""
    above, below = mean - least, most - mean
    # The scale's slope at the mean: 1 with open ends, 1 / distance near an end, and their sum between two.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = half * (1 / above + 1 / below)
        low, high = (_back(least, most, above, below, sign * step) for sign in (-1, 1))
    is_open = np.isinf(least) & np.isinf(most)
    is_alike = half == 0
    low, high = np.where(is_open, mean - half, low), np.where(is_open, mean + half, high)
    return np.where(is_alike, mean, low), np.where(is_alike, mean, high)


def _back(least: Floats, most: Floats, above: Floats, below: Floats, step: Floats) -> Floats:
    """The value that lies `step` away from the mean on the logarithmic or logit scale."""
    by_logarithm = np.where(np.isinf(most), least + above * np.exp(step), most - below * np.exp(-step))
    by_logit = least + (most - least) / (1 + below / above * np.exp(-step))
    value: Floats = np.where(np.isinf(least) | np.isinf(most), by_logarithm, by_logit)
    return value


def bootstrap_interval(values: ArrayLike, seed: int, resamples: int = RESAMPLES) -> tuple[Floats, Floats]:
    """The percentile bootstrap interval of the mean along the first axis: low and high, NaN for n < 2.

    values: (n,) or (n, quantities); missing values are left out. The same seed draws the same resamples.
    """
    data = np.asarray(values, dtype=np.float64)
    bounds = np.full((2, math.prod(data.shape[1:])), np.nan)
    columns = data.reshape(len(data), bounds.shape[1])
    is_there = ~np.isnan(columns)
    # Quantities that lack the same runs share their resamples, which turns the means into one matrix product.
    for pattern in np.unique(is_there, axis=1).T:
        n = int(pattern.sum())
        if n > 1:
            alike = (is_there == pattern[:, None]).all(axis=0)
            means = resample_weights(n, seed, resamples) @ columns[np.ix_(pattern, alike)]
            bounds[:, alike] = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    low, high = bounds.reshape(2, *data.shape[1:])
    return low, high


@lru_cache(maxsize=4)
def resample_weights(n: int, seed: int, resamples: int) -> Floats:
    """Return how often each of n values is drawn in each resample, divided by n, of shape (resamples, n)."""
    weights: Floats = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples) / n
    weights.flags.writeable = False
    return weights


def _quantile_t(n: NDArray[np.int64]) -> Floats:
    degrees = np.where(n > 1, n - 1, 1)
    quantile: Floats = np.where(n > 1, scipy.special.stdtrit(degrees, (1 + CONFIDENCE) / 2), np.nan)
    return quantile


def _divide(above: ArrayLike, below: ArrayLike) -> Floats:
    """above / below, NaN where below is not above zero."""
    numerator, denominator = np.broadcast_arrays(np.asarray(above, np.float64), np.asarray(below, np.float64))
    ratio: Floats = np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator > 0)
    return ratio


def plain(values: ArrayLike) -> Any:
    """Numbers as JSON has them: NaN becomes null."""
    data = np.asarray(values)
    as_objects = data.astype(object)
    as_objects[~np.isfinite(data)] = None
    return as_objects.tolist()
