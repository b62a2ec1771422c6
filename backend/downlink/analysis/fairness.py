"""Fairness of flows that share a link."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def jain_index(throughputs: ArrayLike, axis: int = -1) -> NDArray[np.float64]:
    """Jain's index (sum x)^2 / (n sum x^2) over the flows along an axis: 1 for equal shares, 1/n when one takes all.

    NaN when a flow is missing, or when none carried anything. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
    """
    data = np.asarray(throughputs, dtype=np.float64)
    above = data.sum(axis=axis) ** 2
    below = data.shape[axis] * (data**2).sum(axis=axis)
    index: NDArray[np.float64] = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
    return index
