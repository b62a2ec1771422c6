"""One-second bins of several quantities as bytes, the way PostgreSQL writes doubles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STORED = np.dtype(">f8")


def pack_series(values: Floats) -> bytes:
    """values: (quantities, bins), NaN where missing."""
    return np.ascontiguousarray(values, _STORED).tobytes()


def unpack_series(packed: bytes, quantities: Sequence[str], wanted: Sequence[str]) -> Floats:
    """The wanted quantities (wanted, bins), NaN for those that are not there."""
    stored = np.frombuffer(packed, _STORED).reshape(len(quantities), -1)
    if list(quantities) == list(wanted):
        return stored.astype(np.float64)
    rows = dict(zip(quantities, stored, strict=True))
    absent = np.full(stored.shape[1], np.nan)
    return np.array([rows.get(name, absent) for name in wanted], np.float64)


def pack_seconds(seconds: Sequence[Sequence[float | None]]) -> bytes:
    """The same from a list with the quantities of each second; None is missing."""
    return pack_series(np.array(seconds, np.float64).T)
