"""The frames over which a terminal takes the rate and the share that it asks for (`frames.request_frames`).

The law is that of the emulator (agents/internal/lab/emulate/frames.go), in acknowledgements instead of bytes: what came to the terminal
is put through it for every delay and number of frames, and what then would have waited is held against what did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from downlink.analysis.linkfit.recordings import Floats, Ints

MOST_DELAY_FRAMES = 100
MOST_REQUEST_FRAMES = 60
DELAYS, NUMBERS = (
    each.ravel()
    for each in np.meshgrid(np.arange(1, MOST_DELAY_FRAMES + 1), np.arange(1, MOST_REQUEST_FRAMES + 1), indexing="ij")
)
"""Every pair of a delay of grants and a number of request frames."""


class Course(Protocol):
    """A course by frame: how many acknowledgements waited for it, and how many of these it carried."""

    @property
    def waited(self) -> Ints: ...
    @property
    def carried(self) -> Ints: ...


def squares(seen: Course, base: int, delays: Ints, numbers: Ints, hold: int = 0) -> Floats:
    """Return how far each law is off: squares of the difference between the roots of what waits and what waited, summed over all
    frames.

    base: acknowledgements that a frame carries unasked. delays, numbers: in frames, a law each; a number 0 asks for all that waits.
    hold: nothing is granted before this frame.
    """
    came = np.diff(seen.waited + np.cumsum(seen.carried) - seen.carried, prepend=0)
    laws = np.arange(len(delays))
    asked = np.zeros((len(came), len(delays)))
    beyond = np.zeros((len(came) + 1, len(delays)))
    waiting, unasked, off = (np.zeros(len(delays)) for _ in range(3))
    share = np.maximum(numbers, 1)
    for frame, (new, waited) in enumerate(zip(came, seen.waited, strict=True)):
        waiting = waiting + new
        off += (np.sqrt(waiting) - np.sqrt(waited)) ** 2
        beyond[frame + 1] = beyond[frame] + new - unasked
        rate = beyond[frame + 1] - beyond[np.maximum(frame + 1 - numbers, 0), laws]
        asked[frame] = np.where(numbers > 0, (np.maximum(rate, 0) + waiting) / share, waiting)
        granted = np.where((frame >= delays) & (frame >= hold), asked[np.maximum(frame - delays, 0), laws], 0)
        unasked = np.minimum(waiting, base)
        waiting = waiting - unasked - np.minimum(waiting - unasked, np.floor(granted))
    return off


def nearest(off: Sequence[Floats]) -> tuple[float, float]:
    """The delay and the number of request frames whose squares, of all flows together, are least."""
    best = int(np.argmin(np.sum(off, axis=0)))
    return float(DELAYS[best]), float(NUMBERS[best])
