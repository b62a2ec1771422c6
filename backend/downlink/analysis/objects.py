"""Download times of objects of 1, 2, ... MB, read off one long download."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MB = 1_000_000


def object_times_s(elapsed_us: Ints, acked_bytes: Ints, first_byte_us: int) -> Floats:
    """Return when the cumulative goodput first reached 1, 2, ... MB, in seconds from the flow's first data byte.

    The counter rises linearly between samples, and counts from its first sample. Element N - 1 belongs to N MB.
    """
    if len(acked_bytes) < 2:
        return np.zeros(0)
    sizes = np.arange(MB, acked_bytes[-1] - acked_bytes[0] + 1, MB) + acked_bytes[0]
    after = np.searchsorted(acked_bytes, sizes)
    before = after - 1
    share = (sizes - acked_bytes[before]) / (acked_bytes[after] - acked_bytes[before])
    reached_us = elapsed_us[before] + share * (elapsed_us[after] - elapsed_us[before])
    times_s: Floats = (reached_us - first_byte_us) / 1e6
    return times_s


def shown_sizes_mb(most: int) -> Ints:
    """The sizes that a condition's curve has a point for, up to `most`: every MB to 100, every 10 to 1,000, then every 100.

    A long download has thousands of sizes: with all of them they were nine tenths of a report.
    """
    sizes = np.arange(1, most + 1)
    shown: Ints = sizes[sizes % np.select([sizes <= 100, sizes <= 1000], [1, 10], 100) == 0]
    return shown


def received_times_s(elapsed_us: Ints, received_bytes: Ints, request_us: int) -> Floats:
    """Return when the receiver first had 1, 2, ... MB in order, in seconds from its connection request: set-up and request included.

    request_us: when it dialled, on the clock of its samples; it had received nothing then.
    """
    if not len(received_bytes):
        return np.zeros(0)
    is_after = elapsed_us > request_us
    times, counter = (
        np.concatenate([[first], each[is_after]]) for first, each in ((request_us, elapsed_us), (0, received_bytes))
    )
    return object_times_s(times, counter, request_us)
