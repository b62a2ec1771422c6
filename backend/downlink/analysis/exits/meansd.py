"""The threshold that Peters 2021 proposes for HyStart, replayed: mean and standard deviation of the RTTs seen so far.

The rest of the rule is the delay detector of Linux 6.x: rounds, the ninth sample of a round, the smallest RTT of it (`docs/exits.md`).
All arithmetic is in whole microseconds, as a kernel's is.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isqrt

import numpy as np

from downlink.analysis.exits.rounds import hooked_round_openings, not_by_ack
from downlink.analysis.exits.sweep_parameters import swept
from downlink.analysis.exits.trace import AckTrace, Ints
from downlink.analysis.exits.verdict import Rule, Verdict

MOST_RTT_US = 2**22 - 1
MOST_SAMPLES = 2**18


@dataclass(frozen=True)
class MeanDeviation:
    """Parameters. k_tenths: how many standard deviations above the mean a round's smallest RTT must lie, in tenths.

    Two by default: on the papers' idle link (mean 597.5 ms, deviation 16.9 ms) that is 631 ms, just above the 625 ms that 99 % of its
    RTTs stay below. least_rise_us: over the mean, whatever the deviation; that and the others are those of Linux's HyStart.
    """

    k_tenths: int = swept(20, 0, 20, "deviations", "How far above the mean a round's smallest RTT must lie", steps=10)
    least_rise_us: int = swept(4_000, 0, 200_000, "us", "Least rise over the mean that counts")
    low_window: int = swept(16, 0, 1_000, "segments", "Window from which it looks at all")
    min_samples: int = swept(
        8, 2, 64, "samples", "RTT samples in a round before its delay counts, and before it in all"
    )


def judge_meansd(
    trace: AckTrace, parameters: MeanDeviation | None = None, sums: tuple[Ints, Ints] | None = None
) -> Verdict:
    """The exit that this threshold would have chosen on these ACKs. Needs every ACK. sums: of the RTTs and their squares, where known."""
    asked = parameters or MeanDeviation()
    rule = Rule("mean_sd", "Peters 2021", asdict(asked))
    if why := not_by_ack(trace):
        return rule.undecidable(why)
    hooked = np.flatnonzero(trace.rtt_us >= 0)
    rtt_us, known = clipped_rtt_us(trace), sums or rtt_sums(trace)
    openings = hooked_round_openings(trace, hooked)
    for number, (first, stop) in enumerate(zip(openings, np.append(openings[1:], len(hooked)), strict=True), 1):
        if (allowed_us := _allowed_us(known, int(first), asked)) is None:
            continue
        judged = first + np.flatnonzero(trace.slow_start_cwnd_segments[hooked[first:stop]] >= asked.low_window)
        smallest = np.minimum.accumulate(rtt_us[judged])[asked.min_samples :]
        late = np.flatnonzero(smallest > allowed_us)
        if late.size:
            row = int(judged[asked.min_samples + late[0]])
            return _exit(rule, trace, int(hooked[row]), number, (int(smallest[late[0]]), allowed_us))
    return rule.without_exit(trace, "no round's RTTs rose above mean and deviation", {"rounds": len(openings)})


def clipped_rtt_us(trace: AckTrace) -> Ints:
    """Return the RTTs of the rows with a sample, in microseconds, clipped as the control clips them."""
    return np.clip(trace.rtt_us[trace.rtt_us >= 0], 1, MOST_RTT_US)


def rtt_sums(trace: AckTrace) -> tuple[Ints, Ints]:
    """Sums of the RTTs, and of their squares, before each sample."""
    rtt_us = clipped_rtt_us(trace)[:MOST_SAMPLES]
    return np.concatenate(([0], np.cumsum(rtt_us))), np.concatenate(([0], np.cumsum(rtt_us * rtt_us)))


def _allowed_us(sums: tuple[Ints, Ints], before: int, asked: MeanDeviation) -> int | None:
    """Return the allowed RTT in microseconds, from the samples before a round; None if these are too few."""
    count = min(before, MOST_SAMPLES)
    if count < asked.min_samples:
        return None
    total, squares = int(sums[0][count]), int(sums[1][count])
    mean, rest = divmod(total, count)
    of_mean = mean * mean * count + 2 * mean * rest + rest * rest // count
    deviation = isqrt((squares - of_mean) // count)
    return mean + max(asked.k_tenths * deviation // 10, asked.least_rise_us)


def _exit(rule: Rule, trace: AckTrace, row: int, number: int, rtts_us: tuple[int, int]) -> Verdict:
    measured_us, allowed_us = rtts_us
    quantities = {"round": number, "measured_us": measured_us, "allowed_us": allowed_us}
    return rule.exit_at(trace, row, f"delay: {measured_us} us > {allowed_us} us", quantities)
