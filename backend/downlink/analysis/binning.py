"""One-second bins over samples: how far counters rise in each, and what gauges show on average."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Size = int | Ints | None

BIN_US = 1_000_000
MAX_GAP_US = 2_000_000
"""A bin without a sample is missing when it lies in a longer gap than this, and no state is held for longer."""
LAST_BIN_TOLERANCE_US = BIN_US // 100
"""The last bin may be this much short: tools and clocks end a second some microseconds early."""


@dataclass(frozen=True)
class SecondBins:
    """The bins of one second and their edges among the samples.

    edges_us: bins + 1, the last where the trace ends if that is less than a full second. before, share: each edge lies
    `share` of the way from sample `before` to the next one; outside the trace it lies on the nearest sample.
    is_missing: empty bins in long gaps. is_unknown: those of them before the first sample, of which counters say nothing.
    """

    time_us: Ints
    edges_us: Ints
    before: NDArray[np.intp]
    share: Floats
    is_missing: NDArray[np.bool_]
    is_unknown: NDArray[np.bool_]

    @classmethod
    def of(
        cls, time_us: Ints, first_byte_us: int, duration_s: float | None, silence_until_us: int | None = None
    ) -> SecondBins:
        """duration_s: later bins are left out. silence_until_us: of a trace in which the absence of rows says that nothing
        came, its end at the latest; such a trace has no gaps."""
        end_us = int(time_us[-1]) if len(time_us) > 1 else first_byte_us
        if silence_until_us is not None:
            end_us = max(end_us, silence_until_us)
        if duration_s is not None:
            end_us = min(end_us, first_byte_us + round(duration_s * 1e6))
        edges_us = _edges(first_byte_us, end_us)
        starts = np.searchsorted(time_us, edges_us)
        is_empty = np.diff(starts) == 0
        if len(time_us) < 2:
            return cls(time_us, edges_us[:1], starts[:1], np.zeros(1), is_empty[:0], is_empty[:0])
        before = np.clip(starts - 1, 0, len(time_us) - 2)
        step_us = time_us[before + 1] - time_us[before]
        # Imported ACKs may share a microsecond; such a step lies before the first edge only, where the share is 0.
        share = np.clip((edges_us - time_us[before]) / np.maximum(step_us, 1), 0, 1)
        is_before = starts[:-1] == 0
        # An empty bin lies between two neighbouring samples, or before the first one.
        gap_us = np.where(is_before, time_us[0] - first_byte_us, step_us[:-1])
        is_missing = is_empty & (gap_us > MAX_GAP_US) & (silence_until_us is None)
        return cls(time_us, edges_us, before, share, is_missing, is_missing & is_before)

    @property
    def count(self) -> int:
        return len(self.is_missing)

    @property
    def length_s(self) -> Floats:
        """Lengths of the bins in seconds, of shape (bins,): 1, and less for an incomplete last one."""
        length_s: Floats = np.diff(self.edges_us) / BIN_US
        return length_s

    def rise(self, counter: Ints | None, unit_bytes: Size = 1) -> Floats:
        """Return by how many bytes a counter of units rises in each bin, of shape (bins,); each new unit has the size of its own
        sample.

        Linear between the samples around an edge, over gaps too: a counter knows what came meanwhile.
        """
        if counter is None or unit_bytes is None or not self.count:
            return np.full(self.is_missing.shape, np.nan)
        if not isinstance(unit_bytes, int):
            return self.rise(np.cumsum(np.diff(counter, prepend=0) * unit_bytes))
        left = counter[self.before]
        at_edges = left + self.share * (counter[self.before + 1] - left)
        rise: Floats = np.diff(at_edges) * unit_bytes
        rise[self.is_unknown] = np.nan
        return rise

    def shown(self, values: Floats) -> Floats:
        """The same values, missing in gaps."""
        return np.where(self.is_missing, np.nan, values)

    def mean(self, gauge: Ints | None) -> Floats:
        """The mean over the time of each bin that holds a sample: a state lasts until the next sample, for 2 s at most."""
        return self._mean(self._holding, gauge)

    def mean_bytes(self, segments: Ints | None, mss_bytes: Size) -> Floats:
        return self.mean(None if segments is None or mss_bytes is None else segments * mss_bytes)

    def mean_of_positive(self, gauge: Ints | None) -> Floats:
        """The same of the samples above zero: a poll says 0 for an RTT that is not measured yet, an ACK without one -1."""
        if gauge is None:
            return self.mean(None)
        is_measured = gauge > 0
        if is_measured.all():
            return self.mean(gauge)
        measured = gauge[is_measured]
        return self._mean(_Holding.of(self.time_us[is_measured], self.edges_us) if len(measured) else None, measured)

    @cached_property
    def _holding(self) -> _Holding | None:
        return _Holding.of(self.time_us, self.edges_us) if len(self.time_us) else None

    def _mean(self, holding: _Holding | None, gauge: Ints | None) -> Floats:
        means = np.full(self.is_missing.shape, np.nan)
        if gauge is None or holding is None or not self.count:
            return means
        last, within_us = holding.last, holding.within_us
        whole = np.add.reduceat(np.multiply(holding.held_us, gauge, dtype=float), last)[:-1]
        # Where an edge has the sample of the edge before it, reduceat answers with that sample instead of nothing.
        sums = np.where(np.diff(last) > 0, whole, 0.0) + np.diff(within_us * gauge[last].astype(float))
        np.divide(sums, holding.spans_us, out=means, where=holding.is_there)
        return means


@dataclass(frozen=True)
class _Holding:
    """The time for which each sample holds, the same for every gauge.

    last: the sample that holds at each edge, within_us: for how long it has. spans_us: of each bin, the time with a state.
    is_there: bins with a sample and a state.
    """

    held_us: Ints
    last: NDArray[np.intp]
    within_us: Ints
    spans_us: Floats
    is_there: NDArray[np.bool_]

    @classmethod
    def of(cls, time_us: Ints, edges_us: Ints) -> _Holding:
        """time_us: of one sample at least."""
        has_sample = np.diff(np.searchsorted(time_us, edges_us)) > 0
        held_us = np.minimum(np.diff(time_us, append=time_us[-1] + MAX_GAP_US), MAX_GAP_US)
        weight = np.concatenate([[0.0], np.cumsum(held_us)])
        last = np.maximum(np.searchsorted(time_us, edges_us, side="right") - 1, 0)
        within_us = np.clip(edges_us - time_us[last], 0, held_us[last])
        spans_us = np.diff(weight[last] + within_us)
        return cls(held_us, last, within_us, spans_us, has_sample & (spans_us > 0))


def _edges(first_byte_us: int, end_us: int) -> Ints:
    count = max(0, (end_us - first_byte_us + LAST_BIN_TOLERANCE_US) // BIN_US)
    edges_us = first_byte_us + BIN_US * np.arange(count + 1)
    edges_us[-1] = min(edges_us[-1], end_us) if count else first_byte_us
    return edges_us


def divide(above: Floats, below: Floats) -> Floats:
    """above / below, missing where below is not above zero."""
    ratio: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return ratio
