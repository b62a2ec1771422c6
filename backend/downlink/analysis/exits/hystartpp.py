"""HyStart++ (RFC 9406), replayed: slow start, conservative slow start (CSS), resume, congestion avoidance.

The timing within a round is that of a Linux driver of it: CSS is left at the ninth sample of a round at the earliest (`docs/exits.md`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from downlink.analysis.exits.rounds import ENDLESS_US, hooked_round_openings, not_by_ack
from downlink.analysis.exits.trace import AckTrace, Ints
from downlink.analysis.exits.verdict import Rule, Verdict


@dataclass(frozen=True)
class HyStartPlusPlus:
    """Parameters, named as in RFC 9406 section 4.3. resume_sample: the sample of a round from which CSS can be left."""

    min_rtt_thresh_us: int = 4_000
    max_rtt_thresh_us: int = 16_000
    min_rtt_divisor: int = 8
    n_rtt_sample: int = 8
    css_growth_divisor: int = 4
    css_rounds: int = 5
    resume_sample: int = 9

    def threshold_us(self, last_round_us: int) -> int:
        return min(max(last_round_us // self.min_rtt_divisor, self.min_rtt_thresh_us), self.max_rtt_thresh_us)


@dataclass
class _State:
    """The sender's state. baseline_us: an RTT below this one refutes CSS; None outside CSS."""

    baseline_us: int | None = None
    css_since_round: int = 0
    entered_rows: list[int] = field(default_factory=list)
    resumed_rows: list[int] = field(default_factory=list)

    def enter(self, row: int, baseline_us: int, number: int) -> None:
        self.baseline_us, self.css_since_round = baseline_us, number
        self.entered_rows.append(row)

    def resume(self, row: int) -> None:
        self.baseline_us = None
        self.resumed_rows.append(row)


@dataclass(frozen=True)
class _Round:
    """One round. first: its first row. last_us: smallest RTT of the round before. smallest_us: its own minimum up to each sample."""

    number: int
    first: int
    last_us: int
    smallest_us: Ints


def judge_hystartpp(trace: AckTrace, parameters: HyStartPlusPlus | None = None) -> Verdict:
    """exit_us is the move to congestion avoidance; entries to CSS and returns are in the quantities. Needs every ACK."""
    asked = parameters or HyStartPlusPlus()
    rule = Rule("hystart++", "RFC 9406", asdict(asked))
    if why := not_by_ack(trace):
        return rule.undecidable(why)
    hooked = np.flatnonzero(trace.rtt_us >= 0)
    rtt_us = np.maximum(trace.rtt_us[hooked], 1)
    openings = hooked_round_openings(trace, hooked)
    state = _State()
    # Samples before anything new is acknowledged stand for the round before the first.
    last_us = int(rtt_us[: openings[0] if openings.size else 0].min(initial=ENDLESS_US))
    for number, (first, stop) in enumerate(zip(openings, np.append(openings[1:], len(hooked)), strict=True)):
        if state.baseline_us is not None and number - state.css_since_round >= asked.css_rounds:
            return _exit(rule, trace, int(hooked[first]), _in_rows(state, hooked), asked)
        smallest_us = np.minimum.accumulate(rtt_us[first:stop])
        _walk_round(state, _Round(number, int(first), last_us, smallest_us), asked)
        last_us = int(smallest_us[-1])
    return rule.without_exit(
        trace, f"no {asked.css_rounds} rounds of CSS were completed", _moments(trace, _in_rows(state, hooked))
    )


def _walk_round(state: _State, turn: _Round, asked: HyStartPlusPlus) -> None:
    """The moves within one round, from its `n_rtt_sample`-th sample on.

    The round's minimum only falls: outside CSS an entry is possible at once or not at all, inside it the next undercutting is looked up.
    """
    at = asked.n_rtt_sample - 1
    while at < len(turn.smallest_us):
        if state.baseline_us is not None:
            undercut = int(np.searchsorted(-turn.smallest_us, -state.baseline_us, side="right"))
            at = max(undercut, asked.resume_sample - 1)
            if at >= len(turn.smallest_us):
                return
            state.resume(turn.first + at)
        now_us = int(turn.smallest_us[at])
        if turn.last_us >= ENDLESS_US or now_us < turn.last_us + asked.threshold_us(turn.last_us):
            return
        state.enter(turn.first + at, now_us, turn.number)


def _in_rows(state: _State, hooked: Ints) -> _State:
    """The same moves, as rows of the trace."""
    return _State(
        state.baseline_us,
        state.css_since_round,
        [int(hooked[row]) for row in state.entered_rows],
        [int(hooked[row]) for row in state.resumed_rows],
    )


def _moments(trace: AckTrace, state: _State) -> dict[str, list[int]]:
    return {
        "css_entered_us": [int(trace.time_us[row]) for row in state.entered_rows],
        "slow_start_resumed_us": [int(trace.time_us[row]) for row in state.resumed_rows],
    }


def _exit(rule: Rule, trace: AckTrace, row: int, state: _State, asked: HyStartPlusPlus) -> Verdict:
    cwnd = _grown_cwnd(trace, row, state, asked.css_growth_divisor)
    return rule.exit_at(trace, row, f"{asked.css_rounds} rounds of CSS completed", _moments(trace, state), cwnd=cwnd)


def _grown_cwnd(trace: AckTrace, row: int, state: _State, divisor: int) -> int:
    """The window with CSS's slower growth: what CSS acknowledged counts only one in `divisor`."""
    window = trace.slow_start_cwnd_segments
    in_css = sum(
        int(window[left]) - int(window[entered])
        for entered, left in zip(state.entered_rows, [*state.resumed_rows, row], strict=True)
    )
    return int(window[row]) - in_css + in_css // divisor
