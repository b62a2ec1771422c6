"""Samples of a long trace for a plot, thinned so that no peak is lost: of each step of time the least and the greatest stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS
from downlink.domain.doc import Doc

Ints = NDArray[np.int64]
TIME = "elapsed_us"
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class SampledColumn:
    """Single samples as they were taken, each with its own time."""

    time_us: Annotated[list[int], Doc("From the run's zero")]
    values: Annotated[list[int | None], Doc("Null where the kernel had no value, as an ssthresh that was never set")]


@dataclass
class Thinning:
    """Takes a trace part by part and never holds more than one part and the points of each column.

    names: the columns that are wanted. unset: those in which a negative number says that there is no value. A span of
    [from_us, to_us] of up to `points` samples stays whole; of a longer one each column keeps `points` samples at most, so that
    `points` must be even and at least 2.
    """

    names: tuple[str, ...]
    unset: frozenset[str]
    from_us: int
    to_us: int
    points: int
    count: int = 0
    """Samples within the span so far."""
    _held: dict[str, tuple[Ints, Ints]] = field(default_factory=dict)

    @property
    def is_thinned(self) -> bool:
        return self.count > self.points

    def __post_init__(self) -> None:
        nothing = np.arange(0)
        self._held = dict.fromkeys(self.names, (nothing, nothing))

    def take(self, parts: Iterable[Mapping[str, Ints]]) -> None:
        """Further parts in their order, each with the time and the wanted columns."""
        for part in parts:
            rows = slice(*np.searchsorted(part[TIME], (self.from_us, self.to_us + 1)))
            self.count += len(part[TIME][rows])
            self._held = {name: self._joined(name, part[TIME][rows], part[name][rows]) for name in self.names}

    def _joined(self, name: str, time_us: Ints, values: Ints) -> tuple[Ints, Ints]:
        before_us, before = self._held[name]
        time_us, values = np.concatenate((before_us, time_us)), np.concatenate((before, values))
        if not self.is_thinned:
            return time_us, values
        steps = max(1, self.points // 2)
        step_of = (time_us - self.from_us) * steps // max(1, self.to_us - self.from_us + 1)
        kept = least_and_greatest(step_of, values, self._is_missing(name, values))
        return time_us[kept], values[kept]

    def _is_missing(self, name: str, values: Ints) -> NDArray[np.bool_]:
        if name == "ssthresh_segments":
            return values >= INFINITE_SSTHRESH_SEGMENTS
        return values < 0 if name in self.unset else np.zeros(len(values), np.bool_)

    def courses(self) -> dict[str, SampledColumn]:
        """Return the thinned columns by name."""
        return {name: self._course(name, *held) for name, held in self._held.items()}

    def _course(self, name: str, time_us: Ints, values: Ints) -> SampledColumn:
        is_missing = self._is_missing(name, values)
        shown: list[int | None] = values.tolist()
        for at in np.flatnonzero(is_missing):
            shown[at] = None
        return SampledColumn(time_us.tolist(), shown)


def least_and_greatest(step_of: Ints, values: Ints, is_missing: NDArray[np.bool_]) -> Ints:
    """The positions, rising, of the first least and the first greatest value of each step. step_of: rising, the step of each value.

    Missing values count only in a step that has no other: its first one stays, so that the gap is seen.
    """
    if len(values) == 0:
        return np.arange(0)
    starts = np.flatnonzero(np.diff(step_of, prepend=step_of[0] - 1))
    sizes = np.diff(starts, append=len(values))
    least = _first_least(np.where(is_missing, LARGEST, values), starts, sizes)
    greatest = _first_least(np.where(is_missing, LARGEST, -values), starts, sizes)
    return np.union1d(least, greatest)


def _first_least(values: Ints, starts: Ints, sizes: Ints) -> Ints:
    rows = np.flatnonzero(values == np.repeat(np.minimum.reduceat(values, starts), sizes))
    return rows[np.searchsorted(rows, starts)]
