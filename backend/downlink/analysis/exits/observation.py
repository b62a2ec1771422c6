"""Observations of the recorded flow itself: its exit from slow start and its first loss."""

from __future__ import annotations

from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS, AckTrace, first_rise
from downlink.analysis.exits.verdict import Rule, Verdict


def judge_observed_exit(trace: AckTrace) -> Verdict:
    """First row at which the window has reached a finite ssthresh. True of loss-based controls; BBR never sets one."""
    rule = Rule("observed_exit", "ssthresh", {"resolution_us": _resolution_us(trace)})
    if trace.ssthresh_segments is None:
        return rule.undecidable("the trace does not record ssthresh")
    if (trace.congestion_control or "").startswith("bbr"):
        return rule.never("BBR leaves its start without ssthresh")
    if trace.left_row is None:
        return rule.never(_why_never(trace))
    ssthresh = int(trace.ssthresh_segments[trace.left_row])
    is_lost = trace.loss_row is not None and trace.left_row >= trace.loss_row
    why = f"{'a loss set' if is_lost else 'the window has reached'} ssthresh, {ssthresh} segments from here on"
    return rule.seen_at(trace, trace.left_row, why, {"ssthresh_segments": ssthresh})


def judge_first_loss(trace: AckTrace) -> Verdict:
    """First row at which lost segments rise; retransmitted ones where nothing counts the lost."""
    rule = Rule("first_loss", "lost", {"resolution_us": _resolution_us(trace)})
    counters = {"lost": trace.lost_segments, "retransmitted": trace.retrans_segments}
    held = {name: counter for name, counter in counters.items() if counter is not None}
    if not held:
        return rule.undecidable("the trace records neither lost nor retransmitted segments")
    rises = {name: row for name, counter in held.items() if (row := first_rise(counter)) is not None}
    times = {f"{name}_us": int(trace.time_us[row]) for name, row in rises.items()}
    if trace.loss_row is None:
        return rule.never("no loss", times)
    return rule.seen_at(trace, trace.loss_row, f"the first {next(iter(held))} segment", times)


def _why_never(trace: AckTrace) -> str:
    if trace.ssthresh_segments is not None and (trace.ssthresh_segments < INFINITE_SSTHRESH_SEGMENTS).any():
        return "ssthresh was set, and the window did not reach it"
    return "ssthresh stayed infinite to the end"


def _resolution_us(trace: AckTrace) -> int:
    """Return by how many microseconds it may have happened earlier: the time between rows, 0 for a row per ACK."""
    return 0 if trace.is_per_ack else trace.spacing_us
