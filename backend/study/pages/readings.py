"""Readings of mean curves, as a reader takes them from a figure, beside those of single runs (docs/method.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from downlink.analysis.binning import Floats
from downlink.analysis.intervals import mean_intervals
from downlink.analysis.steady import SHARE, WINDOW_BINS

LOST_PERCENT = 1.0


def moving_means(rates: ArrayLike, span: int) -> Floats:
    """The mean of each `span` bins along the last axis, by the first of them."""
    means: Floats = sliding_window_view(np.asarray(rates, np.float64), span, axis=-1).mean(axis=-1)
    return means


def bands_meet_s(ahead: ArrayLike, behind: ArrayLike, span: int, from_s: int) -> float:
    """The first second, `from_s` or later, in which the 95 % bands of two mean curves overlap; NaN where they never do.

    ahead, behind: runs by bins. Each curve is of means over `span` bins, drawn where they begin.
    """
    low = mean_intervals(moving_means(ahead, span)).low
    high = mean_intervals(moving_means(behind, span)).high
    return _first(low <= high, from_s)


def curves_meet_s(ahead: ArrayLike, behind: ArrayLike, span: int, from_s: int) -> float:
    """The same of the mean curves themselves."""
    return _first(moving_means(ahead, span).mean(axis=0) <= moving_means(behind, span).mean(axis=0), from_s)


def first_reach_s(throughput_bps: Sequence[float] | Floats, level_bps: float) -> float:
    """The first bin whose 5-s moving mean is 90 % of a level, whatever comes later (`time_to_steady_s` asks for good)."""
    if len(throughput_bps) < WINDOW_BINS:
        return np.nan
    found = _first(moving_means(throughput_bps, WINDOW_BINS) >= SHARE * level_bps, 0)
    return found + WINDOW_BINS // 2


def repaired_s(retransmission_percent: ArrayLike) -> float:
    """The first second, after the first with more than 1 % of repeated bytes, that has less: slow start's losses are repaired."""
    share = np.asarray(retransmission_percent, np.float64)
    (above,) = np.nonzero(share > LOST_PERCENT)
    return _first(share <= LOST_PERCENT, int(above[0])) if above.size else np.nan


def ratio_of_jain(index: float) -> float:
    """Ratio of two flows' rates, by their Jain's index."""
    return float((1 + np.sqrt(4 * index - 4 * index**2)) / (2 * index - 1))


def _first(holds: np.typing.NDArray[np.bool_], from_s: int) -> float:
    hits = np.flatnonzero(holds)
    later = hits[hits >= from_s]
    return float(later[0]) if later.size else np.nan
