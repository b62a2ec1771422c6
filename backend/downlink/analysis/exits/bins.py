"""SEARCH's clock: bins of a fixed length from the first ACK on, and which row closes which bin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.exits.trace import AckTrace, Ints

FIRST_BLOCK_BINS = 16
LARGEST_BLOCK_BINS = 4_096
COARSEST_POLL_PER_BIN = 10
UNLIMITED_BINS = 2**62


@dataclass(frozen=True)
class BinClock:
    """The rules for bins: their length, the row that closes one, and the conditions that discard the history.

    window_factor: window length in tenths of the initial RTT. bins: bins per window. is_strict: a row exactly on a bin's end does
    not close it yet. missed_rtts: a reset when more bins pass at once than this many initial RTTs hold; missed_bins: or more than
    this many bins. None switches either off. relearn_above: a reset that skipped more bins also takes a new initial RTT.
    restarts_next_row: the row that finds the gap only clears; the next one starts again. resets_when_app_limited: closing a bin
    while the application had nothing to send starts again too, with the same bins.
    """

    window_factor: int = 35
    bins: int = 10
    is_strict: bool = False
    missed_rtts: int | None = None
    missed_bins: int | None = None
    relearn_above: int = 10
    restarts_next_row: bool = False
    resets_when_app_limited: bool = False

    def bin_us(self, initial_rtt_us: int) -> int:
        """Integer division as in the kernel; 0 only for an RTT of a few microseconds."""
        return initial_rtt_us * self.window_factor // (10 * self.bins)

    def allowed_bins(self, bin_us: int) -> int:
        """The largest number of bins that may pass at once. The module recovers the initial RTT from the bin, in integers."""
        if self.missed_rtts is None:
            return UNLIMITED_BINS if self.missed_bins is None else self.missed_bins
        initial_rtt_us = bin_us * self.bins * 10 // self.window_factor
        return self.missed_rtts * (initial_rtt_us // bin_us)


@dataclass(frozen=True)
class BinSpan:
    """The bins between a start and a reset. rows: the row that closed, indices: the bin it closed; both begin with the start (bin 0).

    A bin number that is missing in `indices` was passed without a row and keeps the value before it.
    """

    bin_us: int
    rows: Ints
    indices: Ints

    def at(self, values: Ints, indices: Ints) -> Ints:
        """A cumulative quantity at the close of bins; 0 before the first."""
        rows = np.searchsorted(self.indices, indices, side="right") - 1
        return np.where(indices < 0, 0, values[self.rows[rows]])


def hook_rows(trace: AckTrace) -> Ints:
    """The rows that reach a detector: those with an RTT sample."""
    return trace.hooked_rows


def too_coarse(trace: AckTrace, clock: BinClock) -> str | None:
    """Explain why the bins of this trace cannot be filled; None if they can."""
    rows = hook_rows(trace)
    if rows.size == 0:
        return f"no row has an RTT sample, rows come every {trace.spacing_us / 1e3:.1f} ms"
    bin_us = clock.bin_us(int(trace.rtt_us[rows[0]]))
    if bin_us < 1:
        return "the first RTT is too short for a bin of one microsecond"
    if not trace.is_per_ack and trace.spacing_us * COARSEST_POLL_PER_BIN > bin_us:
        return f"rows come every {trace.spacing_us / 1e3:.1f} ms, a bin of {bin_us / 1e3:.1f} ms needs {COARSEST_POLL_PER_BIN} of them"
    return None


def bin_spans(trace: AckTrace, clock: BinClock) -> Iterator[BinSpan]:
    """The spans in order. Loops over spans and blocks of bins, never over rows."""
    hooked = hook_rows(trace)
    time_us = trace.time_us[hooked]
    is_starved = np.zeros(len(hooked), bool)
    if clock.resets_when_app_limited and trace.app_limited is not None:
        is_starved = trace.app_limited[hooked] != 0
    start, bin_us = 0, 0
    while start < len(hooked):
        bin_us = bin_us or max(clock.bin_us(int(trace.rtt_us[hooked[start]])), 1)
        rows, indices, broken_at, passed = _span(time_us, is_starved, start, bin_us, clock)
        yield BinSpan(bin_us, hooked[rows], indices)
        if broken_at is None:
            return
        start = broken_at + (1 if clock.restarts_next_row else 0)
        if passed > clock.relearn_above and not is_starved[broken_at]:
            bin_us = 0


def _span(
    time_us: Ints, is_starved: NDArray[np.bool_], start: int, bin_us: int, clock: BinClock
) -> tuple[Ints, Ints, int | None, int]:
    """Closing rows and their bins from `start` to the next reset; the row of the reset and the bins passed there."""
    limit = clock.allowed_bins(bin_us)
    all_rows, all_indices = [np.array([start])], [np.array([0])]
    last_row, last_bin = start, 0
    block = FIRST_BLOCK_BINS
    while True:
        next_end_us = int(time_us[start]) + (last_bin + 1) * bin_us
        ends_us = next_end_us + bin_us * np.arange(block)
        rows = _closing_rows(time_us, last_row, ends_us, clock.is_strict)
        if rows.size == 0:
            return np.concatenate(all_rows), np.concatenate(all_indices), None, 0
        indices = (time_us[rows] - time_us[start]) // bin_us
        passed = np.diff(indices, prepend=last_bin)
        # On a strict clock a row exactly on an end closes the bin behind it as well, and the next row closes nothing.
        rows, indices, passed = rows[passed > 0], indices[passed > 0], passed[passed > 0]
        broken = np.flatnonzero(is_starved[rows] | (passed > limit))
        keep = int(broken[0]) if broken.size else len(rows)
        all_rows.append(rows[:keep])
        all_indices.append(indices[:keep])
        if broken.size:
            return np.concatenate(all_rows), np.concatenate(all_indices), int(rows[keep]), int(passed[keep])
        last_row, last_bin = int(rows[-1]), int(indices[-1])
        block = min(2 * block, LARGEST_BLOCK_BINS)


def _closing_rows(time_us: Ints, last_row: int, ends_us: Ints, is_strict: bool) -> Ints:
    """The rows after `last_row` that close the bins ending at ends_us, each once."""
    later = time_us[last_row + 1 :]
    rows = np.unique(np.searchsorted(later, ends_us, side="right" if is_strict else "left"))
    rows = rows[rows < len(later)]
    # A long silence can put the whole block before one row: that row alone closes them all.
    return rows + last_row + 1
