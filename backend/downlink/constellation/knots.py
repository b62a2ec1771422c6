"""A curve of delay as few knots: between two of them it is straight, and off by less than a microsecond."""

from __future__ import annotations

import math

import numpy as np

from downlink.constellation.orbits import Floats, Whole

FINE_US = 1_000_000
MOST_ERROR_NS = 850.0
"""Error at the fine times at most. Between these a delay of LEO bends by less than 100 ns in a second."""
LEAST_SHARE = 0.05


def fine_times(start_us: int, end_us: int) -> Whole:
    """Return times at most a second apart, from start to end, in microseconds."""
    parts = max(1, math.ceil((end_us - start_us) / FINE_US))
    return np.rint(np.linspace(start_us, end_us, parts + 1)).astype(np.int64)


def knots(at_us: Whole, delay_ns: Floats) -> Whole:
    """Choose the times to keep, the first and the last among them; return their indices.

    Knots are dense where the curve bends: each stretch between two has the same integral of sqrt(|second derivative|), the best
    there is for straight pieces (de Boor 1978, chapter III). More are taken until no fine time is off by MOST_ERROR_NS.
    """
    last = len(at_us) - 1
    if last < 2:
        return np.arange(last + 1)
    bend = np.abs(np.diff(delay_ns, 2))
    weight = np.sqrt(np.maximum(bend, bend.max() * LEAST_SHARE**2) / (8 * MOST_ERROR_NS))
    # A bend is of two steps: each step has the mean of its two ends.
    grown = np.append(0.0, np.cumsum((np.r_[weight[0], weight] + np.r_[weight, weight[-1]]) / 2))
    pieces = max(1, math.ceil(grown[-1]))
    while True:
        kept = np.unique(
            np.rint(np.interp(np.linspace(0, grown[-1], pieces + 1), grown, np.arange(last + 1))).astype(np.int64)
        )
        off = np.abs(np.interp(at_us, at_us[kept], delay_ns[kept]) - delay_ns)
        if off.max() < MOST_ERROR_NS or len(kept) == last + 1:
            return kept
        pieces += max(1, pieces // 8)
