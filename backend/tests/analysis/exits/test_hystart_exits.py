"""HyStart and HyStart++ by hand: RTT 100 ms, windows large enough for every row to be judged."""

from __future__ import annotations

import numpy as np
import pytest

from downlink.analysis.exits.hystart import DELAY, TRAIN, HyStart, Kernel, judge_hystart
from downlink.analysis.exits.hystartpp import HyStartPlusPlus, judge_hystartpp
from downlink.analysis.exits.rounds import round_openings
from downlink.analysis.exits.trace import AckTrace
from tests.fixtures.exit_traces import MSS_BYTES, make_trace

RTT_US = 100_000
BEGUN_BYTES = 20 * MSS_BYTES


def rounds_of(rtts_us: list[list[int]], *, gap_us: int = 3_000, **others: int) -> AckTrace:
    """Round after round, an ACK per RTT given; each round acknowledges exactly what was out when it opened."""
    rtt_us = np.array([rtt for round_ in rtts_us for rtt in round_])
    sizes = [len(round_) for round_ in rtts_us]
    time_us = np.concatenate([RTT_US * number + np.arange(size) * gap_us for number, size in enumerate(sizes)])
    acked_bytes = BEGUN_BYTES + np.arange(1, len(rtt_us) + 1) * MSS_BYTES
    last_of_round = np.repeat(np.cumsum(sizes), sizes)
    sent = BEGUN_BYTES + last_of_round * MSS_BYTES
    return make_trace(
        time_us, acked_bytes, rtt_us, sent, **{name: np.full(len(rtt_us), value) for name, value in others.items()}
    )


def test_a_round_ends_with_the_first_ack_past_what_was_sent_at_its_start() -> None:
    assert round_openings(np.array([0, 1, 5, 10, 11, 12]), np.array([10, 10, 15, 20, 20, 25])).tolist() == [1, 4]


def test_the_ninth_sample_is_the_first_that_can_end_slow_start() -> None:
    slow = RTT_US + 12_501
    trace = rounds_of([[RTT_US] * 3, [slow] * 9])
    verdict = judge_hystart(trace, HyStart(detect=DELAY))
    # 100 ms / 8 = 12.5 ms is between the clamps of 4 and 16 ms.
    assert (verdict.exit_us, verdict.quantities["allowed_us"]) == (RTT_US + 8 * 3_000, 112_500)
    assert judge_hystart(rounds_of([[RTT_US] * 3, [slow] * 8]), HyStart(detect=DELAY)).exit_us is None
    assert judge_hystart(rounds_of([[RTT_US] * 3, [slow - 1] * 9]), HyStart(detect=DELAY)).exit_us is None


def test_up_to_5_4_a_low_sample_after_the_first_eight_comes_too_late() -> None:
    slow = RTT_US + 20_000
    trace = rounds_of([[RTT_US] * 3, [slow] * 9 + [RTT_US] + [slow] * 4])
    assert judge_hystart(trace, HyStart(Kernel.V5_10, DELAY)).exit_us is None
    assert judge_hystart(trace, HyStart(Kernel.UP_TO_5_4, DELAY)).exit_us == RTT_US + 9 * 3_000


def test_before_6_the_opening_ack_still_belongs_to_the_round_before() -> None:
    trace = rounds_of([[RTT_US] * 3, [RTT_US + 20_000] * 9, [RTT_US + 20_000]])
    assert judge_hystart(trace, HyStart(Kernel.V6, DELAY)).exit_us == RTT_US + 8 * 3_000
    assert judge_hystart(trace, HyStart(Kernel.V5_10, DELAY)).exit_us == 2 * RTT_US


def test_a_train_of_close_acks_ends_slow_start_after_half_the_smallest_rtt() -> None:
    trace = rounds_of([[RTT_US] * 60], gap_us=2_000, pacing_rate_bps=0)
    verdict = judge_hystart(trace, HyStart(detect=TRAIN))
    assert (verdict.exit_us, verdict.quantities["signal"]) == (52_000, "train")
    assert judge_hystart(rounds_of([[RTT_US] * 60], gap_us=2_001), HyStart(detect=TRAIN)).exit_us is None


def test_pacing_doubles_the_train_and_its_rate_adds_at_most_a_millisecond() -> None:
    paced = rounds_of([[RTT_US] * 60], gap_us=2_000, pacing_rate_bps=8_000_000)
    assert judge_hystart(paced, HyStart(detect=TRAIN)).quantities["allowed_us"] == 50_500
    assert judge_hystart(paced, HyStart(detect=TRAIN, is_paced=True)).quantities["allowed_us"] == 101_000


def test_the_old_kernel_counts_whole_milliseconds() -> None:
    trace = rounds_of([[RTT_US] * 60], gap_us=2_900, pacing_rate_bps=0)
    # 2.9 ms apart is at most 2 ms on the millisecond clock only by chance: 0, 2, 5 is a gap of 3.
    assert judge_hystart(trace, HyStart(Kernel.UP_TO_5_4, TRAIN)).exit_us is None
    close = rounds_of([[RTT_US] * 60], gap_us=2_000)
    assert judge_hystart(close, HyStart(Kernel.UP_TO_5_4, TRAIN)).exit_us == 52_000


def test_small_windows_are_not_judged() -> None:
    trace = rounds_of([[RTT_US] * 3, [RTT_US + 20_000] * 9], cwnd_segments=15)
    assert judge_hystart(trace, HyStart(detect=DELAY)).exit_us is None
    verdict = judge_hystart(trace, HyStart(detect=DELAY, low_window=15))
    assert (verdict.cwnd_segments, verdict.cwnd_source) == (15, "recorded")


def test_rows_without_an_rtt_sample_are_no_samples() -> None:
    slow = RTT_US + 20_000
    holes = rounds_of([[RTT_US] * 3, [slow, -1] * 9])
    assert judge_hystart(holes, HyStart(detect=DELAY)).exit_us == RTT_US + 16 * 3_000


@pytest.mark.parametrize("missing", ["polls", "sent"])
def test_what_cannot_be_cut_into_rounds_is_not_decidable(missing: str) -> None:
    rows = np.arange(50)
    if missing == "polls":
        trace = make_trace(rows * 10_000, rows * 1_000, RTT_US, rows * 2_000, is_per_ack=False)
    else:
        trace = make_trace(rows * 10_000, rows * 1_000, RTT_US)
    for verdict in (judge_hystart(trace), judge_hystartpp(trace)):
        assert not verdict.is_decidable
        assert verdict.exit_us is None


def test_hystartpp_doubts_for_five_rounds_and_then_avoids_congestion() -> None:
    slow = RTT_US + 16_000
    verdict = judge_hystartpp(rounds_of([[RTT_US] * 8] + [[slow] * 8] * 6))
    assert verdict.quantities["css_entered_us"] == [RTT_US + 7 * 3_000]
    assert verdict.exit_us == 6 * RTT_US


def test_hystartpp_resumes_when_the_rtt_undercuts_the_baseline() -> None:
    slow = RTT_US + 16_000
    verdict = judge_hystartpp(rounds_of([[RTT_US] * 8, [slow] * 8, [slow] * 8 + [slow - 1]]))
    assert verdict.quantities["slow_start_resumed_us"] == [2 * RTT_US + 8 * 3_000]
    assert verdict.exit_us is None


def test_the_rfc_s_reading_resumes_one_sample_earlier() -> None:
    slow = RTT_US + 16_000
    trace = rounds_of([[RTT_US] * 8, [slow] * 8, [RTT_US] * 9])
    assert judge_hystartpp(trace).quantities["slow_start_resumed_us"] == [2 * RTT_US + 8 * 3_000]
    early = judge_hystartpp(trace, HyStartPlusPlus(resume_sample=8))
    assert early.quantities["slow_start_resumed_us"] == [2 * RTT_US + 7 * 3_000]


def test_css_grows_the_window_by_a_quarter() -> None:
    slow = RTT_US + 16_000
    trace = rounds_of([[RTT_US] * 8] + [[slow] * 8] * 6)
    verdict = judge_hystartpp(trace)
    entered = int(np.searchsorted(trace.time_us, verdict.quantities["css_entered_us"][0]))
    left = int(np.searchsorted(trace.time_us, verdict.exit_us))
    window = trace.slow_start_cwnd_segments
    assert verdict.cwnd_segments == window[entered] + (window[left] - window[entered]) // 4
