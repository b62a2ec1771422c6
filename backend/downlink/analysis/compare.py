"""Do two conditions differ? Tests of a family of questions with a correction for asking often, and values that stand out flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from downlink.analysis.binning import Floats

SIGNIFICANCE = 0.05
MAX_EXACT_FLIPS = 2**14
"""Up to 14 cycles every pattern of signs is tried; beyond, so many are drawn."""
MAX_AT_ONCE = 64
"""Questions whose patterns of signs are in memory at once: 8 MB."""
MIN_OUTLIER_VALUES = 5
"""The deviation of fewer values says more of chance: two of three that lie close make the third an outlier."""
OUTLIER_SCORE = 3.5
NORMAL_CONSISTENCY = 0.6745
"""The 75 % quantile of the standard normal: a normal sample's median absolute deviation is this times its deviation."""


@dataclass(frozen=True)
class Tested:
    """One question of a family of `family` questions. p values are adjusted for it.

    level: the paired sign-flip test, does one side tend to be larger. shape: two-sample Kolmogorov-Smirnov, any difference of
    distribution; ks_distance is the largest distance between the two. Level and shape are families of their own.
    can_show_level, can_show_shape: whether so many cycles can come below 5 % at all. cycles_for_test: how many can.
    """

    family: int
    level_p: float
    can_show_level: bool
    cycles_for_test: int
    ks_distance: float
    shape_p: float
    can_show_shape: bool


def judge_family(pairs: Sequence[tuple[ArrayLike, ArrayLike]], seed: int) -> list[Tested]:
    """Tests of pairs of samples (own and base, cycle by cycle), adjusted by Holm's method over all of them."""
    cleaned = [_both_there(own, base) for own, base in pairs]
    counts = [len(own) for own, _ in cleaned]
    level = holm(sign_flip_ps([own - base for own, base in cleaned], seed))
    shapes = [_shape(own, base) for own, base in cleaned]
    shape = holm([p for _, p in shapes])
    can_show_level = holm([least_sign_flip_p(n) for n in counts]) <= SIGNIFICANCE
    can_show_shape = holm([least_shape_p(n) for n in counts]) <= SIGNIFICANCE
    needed = cycles_for_test(len(pairs))
    return [
        Tested(
            len(pairs),
            float(level[i]),
            bool(can_show_level[i]),
            needed,
            shapes[i][0],
            float(shape[i]),
            bool(can_show_shape[i]),
        )
        for i in range(len(pairs))
    ]


def sign_flip_p(differences: Floats, seed: int) -> float:
    """The two-sided paired permutation test of the mean (Fisher, 1935): were all signs equally likely, how often would the mean
    be as far from 0? Exact up to 14 cycles. 1 without a difference."""
    return float(sign_flip_ps([differences], seed)[0])


def sign_flip_ps(questions: Sequence[Floats], seed: int) -> Floats:
    """The same of many at once: those of so many cycles share their patterns of signs, and one matrix product."""
    p_values = np.ones(len(questions))
    for n in {len(each) for each in questions if len(each) > 1}:
        alike = [index for index, each in enumerate(questions) if len(each) == n and np.any(each)]
        for first in range(0, len(alike), MAX_AT_ONCE):
            part = alike[first : first + MAX_AT_ONCE]
            p_values[part] = _flip_ps(np.array([questions[index] for index in part]), seed)
    return p_values


def _flip_ps(differences: Floats, seed: int) -> Floats:
    """Return p values of sign flips, of shape (questions,), for differences of shape (questions, n). Drawn patterns are SciPy's with
    the same seed, and the observed one counts among them."""
    n = differences.shape[1]
    is_exact = 2**n <= MAX_EXACT_FLIPS
    signs = _every_sign(n) if is_exact else _drawn_signs(n, seed)
    observed = np.asarray(differences.mean(axis=1), np.float64)
    means = np.asarray(signs @ differences.T / n, np.float64)
    slack = np.abs(100 * np.finfo(np.float64).eps * observed)
    less, greater = (means <= observed + slack).sum(axis=0), (means >= observed - slack).sum(axis=0)
    seen = 0 if is_exact else 1
    return np.asarray(np.minimum(1.0, 2 * ((np.minimum(less, greater) + seen) / (len(signs) + seen))), np.float64)


@lru_cache(maxsize=16)
def _every_sign(n: int) -> Floats:
    """Every pattern of n signs: (2^n, n)."""
    signs = np.asarray(1.0 - 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1), np.float64)
    signs.flags.writeable = False
    return signs


@lru_cache(maxsize=2)
def _drawn_signs(n: int, seed: int) -> Floats:
    """1 or -1 for each of n differences in each draw: (draws, n)."""
    pairs = np.tile(np.arange(2), (MAX_EXACT_FLIPS, n, 1))
    signs: Floats = 1.0 - 2.0 * np.random.default_rng(seed).permuted(pairs, axis=-1)[..., 0]
    signs.flags.writeable = False
    return signs


def equivalence_p(values: ArrayLike, low: float, high: float) -> float:
    """Two one-sided t tests (Schuirmann, 1987): small where the mean is shown to lie between low and high, in the values' unit.

    Missing values are left out. Below 0.05 exactly when Student's 90 % interval lies inside. NaN for fewer than two values.
    """
    data = np.asarray(values, dtype=np.float64)
    present = data[~np.isnan(data)]
    if len(present) < 2:
        return np.nan
    mean, error = present.mean(), present.std(ddof=1) / np.sqrt(len(present))
    if error == 0:
        return 0.0 if low < mean < high else 1.0
    return float(
        max(
            scipy.special.stdtr(len(present) - 1, (each - mean) / error * side) for each, side in ((low, 1), (high, -1))
        )
    )


def least_sign_flip_p(n: int) -> float:
    """The least that the sign-flip test of n cycles can give: all signs alike, or all opposite."""
    return min(1.0, 2.0 ** (1 - n))


def cycles_for_test(family: int) -> int:
    """The fewest cycles with which every question of a family can come below 5 %."""
    n = 1
    while least_sign_flip_p(n) * max(1, family) > SIGNIFICANCE:
        n += 1
    return n


def least_shape_p(n: int) -> float:
    """The least that Kolmogorov-Smirnov can give for n against n values: none of one side among the other's."""
    return 1.0 if n == 0 else _shape_p(n, n)


def holm(p_values: ArrayLike) -> Floats:
    """The p values adjusted so that the chance of any false alarm in the family stays as stated (Holm, 1979)."""
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw)
    stepped = raw[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(raw.shape)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def flag_outliers(values: ArrayLike) -> NDArray[np.bool_]:
    """Return a mask of the values that stand out: modified z score above 3.5 (Iglewicz and Hoaglin, 1993). For marking only; none is
    dropped.

    The score is 0.6745 times the distance to the median over the median absolute deviation. Where more than half of the
    values are equal that deviation is 0: then nothing can be said, and nothing is flagged; nor is anything among fewer than
    MIN_OUTLIER_VALUES. Missing values are not flagged.
    """
    data = np.asarray(values, dtype=np.float64)
    present = data[~np.isnan(data)]
    if len(present) < MIN_OUTLIER_VALUES:
        return np.zeros(data.shape, bool)
    median = np.median(present)
    deviation = np.median(np.abs(present - median))
    flags: NDArray[np.bool_] = NORMAL_CONSISTENCY * np.abs(data - median) > OUTLIER_SCORE * deviation
    return flags if deviation > 0 else np.zeros(data.shape, bool)


def _both_there(own: ArrayLike, base: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(own, dtype=np.float64), np.asarray(base, dtype=np.float64)
    is_there = ~np.isnan(first - second)
    return first[is_there], second[is_there]


def _shape(own: Floats, base: Floats) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov distance and its p value for equally many values on either side."""
    if not len(own):
        return np.nan, 1.0
    together = np.sort(np.concatenate([own, base]))
    shares = [np.searchsorted(np.sort(each), together, side="right") for each in (own, base)]
    steps = int(np.abs(shares[0] - shares[1]).max())
    return steps / len(own), _shape_p(len(own), steps)


@lru_cache(maxsize=4096)
def _shape_p(n: int, steps: int) -> float:
    """Return the p value of a distance of steps / n between n and n values: it follows from these two numbers, whatever the samples."""
    return float(scipy.stats.ks_2samp(np.arange(n), np.arange(n) + steps - 0.5).pvalue)
