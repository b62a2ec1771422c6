"""What the recorded flow itself did: when it left slow start, and when it first lost something."""

from __future__ import annotations

import numpy as np

from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS, AckTrace, first_rise
from downlink.analysis.exits.verdict import Rule, Verdict


def judge_observed_exit(trace: AckTrace) -> Verdict:
    """First row whose ssthresh is finite. True of loss-based controls; BBR never sets it."""
    rule = Rule("observed_exit", "ssthresh", {"resolution_us": _resolution_us(trace)})
    if trace.ssthresh_segments is None:
        return rule.undecidable("the trace does not record ssthresh")
    if (trace.congestion_control or "").startswith("bbr"):
        why = "BBR leaves its start without ssthresh"
        return Verdict(rule.detector, rule.version, None, None, rule.parameters, why)
    finite = np.flatnonzero(trace.ssthresh_segments < INFINITE_SSTHRESH_SEGMENTS)
    if finite.size == 0:
        return Verdict(rule.detector, rule.version, None, None, rule.parameters, "ssthresh stayed infinite to the end")
    row = int(finite[0])
    ssthresh = int(trace.ssthresh_segments[row])
    return _seen(rule, trace, row, f"ssthresh is {ssthresh} segments from here on", {"ssthresh_segments": ssthresh})


def judge_first_loss(trace: AckTrace) -> Verdict:
    """First row at which the lost or the retransmitted segments rise."""
    rule = Rule("first_loss", "lost or retransmitted", {"resolution_us": _resolution_us(trace)})
    counters = {"lost": trace.lost_segments, "retransmitted": trace.retrans_segments}
    held = {name: counter for name, counter in counters.items() if counter is not None}
    if not held:
        return rule.undecidable("the trace records neither lost nor retransmitted segments")
    rises = {name: row for name, counter in held.items() if (row := first_rise(counter)) is not None}
    if not rises:
        return Verdict(rule.detector, rule.version, None, None, rule.parameters, "no loss")
    which = min(rises, key=lambda name: rises[name])
    times = {f"{name}_us": int(trace.time_us[row]) for name, row in rises.items()}
    return _seen(rule, trace, rises[which], f"the first {which} segment", times)


def _resolution_us(trace: AckTrace) -> int:
    """How much earlier it may have happened: the time between rows; 0 when every ACK is there."""
    return 0 if trace.is_per_ack else trace.spacing_us


def _seen(rule: Rule, trace: AckTrace, row: int, why: str, quantities: dict[str, int]) -> Verdict:
    cwnd = None if trace.cwnd_segments is None else int(trace.cwnd_segments[row])
    return Verdict(rule.detector, rule.version, int(trace.time_us[row]), cwnd, rule.parameters, why, quantities)
