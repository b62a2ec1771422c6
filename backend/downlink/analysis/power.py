"""The statistical power of a number of cycles: the smallest difference that it shows, and the cycles that a difference needs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy

POWER = 0.8
SIGNIFICANCE = 0.05
MAX_CYCLES = 10_000


def power_of_paired_t(effect: float, n: int, significance: float = SIGNIFICANCE) -> float:
    """The chance that the two-sided paired t test over n cycles sees a true difference of `effect` deviations.

    effect: true mean difference over the deviation of the differences. By the noncentral t distribution (Cohen, 1988);
    a significant difference of the wrong sign is not counted as seen.
    """
    critical = scipy.special.stdtrit(n - 1, 1 - significance / 2)
    return float(1 - scipy.special.nctdtr(n - 1, abs(effect) * np.sqrt(n), critical))


def detectable_difference(sd: float, n: int, power: float = POWER, significance: float = SIGNIFICANCE) -> float:
    """The smallest true difference that n cycles show with this power; NaN for n < 2.

    sd: deviation of the paired differences, in the unit of the answer.
    """
    if n < 2 or not np.isfinite(sd):
        return np.nan
    return _detectable_effect(n, power, significance) * sd


@lru_cache(maxsize=4096)
def _detectable_effect(n: int, power: float, significance: float) -> float:
    """The same in deviations of the differences: it is asked for the same few n again and again."""
    # At three times the critical value the power is above 0.99 for any n, and the distribution still computable.
    highest = 3 * scipy.special.stdtrit(n - 1, 1 - significance / 2) / np.sqrt(n)
    return float(scipy.optimize.brentq(lambda each: power_of_paired_t(each, n, significance) - power, 0.0, highest))


def cycles_needed(sd: float, difference: float, power: float = POWER, significance: float = SIGNIFICANCE) -> int | None:
    """The fewest cycles that show a true difference with this power; None when MAX_CYCLES do not.

    sd: deviation of the paired differences, in the unit of the difference.
    """
    if not np.isfinite(sd) or not np.isfinite(difference) or difference == 0:
        return None
    low, high = 2, MAX_CYCLES
    if detectable_difference(sd, high, power, significance) > abs(difference):
        return None
    while low < high:
        middle = (low + high) // 2
        if detectable_difference(sd, middle, power, significance) <= abs(difference):
            high = middle
        else:
            low = middle + 1
    return low
