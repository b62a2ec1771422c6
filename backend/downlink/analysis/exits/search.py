"""SEARCH 3.1 and 4.0: slow start ends when a window of deliveries falls behind what came before.

3.1 as the Linux module does it, integer by integer; 4.0 as its QUIC implementer reads draft -09 (`docs/exits.md`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from downlink.analysis.exits.bins import BinClock, BinSpan, bin_spans, too_coarse
from downlink.analysis.exits.sweep_parameters import swept
from downlink.analysis.exits.trace import AckTrace, Ints
from downlink.analysis.exits.verdict import Rule, Verdict

EXTRA_BINS = 15
U16_BITS = 16


@dataclass(frozen=True)
class Search31:
    """Parameters of version 3.1. alpha: missed-bin limit in RTTs. threshold_percent: of twice the earlier deliveries.

    resets_when_app_limited: as the module does with the socket's mark; per-ACK logs usually hold the rate sample's instead.
    """

    window_factor: int = swept(35, 1, 10, "RTT", "Length of the window", steps=10)
    bins: int = swept(10, 2, 40, "bins", "Bins in the window")
    threshold_percent: int = swept(35, 1, 100, "%", "Norm from which slow start ends")
    alpha: int = swept(2, 1, 100, "RTT", "Silence after which the history is thrown away")
    resets_when_app_limited: bool = False

    @property
    def clock(self) -> BinClock:
        return BinClock(
            self.window_factor,
            self.bins,
            missed_rtts=self.alpha,
            relearn_above=self.bins,
            resets_when_app_limited=self.resets_when_app_limited,
        )


@dataclass(frozen=True)
class Search40:
    """Parameters of version 4.0. threshold_percent: of the bytes sent one RTT ago."""

    window_factor: int = swept(35, 1, 10, "RTT", "Length of the window", steps=10)
    bins: int = swept(10, 2, 40, "bins", "Bins in the window")
    threshold_percent: int = swept(26, 1, 100, "%", "Norm from which slow start ends")

    @property
    def clock(self) -> BinClock:
        return BinClock(
            self.window_factor,
            self.bins,
            is_strict=True,
            missed_bins=self.bins,
            relearn_above=0,
            restarts_next_row=True,
        )


@dataclass(frozen=True)
class NormCurve:
    """The tests that a version made: at which row, with which bins, windows and outcome in percent."""

    bin_us: int
    rows: Ints
    indices: Ints
    earlier_bytes: Ints
    current_bytes: Ints
    norm_percent: Ints

    def first_at_least(self, threshold_percent: int) -> int | None:
        """Position of the first test that asks for an exit."""
        hits = np.flatnonzero(self.norm_percent >= threshold_percent)
        return int(hits[0]) if hits.size else None


Curves = Iterable[NormCurve | None]
"""The tests of each span in order; None for a span that is shorter than a window."""


def search_31_curves(trace: AckTrace, asked: Search31) -> Curves:
    """Yield the curves that SEARCH 3.1 tests, whatever its threshold."""
    for span in bin_spans(trace, asked.clock):
        yield norm_curve_31(trace, span, asked.bins) if span.indices[-1] >= asked.bins else None


def search_40_curves(trace: AckTrace, asked: Search40) -> Curves:
    """Yield the curves that SEARCH 4.0 tests, whatever its threshold."""
    for span in bin_spans(trace, asked.clock):
        yield norm_curve_40(trace, span, asked.bins) if span.indices[-1] >= asked.bins else None


def judge_search_31(trace: AckTrace, parameters: Search31 | None = None, curves: Curves | None = None) -> Verdict:
    """SEARCH 3.1: deliveries now against twice those of one RTT ago. curves: where they are known already."""
    asked = parameters or Search31()
    rule = Rule("search", "3.1", asdict(asked))
    return _judge(rule, trace, asked.clock, asked.threshold_percent, curves or search_31_curves(trace, asked))


def judge_search_40(trace: AckTrace, parameters: Search40 | None = None, curves: Curves | None = None) -> Verdict:
    """SEARCH 4.0: deliveries now against bytes sent one RTT ago. curves: where they are known already."""
    asked = parameters or Search40()
    rule = Rule("search", "4.0", asdict(asked))
    if trace.snd_nxt_bytes is None:
        return rule.undecidable("the trace does not say what was sent")
    return _judge(rule, trace, asked.clock, asked.threshold_percent, curves or search_40_curves(trace, asked))


def _judge(rule: Rule, trace: AckTrace, clock: BinClock, threshold: int, curves: Curves) -> Verdict:
    if why := too_coarse(trace, clock):
        return rule.undecidable(why)
    highest, resets = -1, -1
    for curve in curves:
        resets += 1
        if curve is None:
            continue
        if (hit := curve.first_at_least(threshold)) is not None:
            return _exit(rule, trace, curve, hit, resets)
        highest = max(highest, int(curve.norm_percent.max(initial=-1)))
    return rule.without_exit(
        trace, f"the norm never reached {threshold} %", {"highest_norm_percent": highest, "resets": resets}
    )


def _exit(rule: Rule, trace: AckTrace, curve: NormCurve, hit: int, resets: int) -> Verdict:
    norm = int(curve.norm_percent[hit])
    quantities = {
        "bin_us": curve.bin_us,
        "bin_index": int(curve.indices[hit]),
        "norm_percent": norm,
        "earlier_bytes": int(curve.earlier_bytes[hit]),
        "current_bytes": int(curve.current_bytes[hit]),
        "resets": resets,
    }
    return rule.exit_at(
        trace, int(curve.rows[hit]), f"norm {norm} % >= {rule.parameters['threshold_percent']} %", quantities
    )


def norm_curve_31(trace: AckTrace, span: BinSpan, width: int) -> NormCurve:
    """Every test of 3.1 within a span; windows in bytes after the 16-bit bins have lost their low bits."""
    rows, current, earlier, percent = _lookback(trace, span)
    tested = (earlier >= width) & (current - earlier < EXTRA_BINS - 1)
    rows, current, earlier, percent = rows[tested], current[tested], earlier[tested], percent[tested]
    # Bins are 16 bits wide: all are shifted together until the newest one fits.
    shift = np.maximum(_bit_length(trace.acked_bytes[rows]) - U16_BITS, 0)

    def held(index: Ints) -> Ints:
        return span.at(trace.acked_bytes, index) >> shift

    now = held(current) - held(current - width)
    left, right = earlier - width, earlier
    before = (
        (held(right - 1) - held(left))
        + (held(left) - held(left - 1)) * percent // 100
        + (held(right) - held(right - 1)) * (100 - percent) // 100
    )
    # The unsigned test: no decision without earlier deliveries, no exit while deliveries more than double.
    norm = np.where((before > 0) & (2 * before >= now), (2 * before - now) * 100 // np.maximum(2 * before, 1), -1)
    return NormCurve(span.bin_us, rows, current, before << shift, now << shift, norm)


def norm_curve_40(trace: AckTrace, span: BinSpan, width: int) -> NormCurve:
    """Every test of 4.0 within a span."""
    if trace.snd_nxt_bytes is None:
        raise ValueError("SEARCH 4.0 needs the bytes sent")
    rows, current, earlier, percent = _lookback(trace, span)
    tested = (earlier > width) & (current - earlier < EXTRA_BINS)
    rows, current, earlier, percent = rows[tested], current[tested], earlier[tested], percent[tested]
    sent, acked = trace.snd_nxt_bytes, trace.acked_bytes
    now = span.at(acked, current) - span.at(acked, current - width)
    newer = span.at(sent, earlier) - span.at(sent, earlier - width)
    older = span.at(sent, earlier - 1) - span.at(sent, earlier - 1 - width)
    before = (older * percent + newer * (100 - percent)) // 100
    norm = np.where(before > 0, np.maximum(before - now, 0) * 100 // np.maximum(before, 1), -1)
    return NormCurve(span.bin_us, rows, current, before, now, norm)


def _lookback(trace: AckTrace, span: BinSpan) -> tuple[Ints, Ints, Ints, Ints]:
    """Return for every closing row: the row, its bin, the bin one RTT earlier and how far the RTT reaches past it, in percent."""
    rows, current = span.rows[1:], span.indices[1:]
    rtt_us = np.maximum(trace.rtt_us[rows], 1)
    return rows, current, current - rtt_us // span.bin_us, rtt_us % span.bin_us * 100 // span.bin_us


def _bit_length(values: Ints) -> Ints:
    """Number of bits of non-negative integers below 2^53."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)
