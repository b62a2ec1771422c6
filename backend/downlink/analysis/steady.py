"""How long a flow takes to its steady state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WINDOW_BINS = 5
SHARE = 0.9


def time_to_steady_s(throughput_bps: Floats, steady_mean_bps: float) -> float:
    """The first bin from which the 5-s moving mean stays above 90 % of the steady-phase mean; NaN if there is none.

    throughput_bps: one-second bins, missing values NaN. The moving mean is centred (bins k - 2 to k + 2) and leaves
    missing bins out; the result is k, in seconds from the flow's first data byte.
    """
    if len(throughput_bps) < WINDOW_BINS or not np.isfinite(steady_mean_bps):
        return np.nan
    is_there = ~np.isnan(throughput_bps)
    window = np.ones(WINDOW_BINS)
    sums = np.convolve(np.where(is_there, throughput_bps, 0), window, "valid")
    counts = np.convolve(is_there, window, "valid")
    # A window without any value is an outage: it is not above anything.
    is_below = sums <= SHARE * steady_mean_bps * counts
    (below,) = np.nonzero(is_below)
    first = below[-1] + 1 if len(below) else 0
    return float(first + WINDOW_BINS // 2) if first < len(sums) else np.nan
