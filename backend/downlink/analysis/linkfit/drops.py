"""Losses of TCP flows: which of them a full queue made, and which the link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from downlink.analysis.linkfit.losses import GROUP_S, LEVELS, STANDS_OUT, Events
from downlink.analysis.linkfit.recordings import Acks, Floats, Ints

BUSY_RATIO = 0.3
"""Least share of the link's rate that a flow must have had within a second for its losses to count: packets come
evenly then."""
EXCESS = 3.0


@dataclass(frozen=True)
class Queue:
    """bytes_: that waited when losses began that the queue made; or, where it made none (is_full False), the most that ever waited."""

    bytes_: float
    is_full: bool
    events: int


@dataclass(frozen=True)
class _Flow:
    """A flow by acknowledgement: packets delivered and lost with it, the bytes that had waited before it, the rate in packets/s
    around it."""

    time_s: Floats
    packets: Floats
    lost: Ints
    queued_bytes: Floats
    rate: Floats


def split(
    flows: Sequence[Acks], least_ms: float, mean_bps: float, frame_ms: float | None
) -> tuple[list[Events], Queue | None]:
    """Events that the link made, and what the others say of its queue. mean_bps: the link's rate."""
    seen = [each for each in (_flow(flow, least_ms, frame_ms) for flow in flows) if each is not None]
    if not seen:
        return [], None
    packet_bytes = float(np.median([flow.packet_bytes for flow in flows]))
    full = mean_bps / 8 / packet_bytes
    limit = _limit_bytes(seen, full)
    events = [event for event in (_events(each, limit, full, frame_ms) for each in seen) if event is not None]
    return events, _queue(seen, limit)


def _flow(flow: Acks, least_ms: float, frame_ms: float | None) -> _Flow | None:
    time_s = flow.time_us / 1e6
    if len(time_s) < 2 or time_s[-1] - time_s[0] < 2:
        return None
    known = flow.rtt_us > 0
    wait = np.interp(time_s, time_s[known], flow.rtt_us[known] / 1e3) - least_ms - (frame_ms or 0) / 2
    packets = np.diff(flow.delivered_bytes, prepend=flow.delivered_bytes[0]) / flow.mss_bytes
    delivered = np.cumsum(packets)
    before, after = (np.interp(time_s + side, time_s, delivered) for side in (-0.5, 0.5))
    lost = np.maximum(0, np.diff(flow.lost_segments, prepend=flow.lost_segments[0]))
    # What was delivered while a packet waited is what waited before it, however the rate changed meanwhile.
    queued = delivered - np.interp(time_s - np.maximum(0, wait) / 1e3, time_s, delivered)
    return _Flow(time_s, packets, lost, queued * flow.packet_bytes, after - before)


def _limit_bytes(seen: Sequence[_Flow], full: float) -> float:
    """The queue from which on there are more losses than below: what comes then meets one that drops. Infinite if there is none."""
    queued = np.concatenate([each.queued_bytes[each.rate >= BUSY_RATIO * full] for each in seen])
    packets = np.concatenate([each.packets[each.rate >= BUSY_RATIO * full] for each in seen])
    lost = np.concatenate([each.lost[each.rate >= BUSY_RATIO * full] for each in seen])
    if not len(queued):
        return math.inf
    order = np.argsort(queued)
    shares = np.cumsum(packets[order]) / max(packets.sum(), 1)
    level = np.minimum((shares * LEVELS).astype(int), LEVELS - 1)
    events = np.bincount(level, weights=(lost[order] > 0).astype(float), minlength=LEVELS)
    sent = np.bincount(level, weights=packets[order], minlength=LEVELS)
    begins = [
        float(queued[order][np.searchsorted(level, each)]) if np.any(level == each) else math.inf
        for each in range(LEVELS)
    ]
    for each in range(LEVELS // 2, LEVELS):
        below_events, below_sent = events[:each].sum() + 0.5, max(sent[:each].sum(), 1)
        expected = below_events / below_sent * sent[each]
        if events[each] > EXCESS * expected and scipy.stats.poisson.sf(events[each] - 1, expected) < STANDS_OUT:
            return begins[each]
    return math.inf


def _events(flow: _Flow, limit: float, full: float, frame_ms: float | None) -> Events | None:
    counts = (flow.rate >= BUSY_RATIO * full) & (flow.queued_bytes < limit)
    packets = float(flow.packets[counts].sum())
    if packets < 100:
        return None
    places = np.flatnonzero(flow.lost > 0)
    apart = max(GROUP_S, 1.5 * (frame_ms or 0) / 1e3)
    groups = np.split(places, np.flatnonzero(np.diff(flow.time_s[places]) > apart) + 1) if len(places) else []
    sizes = [int(flow.lost[group].sum()) for group in groups if counts[max(0, group[0] - 1)] and counts[group[0]]]
    mean_rate = packets / float(np.diff(flow.time_s, prepend=flow.time_s[0])[counts].sum())
    return Events(np.array(sizes, np.int64), packets, packets / mean_rate, 1 / mean_rate)


def _queue(seen: Sequence[_Flow], limit: float) -> Queue | None:
    queued = np.concatenate([each.queued_bytes for each in seen])
    if not math.isfinite(limit):
        return Queue(float(np.quantile(queued, 0.999)), False, 0)
    at_losses = np.concatenate([each.queued_bytes[(each.lost > 0) & (each.queued_bytes >= limit)] for each in seen])
    return Queue(float(np.median(at_losses)), True, len(at_losses))
