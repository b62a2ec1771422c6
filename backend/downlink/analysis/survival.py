"""Times until something happens, of runs some of which ended before it did."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from downlink.analysis.binning import Floats
from downlink.analysis.intervals import plain


@dataclass(frozen=True)
class EventTimes:
    """The median over all runs (Kaplan and Meier, 1958); NaN when half of them were not there in time.

    low, high: its 95 % interval (Brookmeyer and Crowley, 1982), NaN where the runs do not bound it. n: runs. not_within:
    those in which it did not happen within within_s, the longest that any run was watched.
    """

    median: float
    low: float
    high: float
    n: int
    not_within: int
    within_s: float

    def to_dict(self) -> dict[str, Any]:
        return {name: plain(value) for name, value in vars(self).items()}


def event_times(times_s: ArrayLike, watched_s: ArrayLike) -> EventTimes:
    """times_s: when it happened, NaN where it did not. watched_s: for how long each run was watched, NaN: not at all."""
    watched = np.asarray(watched_s, dtype=np.float64)
    is_watched = ~np.isnan(watched)
    times, watched = np.asarray(times_s, dtype=np.float64)[is_watched], watched[is_watched]
    if not len(times):
        return EventTimes(np.nan, np.nan, np.nan, 0, 0, np.nan)
    is_open = np.isnan(times)
    median, low, high = _median(times, is_open, watched)
    return EventTimes(median, low, high, len(times), int(is_open.sum()), float(watched.max()))


def restricted(times_s: ArrayLike, watched_s: ArrayLike) -> Floats:
    """The times, and for how long it was watched where it did not happen: a lower bound, so that no run is left out."""
    times, watched = np.asarray(times_s, dtype=np.float64), np.asarray(watched_s, dtype=np.float64)
    filled: Floats = np.where(np.isnan(times), watched, times)
    return filled


def _median(times: Floats, is_open: NDArray[np.bool_], watched: Floats) -> tuple[float, float, float]:
    sample = scipy.stats.CensoredData.right_censored(restricted(times, watched), is_open)
    survival = scipy.stats.ecdf(sample).sf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where nobody or everybody is left it is undefined, and NaN
        bounds = survival.confidence_interval(method="log-log")
    at = survival.quantiles
    median, low, high = (_first(at, curve.probabilities) for curve in (survival, bounds.low, bounds.high))
    return median, low, high


def _first(at: Floats, probabilities: Floats) -> float:
    """Return when a survival curve is first at a half or below; NaN if never."""
    (below,) = np.nonzero(np.nan_to_num(probabilities, nan=1.0) <= 0.5)
    return float(at[below[0]]) if len(below) else np.nan
