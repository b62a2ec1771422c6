"""Rounds: a window's worth of data, from the ACK that opens it to the ACK past what had been sent by then."""

from __future__ import annotations

import numpy as np

from downlink.analysis.exits.trace import AckTrace, Ints

ENDLESS_US = np.iinfo(np.int64).max // 4


def round_openings(acked_bytes: Ints, snd_nxt_bytes: Ints) -> Ints:
    """The rows that open a round: the first new ACK, then each first one past the data sent at the opening before."""
    openings: list[int] = []
    end = 0
    while (row := int(np.searchsorted(acked_bytes, end, side="right"))) < len(acked_bytes):
        openings.append(row)
        # Never less than what is acknowledged, or a damaged counter would open the same round for ever.
        end = max(int(snd_nxt_bytes[row]), int(acked_bytes[row]))
    return np.array(openings, dtype=np.int64)


def hooked_round_openings(trace: AckTrace, hooked: Ints) -> Ints:
    """The same among the rows that reach a detector, as positions within them. The trace must say what was sent."""
    if trace.snd_nxt_bytes is None:
        raise ValueError("rounds need the bytes sent")
    return round_openings(trace.acked_bytes[hooked], trace.snd_nxt_bytes[hooked])


def not_by_ack(trace: AckTrace) -> str | None:
    """Explain why the trace cannot be cut into rounds of single ACKs; None if it can."""
    if not trace.is_per_ack:
        return f"rows are polls {trace.spacing_us / 1e3:.1f} ms apart, every single ACK is needed"
    if trace.snd_nxt_bytes is None:
        return "the trace does not say what was sent, so that rounds have no end"
    if not np.any(trace.rtt_us >= 0):
        return "no row has an RTT sample"
    return None


def smallest_rtt_so_far(rtt_us: Ints) -> Ints:
    """The connection's minimum up to and with each row; rows without a sample do not count, 0 counts as 1."""
    return np.minimum.accumulate(np.where(rtt_us < 0, ENDLESS_US, np.maximum(rtt_us, 1)))
