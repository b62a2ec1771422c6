"""The counts of a sketch as bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STORED = np.dtype(">i8")


def pack_counts(first: int, counts: NDArray[np.int64]) -> bytes:
    """The number of the first bin, then the counts from it on, as big-endian int64."""
    return np.concatenate(([first], counts)).astype(_STORED).tobytes()


def unpack_counts(packed: bytes) -> tuple[int, NDArray[np.int64]]:
    """Unpack the first index and the counts of pack_counts."""
    stored = np.frombuffer(packed, _STORED).astype(np.int64)
    return int(stored[0]), stored[1:]
