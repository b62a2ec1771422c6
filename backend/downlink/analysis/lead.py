"""The end of a flow's lead over those beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from downlink.analysis.binning import Floats

SPAN_BINS = 10
"""Single seconds of TCP are too uneven to be compared."""


def lead_end_s(own: Floats, others: Sequence[Floats]) -> tuple[float, float]:
    """Return the second at which a flow's lead ends, and the second up to which that was watched.

    own, others: throughput by second of flows that begin together, NaN where nothing is known. The lead ends with the first second
    from which the flow has, over ten seconds, no more than the fastest of the others; NaN where it leads to the end.
    """
    bins = min(len(own), *map(len, others))
    means = _means(own[:bins])
    fastest = np.max([_means(each[:bins]) for each in others], axis=0)
    is_known = ~np.isnan(means) & ~np.isnan(fastest)
    if not is_known.any():
        return np.nan, np.nan
    (ended,) = np.nonzero(is_known & (means <= fastest))
    return (float(ended[0]) if len(ended) else np.nan), float(np.flatnonzero(is_known)[-1])


def _means(rates: Floats) -> Floats:
    """The mean of each ten seconds, by the second at which they begin."""
    if len(rates) < SPAN_BINS:
        return np.full(0, np.nan)
    means: Floats = sliding_window_view(rates, SPAN_BINS).mean(axis=1)
    return means
