"""The times at which a flow filled its link, and the link's rate then."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.linkfit.recordings import Acks, Floats

BIN_S = 0.1
FRAMED_BIN_S = 1.0
RAMP_RATIO = 0.8
"""A flow has left its start when a second's rate first reaches this share of its fast seconds'."""
MARGIN_RATIO = 0.05
LEAST_MARGIN_MS = 3.0
LEAST_STALL_MS = 40.0
STALL_RATIO = 20


@dataclass(frozen=True)
class Usage:
    """A flow in bins of bin_s. rate_bps: of IP packets, NaN where the link was not full or stood still. stalls: (when in s, how long in
    ms) nothing came while packets waited. wait_ms: by acknowledgement, how much longer than on the idle link."""

    run: str
    bin_s: float
    rate_bps: Floats
    stalls: tuple[tuple[float, float], ...]
    wait_ms: Floats

    @property
    def full_s(self) -> float:
        return float(np.isfinite(self.rate_bps).sum()) * self.bin_s


def usage(flow: Acks, least_ms: float, most_ms: float, frame_ms: float | None) -> Usage | None:
    """least_ms, most_ms: of the idle link's round-trip time. None for a flow of less than two seconds."""
    known = flow.rtt_us > 0
    time_s, rtt_ms, bytes_ = flow.time_us[known] / 1e6, flow.rtt_us[known] / 1e3, flow.delivered_bytes[known]
    if len(time_s) < 2 or time_s[-1] - time_s[0] < 2:
        return None
    # Grants come and go within seconds, and acknowledgements with them: shorter bins show the return channel's course.
    bin_s = BIN_S if frame_ms is None else math.ceil(FRAMED_BIN_S * 1e3 / frame_ms) * frame_ms / 1e3
    edges = np.arange(time_s[0], time_s[-1], bin_s)
    at_edges = np.interp(edges, time_s, bytes_)
    rate = np.diff(at_edges) / bin_s * 8 * flow.packet_bytes / flow.mss_bytes
    floor = most_ms + max(LEAST_MARGIN_MS, MARGIN_RATIO * least_ms, 3 * (frame_ms or 0))
    is_full = _is_full(time_s, rtt_ms, edges, floor) & (edges[:-1] >= _ramp_end(edges, rate, bin_s))
    if flow.is_limited is not None:
        is_full &= ~_touched(time_s, flow.is_limited[known], edges)
    stalls = [each for each in _stalls(time_s, rtt_ms, floor, frame_ms) if _within(each[0], edges, is_full)]
    for begin, length_ms in stalls:
        is_full &= (edges[1:] < begin - length_ms / 1e3) | (edges[:-1] > begin + 2 * length_ms / 1e3)
    return Usage(
        flow.run, bin_s, np.where(is_full, rate, math.nan), tuple(stalls), rtt_ms - least_ms - (frame_ms or 0) / 2
    )


def _is_full(time_s: Floats, rtt_ms: Floats, edges: Floats, floor_ms: float) -> NDArray[np.bool_]:
    """Bins around which every packet waited: the hop had something to send all the while."""
    first, last = np.searchsorted(time_s, edges[:-1] - BIN_S), np.searchsorted(time_s, edges[1:] + BIN_S)
    return np.array([a < b and bool(rtt_ms[a:b].min() >= floor_ms) for a, b in zip(first, last, strict=True)], bool)


def _touched(time_s: Floats, flags: NDArray[np.bool_], edges: Floats) -> NDArray[np.bool_]:
    """Bins in which a flag was ever set."""
    counts = np.histogram(time_s[flags], edges)[0]
    return np.asarray(counts > 0)


def _ramp_end(edges: Floats, rate: Floats, bin_s: float) -> float:
    width = max(1, round(1 / bin_s))
    seconds = np.convolve(rate, np.ones(width) / width, "valid")
    if not len(seconds):
        return math.inf
    return float(edges[int(np.argmax(seconds >= RAMP_RATIO * np.quantile(seconds, 0.95)))])


def _within(at_s: float, edges: Floats, is_full: NDArray[np.bool_]) -> bool:
    """Return whether the link was full both before and after."""
    bin_number = int(np.searchsorted(edges, at_s)) - 1
    around = round(1 / (edges[1] - edges[0]))
    return bool(
        np.any(is_full[max(0, bin_number - around) : max(0, bin_number)])
        and np.any(is_full[bin_number + 1 : bin_number + 1 + around])
    )


def _stalls(time_s: Floats, rtt_ms: Floats, floor_ms: float, frame_ms: float | None) -> list[tuple[float, float]]:
    """Silences while packets waited, much longer than what lies between acknowledgements otherwise."""
    silence_ms = np.diff(time_s) * 1e3
    usual = float(np.median(silence_ms[silence_ms > 0])) if np.any(silence_ms > 0) else 0.0
    least = max(LEAST_STALL_MS, STALL_RATIO * usual, 3 * (frame_ms or 0))
    rows = np.flatnonzero((silence_ms >= least) & (rtt_ms[:-1] >= floor_ms))
    return [(float(time_s[i]), float(silence_ms[i]) - usual) for i in rows]
