"""The time until a flow's throughput stays at a level."""

from __future__ import annotations

import numpy as np

from downlink.analysis.binning import Floats

WINDOW_BINS = 5
SHARE = 0.9


def time_to_steady_s(throughput_bps: Floats, level_bps: float) -> float:
    """The first bin from which the 5-s moving mean stays above 90 % of the level; NaN if there is none.

    throughput_bps: one-second bins, missing values NaN. The moving mean is centred (bins k - 2 to k + 2) and leaves
    missing bins out; the result is k, in seconds from the flow's first data byte.
    """
    if len(throughput_bps) < WINDOW_BINS or not np.isfinite(level_bps):
        return np.nan
    is_there = ~np.isnan(throughput_bps)
    window = np.ones(WINDOW_BINS)
    sums = np.convolve(np.where(is_there, throughput_bps, 0), window, "valid")
    counts = np.convolve(is_there, window, "valid")
    # A window without any value is an outage: it is not above anything.
    is_below = sums <= SHARE * level_bps * counts
    (below,) = np.nonzero(is_below)
    first = below[-1] + 1 if len(below) else 0
    return float(first + WINDOW_BINS // 2) if first < len(sums) else np.nan


def latest_steady_s(bins: int) -> float:
    """The latest time that so many bins can show: the last window's middle. NaN when they hold no window."""
    return float(bins - 1 - WINDOW_BINS // 2) if bins >= WINDOW_BINS else np.nan
