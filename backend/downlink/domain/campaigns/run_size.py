"""Duration and volume of one run, as far as they are known before it starts. Pure."""

from __future__ import annotations

import math

from downlink.domain.campaigns.campaign import Condition
from downlink.domain.campaigns.flow_plan import FlowPlan, Probe
from downlink.domain.links.link import Link
from downlink.domain.runs.run import transfer_deadline_s

SETUP_S = 5.0
"""Prepare, common go, restore and upload, apart from the round trips they take."""
SETUP_ROUND_TRIPS = 10
WIRE_RATIO = 1500 / 1448
"""Bytes on the link per byte of payload: IPv4, TCP and timestamps in a 1500-byte packet."""
PROBE_WIRE_BYTES = 92
"""A probe of 64 bytes with UDP and IPv4 headers."""
FASTER_THAN_NOMINAL = 4
BURST_BYTES = 64 * 2**20
"""Bytes that buffers along the way may hold, and that a link of some kb/s may carry besides."""
INITIAL_WINDOW_BYTES = 10 * 1448
"""RFC 6928."""


def run_duration_s(condition: Condition, link: Link) -> float:
    """Estimate how many seconds one run holds its link, set-up and upload included."""
    round_trip_s = link.base_rtt_ms / 1000
    overhead_s = SETUP_S + SETUP_ROUND_TRIPS * round_trip_s
    if condition.stop.seconds is not None:
        return condition.stop.seconds + overhead_s
    start_up_s = round_trip_s * _slow_start_rounds(link)
    last_start_s = max(flow.start_s for flow in condition.flows)
    return last_start_s + start_up_s + run_bytes(condition, link) * 8 / link.nominal_rate_bps + overhead_s


def deadline_s(condition: Condition, link: Link) -> float:
    """The hard limit of a transfer of the condition over the link, from the run's zero."""
    stop, last_start_s = condition.stop, max(flow.start_s for flow in condition.flows)
    return transfer_deadline_s(stop.seconds, stop.bytes, last_start_s, link.base_rtt_ms, link.nominal_rate_bps)


def most_bytes(nominal_rate_bps: int, seconds: float) -> int:
    """Return the most bytes that a link can carry in this time, if it is FASTER_THAN_NOMINAL times as fast as its nominal rate."""
    return round(nominal_rate_bps / 8 * seconds * FASTER_THAN_NOMINAL) + BURST_BYTES


def _slow_start_rounds(link: Link) -> float:
    """Doublings from the initial window to the bandwidth-delay product."""
    bdp_bytes = link.nominal_rate_bps / 8 * link.base_rtt_ms / 1000
    return max(0.0, math.log2(bdp_bytes / INITIAL_WINDOW_BYTES))


def run_bytes(condition: Condition, link: Link) -> int:
    """Estimate the most bytes that one run carries over the link: a full link for a run by seconds, each flow's payload for a run by
    bytes.

    Probes beside data find room in that; where nothing else is sent, they are all.
    """
    if condition.stop.bytes is None:
        seconds = condition.stop.seconds or 0
        if all(flow.is_probe for flow in condition.flows):
            return round(seconds * sum(map(_probe_bytes_per_s, condition.flows)))
        return round(link.nominal_rate_bps / 8 * seconds)
    return round(condition.stop.bytes * len(condition.flows) * WIRE_RATIO)


def _probe_bytes_per_s(flow: FlowPlan) -> float:
    return PROBE_WIRE_BYTES * 1000 / flow.transport.every_ms if isinstance(flow.transport, Probe) else 0.0
