"""BEST: slow start aims at a bandwidth estimated from the spacing of ACKs (Kachooei 2022).

What the paper leaves open is taken from its authors' module.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.exits.rounds import hooked_round_openings, not_by_ack
from downlink.analysis.exits.trace import AckTrace
from downlink.analysis.exits.verdict import Rule, Verdict

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Best:
    """Parameters. percentile: of a round's estimates. first_round, last_round: rounds at whose opening the estimate may be taken.

    low_window: cwnd in segments from which ACKs are looked at. most_estimates: kept per round, later ones are dropped.
    merge_us: ACKs closer behind each other count as one (0: each counts alone, as in the module).
    """

    percentile: int = 50
    first_round: int = 4
    last_round: int = 7
    low_window: int = 16
    most_estimates: int = 300
    merge_us: int = 0


@dataclass(frozen=True)
class RoundEstimates:
    """Packet-pair estimates of one round, in arrival order. number: from 1. opening_row: the ACK that opened the round."""

    number: int
    opening_row: int
    rate_bps: Floats

    def percentile_mbps(self, percentile: int) -> int:
        """Return a percentile of the rates in whole Mb/s, as the kernel module keeps them; 0 without estimates."""
        if self.rate_bps.size == 0:
            return 0
        whole = np.sort(self.rate_bps // 1_000_000)
        return int(whole[min(len(whole) * percentile // 100, len(whole) - 1)])


def packet_pairs(trace: AckTrace, parameters: Best | None = None, *, rounds: int | None = None) -> list[RoundEstimates]:
    """The estimates of each of the first rounds (all of them without `rounds`); needs every ACK and what was sent.

    An estimate is the newly acknowledged bytes over the time since the ACK (or merged ACKs) before; 0 within one microsecond.
    """
    asked = parameters or Best()
    hooked = np.flatnonzero(trace.rtt_us >= 0)
    openings = hooked_round_openings(trace, hooked)
    stops = np.append(openings[1:], len(hooked))
    time_us = trace.time_us[hooked]
    # The last ACK of each bunch stands for it.
    is_last = np.append(np.diff(time_us) > asked.merge_us, True) if asked.merge_us else np.ones(len(hooked), bool)
    ends = np.flatnonzero(is_last)
    gained = np.diff(trace.acked_bytes[hooked[ends]]) * 8
    elapsed_us = np.diff(time_us[ends])
    rate_bps = np.divide(gained * 1e6, elapsed_us, out=np.zeros(len(gained)), where=elapsed_us > 0)
    is_seen = (trace.slow_start_cwnd_segments[hooked[ends]] >= asked.low_window)[1:]
    pairs = []
    for number, (first, stop) in enumerate(zip(openings[:rounds], stops[:rounds], strict=True), start=1):
        low, high = np.searchsorted(ends[1:], (first, stop))
        kept = rate_bps[low:high][is_seen[low:high]][: asked.most_estimates]
        pairs.append(RoundEstimates(number, int(hooked[first]), kept))
    return pairs


def judge_best(trace: AckTrace, parameters: Best | None = None) -> Verdict:
    """exit_us: when the window reaches the ssthresh that BEST set. BEST itself changes no window."""
    asked = parameters or Best()
    rule = Rule("best", "cubic_bw 2022-10", asdict(asked))
    if why := not_by_ack(trace):
        return rule.undecidable(why)
    estimates = packet_pairs(trace, asked, rounds=asked.last_round)
    for finished, opened in pairwise(estimates):
        rate_mbps = finished.percentile_mbps(asked.percentile)
        if opened.number >= asked.first_round and rate_mbps > 0:
            return _exit(rule, trace, opened, rate_mbps)
    return rule.without_exit(trace, f"no round up to {asked.last_round} gave an estimate", {"rounds": len(estimates)})


def _exit(rule: Rule, trace: AckTrace, opened: RoundEstimates, rate_mbps: int) -> Verdict:
    row = opened.opening_row
    ssthresh = rate_mbps * int(trace.rtt_us[row]) // (8 * int(trace.mss_bytes[row]))
    quantities = {
        "ssthresh_segments": ssthresh,
        "ssthresh_set_us": int(trace.time_us[row]),
        "estimate_mbps": rate_mbps,
        "rtt_us": int(trace.rtt_us[row]),
        "round": opened.number,
    }
    reached = np.flatnonzero(trace.slow_start_cwnd_segments[row:] >= ssthresh)
    if reached.size == 0:
        return rule.without_exit(trace, f"the window never reached the ssthresh of {ssthresh} segments", quantities)
    return rule.exit_at(
        trace, row + int(reached[0]), f"window reached ssthresh {ssthresh} from {rate_mbps} Mb/s", quantities
    )
