"""HyStart of Linux CUBIC, replayed: the ACK train and the delay detector, per round.

Three lines of kernels: up to 5.4 (millisecond clock), 5.10, and 6.x (rounds turn before the ACK is judged). `docs/exits.md` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum

import numpy as np

from downlink.analysis.exits.rounds import ENDLESS_US, hooked_round_openings, not_by_ack, smallest_rtt_so_far
from downlink.analysis.exits.sweep_parameters import swept
from downlink.analysis.exits.trace import AckTrace, Ints
from downlink.analysis.exits.verdict import Rule, Verdict

TRAIN, DELAY = 1, 2
GSO_MAX_BYTES = 65_536
CUSHION_US = 1_000


class Kernel(StrEnum):
    """Lines of kernels whose HyStart differs in its decisions."""

    UP_TO_5_4 = "<=5.4"
    V5_10 = "5.10"
    V6 = "6.x"


@dataclass(frozen=True)
class HyStart:
    """Parameters. detect: bit 1 ACK train, bit 2 delay. low_window: cwnd in segments from which it looks at all.

    ack_delta_us: spacing within a train. delay_low_us and delay_high_us clamp min RTT / 8. is_paced: fq or a pacing control sends.
    """

    kernel: Kernel = Kernel.V6
    detect: int = swept(TRAIN | DELAY, 1, 3, "mask", "1: ACK train, 2: delay, 3: both")
    low_window: int = swept(16, 2, 1_000, "segments", "Window from which it looks at all")
    min_samples: int = swept(8, 2, 64, "samples", "RTT samples in a round before its delay counts")
    ack_delta_us: int = swept(2_000, 100, 50_000, "us", "Largest gap within an ACK train")
    delay_low_us: int = swept(4_000, 500, 200_000, "us", "Least rise of the RTT that counts")
    delay_high_us: int = swept(16_000, 500, 1_000_000, "us", "Rise of the RTT that always counts")
    is_paced: bool = False


@dataclass(frozen=True)
class Hit:
    """The row at which a detector fires, its name, and measured value against allowed value, both in microseconds."""

    row: int
    detector: str
    measured_us: int
    allowed_us: int


@dataclass(frozen=True)
class KernelClock:
    """A trace in the units of one kernel line: microseconds, or milliseconds with RTTs in eighths of one.

    rtt_units: RTT units in a unit of time. unit_us: a unit of time in microseconds.
    """

    now: Ints
    rtt: Ints
    min_rtt: Ints
    cushion: Ints
    rtt_units: int
    unit_us: int

    @property
    def rtt_unit_us(self) -> int:
        return self.unit_us // self.rtt_units


@dataclass(frozen=True)
class _Clocked:
    """A trace by a kernel's clock, and the thresholds in its units."""

    clock: KernelClock
    asked: HyStart

    @property
    def ack_delta(self) -> int:
        return self.asked.ack_delta_us // self.clock.unit_us

    def allowed_train(self, rows: Ints) -> Ints:
        """Return how long a train may last at each of the rows, in the kernel's time units."""
        in_time_units = self.clock.min_rtt[rows] // self.clock.rtt_units + self.clock.cushion[rows]
        return in_time_units if self.asked.is_paced and self.asked.kernel != Kernel.UP_TO_5_4 else in_time_units // 2

    def allowed_delay(self, rows: Ints) -> Ints:
        """Return how large a round's smallest RTT may be at each of the rows, in the kernel's RTT units."""
        min_rtt = self.clock.min_rtt[rows]
        low, high = (each // self.clock.rtt_unit_us for each in (self.asked.delay_low_us, self.asked.delay_high_us))
        return min_rtt + np.clip(min_rtt // 8, low, high)


def kernel_clock(trace: AckTrace, kernel: Kernel) -> KernelClock:
    """Return what a kernel's HyStart reads from these ACKs, whatever its thresholds."""
    return _millisecond_clock(trace) if kernel == Kernel.UP_TO_5_4 else _microsecond_clock(trace)


def judge_hystart(trace: AckTrace, parameters: HyStart | None = None, clock: KernelClock | None = None) -> Verdict:
    """The exit that this HyStart would have chosen on these ACKs. Needs every ACK. clock: where it is known already."""
    asked = parameters or HyStart()
    rule = Rule("hystart", asked.kernel.value, {key: value for key, value in asdict(asked).items() if key != "kernel"})
    if why := not_by_ack(trace):
        return rule.undecidable(why)
    clocked = _Clocked(clock or kernel_clock(trace, asked.kernel), asked)
    seen = 0
    for opening, rows in _rounds(trace, asked):
        seen += 1
        hits = [hit for hit in (_train(clocked, opening, rows), _delay(clocked, rows)) if hit]
        if hits:
            return _exit(rule, trace, min(hits, key=lambda hit: hit.row), opening, seen)
    return rule.without_exit(trace, "no train and no delay was long enough", {"rounds": seen})


def _exit(rule: Rule, trace: AckTrace, hit: Hit, opening: int, number: int) -> Verdict:
    quantities = {
        "signal": hit.detector,
        "round": number,
        "round_start_us": int(trace.time_us[opening]),
        "measured_us": hit.measured_us,
        "allowed_us": hit.allowed_us,
    }
    return rule.exit_at(trace, hit.row, f"{hit.detector}: {hit.measured_us} us > {hit.allowed_us} us", quantities)


def _microsecond_clock(trace: AckTrace) -> KernelClock:
    cushion = np.full(trace.rows, CUSHION_US)
    if trace.pacing_rate_bps is not None:
        rate = trace.pacing_rate_bps // 8
        whole = 4 * GSO_MAX_BYTES * 1_000_000 // np.maximum(rate, 1)
        cushion = np.where(rate > 0, np.minimum(whole, CUSHION_US), 0)
    return KernelClock(
        trace.time_us, np.maximum(trace.rtt_us, 1), smallest_rtt_so_far(trace.rtt_us), cushion, rtt_units=1, unit_us=1
    )


def _millisecond_clock(trace: AckTrace) -> KernelClock:
    eighths = np.where(trace.rtt_us < 0, -1, np.maximum(trace.rtt_us * 8 // 1_000, 1))
    no_cushion = np.zeros(trace.rows, np.int64)
    return KernelClock(
        (trace.time_us - trace.time_us[0]) // 1_000,
        eighths,
        smallest_rtt_so_far(eighths),
        no_cushion,
        rtt_units=8,
        unit_us=1_000,
    )


def _rounds(trace: AckTrace, asked: HyStart) -> Iterator[tuple[int, Ints]]:
    """Each round's opening row and the rows judged within it.

    6.x turns the round before it judges the ACK that opens it, and only on rows with an RTT sample; earlier kernels turn it
    afterwards and on any new ACK, so that the opening row still belongs to the round before.
    """
    is_judged = (trace.rtt_us >= 0) & (trace.slow_start_cwnd_segments >= asked.low_window)
    if asked.kernel == Kernel.V6:
        hooked = np.flatnonzero(trace.rtt_us >= 0)
        openings = hooked[hooked_round_openings(trace, hooked)]
        firsts = openings
    else:
        openings = hooked_round_openings(trace, np.arange(trace.rows))
        firsts = openings + 1
    for opening, first, stop in zip(openings, firsts, np.append(firsts[1:], trace.rows), strict=True):
        yield int(opening), first + np.flatnonzero(is_judged[first:stop])


def _train(clocked: _Clocked, opening: int, rows: Ints) -> Hit | None:
    """ACKs close behind each other since the round's start, for longer than allowed. One wide gap ends the train for the round."""
    if not clocked.asked.detect & TRAIN or rows.size == 0:
        return None
    length = clocked.clock.now[rows] - clocked.clock.now[opening]
    if length[-1] <= clocked.clock.min_rtt[rows[-1]] // clocked.clock.rtt_units // 2:
        return None  # The whole round is shorter than any train that counts.
    wide = np.flatnonzero(np.diff(length, prepend=0) > clocked.ack_delta)
    length = length[: wide[0] if wide.size else None]
    allowed = clocked.allowed_train(rows[: length.size])
    late = np.flatnonzero(length > allowed)
    if late.size == 0:
        return None
    us = clocked.clock.unit_us
    return Hit(int(rows[late[0]]), "train", int(length[late[0]]) * us, int(allowed[late[0]]) * us)


def _delay(clocked: _Clocked, rows: Ints) -> Hit | None:
    """A round's smallest RTT far above the connection's; the ninth sample is the first that can say so."""
    counted = clocked.asked.min_samples
    if not clocked.asked.detect & DELAY or rows.size <= counted:
        return None
    if clocked.asked.kernel == Kernel.UP_TO_5_4:
        # Up to 5.4 later samples are compared with, but never lower, the minimum of the first eight.
        smallest = np.full(rows.size - counted, clocked.clock.rtt[rows[:counted]].min(initial=ENDLESS_US))
    else:
        smallest = np.minimum.accumulate(clocked.clock.rtt[rows])[counted:]
    allowed = clocked.allowed_delay(rows[counted:])
    late = np.flatnonzero(smallest > allowed)
    if late.size == 0:
        return None
    us, at = clocked.clock.rtt_unit_us, late[0]
    return Hit(int(rows[counted + at]), "delay", int(smallest[at]) * us, int(allowed[at]) * us)
