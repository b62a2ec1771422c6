"""Do two conditions differ in their distribution? With a correction for asking often, and values that stand out flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Floats = NDArray[np.float64]
MIN_VALUES = 3
MIN_OUTLIER_VALUES = 5
"""The deviation of fewer values says more of chance: two of three that lie close make the third an outlier."""
OUTLIER_SCORE = 3.5
NORMAL_CONSISTENCY = 0.6745
"""The 75 % quantile of the standard normal: a normal sample's median absolute deviation is this times its deviation."""


@dataclass(frozen=True)
class DistributionTest:
    """One question of a family. p values are adjusted for the family; NaN where a side has fewer than three values.

    shape: two-sample Kolmogorov-Smirnov, any difference. location: Mann-Whitney U, one side tends to be larger.
    ks_distance: the largest distance between the two empirical distributions.
    """

    ks_distance: float
    shape_p: float
    location_p: float
    n: tuple[int, int]


def compare_distributions(pairs: Sequence[tuple[ArrayLike, ArrayLike]]) -> list[DistributionTest]:
    """One test for each pair of samples (missing values left out), adjusted by Holm's method over all of them."""
    samples = [(_present(first), _present(second)) for first, second in pairs]
    raw = np.array([_p_values(first, second) for first, second in samples]).reshape(len(samples), 3)
    shape_p, location_p = holm(raw[:, 1]), holm(raw[:, 2])
    return [
        DistributionTest(float(row[0]), float(shape), float(location), (len(first), len(second)))
        for row, shape, location, (first, second) in zip(raw, shape_p, location_p, samples, strict=True)
    ]


def holm(p_values: ArrayLike) -> Floats:
    """The p values adjusted so that the chance of any false alarm in the family stays as stated (Holm, 1979).

    Missing values are no part of the family and stay missing.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(raw.shape, np.nan)
    (there,) = np.nonzero(~np.isnan(raw))
    order = there[np.argsort(raw[there])]
    stepped = raw[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def flag_outliers(values: ArrayLike) -> NDArray[np.bool_]:
    """Which values stand out: modified z score above 3.5 (Iglewicz and Hoaglin, 1993). For marking only; none is dropped.

    The score is 0.6745 times the distance to the median over the median absolute deviation. Where more than half of the
    values are equal that deviation is 0: then nothing can be said, and nothing is flagged; nor is anything among fewer than
    MIN_OUTLIER_VALUES. Missing values are not flagged.
    """
    data = np.asarray(values, dtype=np.float64)
    present = _present(data)
    if len(present) < MIN_OUTLIER_VALUES:
        return np.zeros(data.shape, bool)
    median = np.median(present)
    deviation = np.median(np.abs(present - median))
    flags: NDArray[np.bool_] = NORMAL_CONSISTENCY * np.abs(data - median) > OUTLIER_SCORE * deviation
    return flags if deviation > 0 else np.zeros(data.shape, bool)


def _present(values: ArrayLike) -> Floats:
    data = np.asarray(values, dtype=np.float64)
    return data[~np.isnan(data)]


def _p_values(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Distance, and the raw p values of both tests."""
    if min(len(first), len(second)) < MIN_VALUES:
        return np.nan, np.nan, np.nan
    shape = stats.ks_2samp(first, second)
    return float(shape.statistic), float(shape.pvalue), float(stats.mannwhitneyu(first, second).pvalue)
