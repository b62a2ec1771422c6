"""Every published constant of a detector on both sides of its edge. RTT 100 ms unless a test says otherwise.

Sources: Kachooei 2023 and draft-chung-ccwg-search-09 (SEARCH), the Linux SEARCH 3.1 module, net/ipv4/tcp_cubic.c (HyStart),
RFC 9406 section 4.3 (HyStart++), the cubic_bw module of 2022-10 (BEST).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from downlink.analysis.exits.best import Best, RoundEstimates, judge_best, packet_pairs
from downlink.analysis.exits.bins import bin_spans
from downlink.analysis.exits.hystart import DELAY, TRAIN, HyStart, Kernel, judge_hystart, kernel_clock
from downlink.analysis.exits.hystartpp import HyStartPlusPlus, judge_hystartpp
from downlink.analysis.exits.search import NormCurve, Search31, Search40, judge_search_31, judge_search_40
from downlink.analysis.exits.sliding import Search10, SlidingCurves, exit_times, judge_search_10
from downlink.analysis.exits.trace import AckTrace
from downlink.analysis.exits.verdict import Rule, Verdict
from tests.fixtures.exit_traces import MSS_BYTES, make_trace

RTT_US = 100_000
BIN_US = 35_000
GAP_US = 3_000
JUMP_BYTES = 20 * MSS_BYTES


def rounds_of(rtts_us: list[list[int]], *, gap_us: int = GAP_US, **others: int) -> AckTrace:
    """Round after round, an ACK per RTT given; each round acknowledges exactly what was out when it opened."""
    rtt_us = np.array([rtt for each in rtts_us for rtt in each])
    sizes = [len(each) for each in rtts_us]
    time_us = np.concatenate([RTT_US * number + np.arange(size) * gap_us for number, size in enumerate(sizes)])
    acked_bytes = JUMP_BYTES + np.arange(1, len(rtt_us) + 1) * MSS_BYTES
    sent = JUMP_BYTES + np.repeat(np.cumsum(sizes), sizes) * MSS_BYTES
    columns = {name: np.full(len(rtt_us), value) for name, value in others.items()}
    return make_trace(time_us, acked_bytes, rtt_us, sent, **columns)


def of_norms(norms: list[float]) -> tuple[AckTrace, SlidingCurves]:
    """A trace whose bins have these norms."""
    rows = np.arange(len(norms))
    trace = make_trace(rows * BIN_US, rows * 1_000, RTT_US, rows * 2_000)
    nothing = np.zeros(len(norms))
    return trace, SlidingCurves(BIN_US, rows, trace.time_us, nothing, nothing, np.array(norms), nothing, nothing)


# ---- SEARCH: Kachooei 2023, section III (1.0), module (3.1), draft (4.0)


def test_paper_002_s_capacity_and_exit_are_norms_above_a_tenth_and_a_quarter() -> None:
    times = exit_times(*of_norms([0.0, 0.1, 0.1001, 0.25, 0.2501]))
    assert (times.cg_us, times.ex_us) == (2 * BIN_US, 4 * BIN_US)
    trace, curves = of_norms([0.0, 0.25, 0.2501])
    assert judge_search_10(trace, curves=curves).exit_us == 2 * BIN_US
    assert judge_search_10(trace, Search10(threshold_ratio=0.2501), curves).exit_us is None


@pytest.mark.parametrize(
    ("judge", "threshold"), [(judge_search_31, Search31().threshold_percent), (judge_search_40, 26)]
)
def test_later_versions_exit_at_their_threshold_itself(judge: Callable[..., Verdict], threshold: int) -> None:
    trace, _ = of_norms([0.0] * 30)

    def curve(norm: int) -> list[NormCurve]:
        row = np.array([20])
        return [NormCurve(BIN_US, row, row, row, row, np.array([norm]))]

    assert Search31().threshold_percent == 35
    assert judge(trace, curves=curve(threshold)).exit_us == 20 * BIN_US
    assert judge(trace, curves=curve(threshold - 1)).exit_us is None


@pytest.mark.parametrize("parameters", [Search10(), Search31(), Search40()])
def test_a_window_is_three_and_a_half_rtts_in_ten_bins(parameters: Any) -> None:
    assert (parameters.window_factor, parameters.bins) == (35, 10)
    assert parameters.clock.bin_us(RTT_US) == BIN_US
    assert parameters.clock.bin_us(101) == 35, "whole microseconds, cut off"


def even(rtt_us: int, *, bins: int = 40) -> AckTrace:
    """The same number of bytes sent and delivered in each bin, but from bin 20 on nothing arrives; RTT after the first row."""
    time_us = np.arange(bins) * BIN_US + np.minimum(np.arange(bins), 1)
    rtts = np.where(np.arange(bins) == 0, RTT_US, rtt_us)
    acked = np.minimum(np.arange(bins), 20) * 1_000
    return make_trace(time_us, acked, rtts, np.arange(bins) * 1_000 + 5_000)


@pytest.mark.parametrize(("judge", "bins"), [(judge_search_10, 14), (judge_search_31, 14), (judge_search_40, 15)])
def test_a_history_of_25_bins_cannot_look_further_back(judge: Callable[[AckTrace], Verdict], bins: int) -> None:
    assert judge(even(bins * BIN_US - 1)).exit_us is not None
    assert judge(even(bins * BIN_US)).exit_us is None


@pytest.mark.parametrize(("judge", "first"), [(judge_search_31, 12), (judge_search_40, 13)])
def test_the_first_test_needs_a_whole_window_one_rtt_back(judge: Callable[..., Verdict], first: int) -> None:
    """3.1 takes a window that begins with bin 0, 4.0 one that begins with bin 1."""
    trace = even(2 * BIN_US)
    asked: Any = Search31(threshold_percent=1) if judge is judge_search_31 else Search40(threshold_percent=0)
    assert judge(trace, asked).quantities["bin_index"] == first


@pytest.mark.parametrize(("parameters", "most"), [(Search31(), 4), (Search40(), 10)])
def test_a_silence_of_more_bins_than_allowed_throws_the_history_away(parameters: Any, most: int) -> None:
    """3.1: two initial RTTs (alpha 2) of two bins each. 4.0: a window of ten."""

    def spans(passed: int) -> int:
        # A row a microsecond after each end closes the bin on either clock.
        time_us = np.array([0, 1, 1 + passed, 2 + passed, 3 + passed]) * BIN_US + np.array([0, 1, 1, 1, 1])
        return len(list(bin_spans(make_trace(time_us, np.arange(5), RTT_US), parameters.clock)))

    assert (spans(most), spans(most + 1)) == (1, 2)


@pytest.mark.parametrize(("judge", "most"), [(judge_search_31, 4), (judge_search_40, 10)])
def test_a_verdict_counts_how_often_the_history_was_thrown_away(
    judge: Callable[[AckTrace], Verdict], most: int
) -> None:
    def resets(silence: int) -> int:
        time_us = np.cumsum([0, *(bins * BIN_US + 1 for bins in (1, silence, 1))])
        return int(judge(make_trace(time_us, time_us, RTT_US, time_us)).quantities["resets"])

    assert (resets(most), resets(most + 1)) == (0, 1)


@pytest.mark.parametrize(("passed", "bin_us"), [(10, BIN_US), (11, 70_000)])
def test_search_31_learns_the_rtt_anew_after_more_than_ten_bins(passed: int, bin_us: int) -> None:
    time_us = np.array([0, BIN_US, (1 + passed) * BIN_US, (30 + passed) * BIN_US])
    trace = make_trace(time_us, np.arange(4), np.array([RTT_US, RTT_US, 2 * RTT_US, 2 * RTT_US]))
    assert [span.bin_us for span in bin_spans(trace, Search31().clock)][1] == bin_us


def test_polls_are_fine_enough_when_ten_fit_into_a_bin() -> None:
    def is_decidable(step_us: int) -> bool:
        time_us = np.arange(0, 700_000, step_us)
        return judge_search_31(make_trace(time_us, time_us, RTT_US, time_us, is_per_ack=False)).is_decidable

    assert (is_decidable(3_500), is_decidable(3_501)) == (True, False)


# ---- HyStart: tcp_cubic.c


@pytest.mark.parametrize(
    ("rtt_us", "rise_us"),
    [(8_000, 4_000), (32_000, 4_000), (32_008, 4_001), (100_000, 12_500), (127_992, 15_999), (128_000, 16_000), (600_000, 16_000)],
)  # fmt: skip
@pytest.mark.parametrize("kernel", [Kernel.V6, Kernel.V5_10])
def test_hystart_s_delay_threshold_is_an_eighth_of_the_rtt_between_4_and_16_ms(
    rtt_us: int, rise_us: int, kernel: Kernel
) -> None:
    def leaves(rise: int) -> bool:
        trace = rounds_of([[rtt_us] * 3, [rtt_us + rise] * 10])
        return judge_hystart(trace, HyStart(kernel, DELAY)).exit_us is not None

    assert (leaves(rise_us), leaves(rise_us + 1)) == (False, True)


def test_old_kernels_count_rtts_in_eighths_of_a_millisecond_and_never_zero() -> None:
    trace = make_trace(np.arange(6), np.arange(6), np.array([-1, 0, 1, 249, 250, 100_000]))
    clock = kernel_clock(trace, Kernel.UP_TO_5_4)
    assert clock.rtt.tolist() == [-1, 1, 1, 1, 2, 800]
    assert clock.min_rtt.tolist()[1:] == [1] * 5
    assert kernel_clock(trace, Kernel.V6).rtt.tolist() == [1, 1, 1, 249, 250, 100_000]


def test_hystart_counts_eight_samples_and_decides_at_the_next() -> None:
    slow = RTT_US + 20_000
    for kernel in Kernel:
        assert judge_hystart(rounds_of([[RTT_US] * 3, [slow] * 9, [slow]]), HyStart(kernel, DELAY)).exit_us is not None
    assert judge_hystart(rounds_of([[RTT_US] * 3, [slow] * 8]), HyStart(detect=DELAY)).exit_us is None


@pytest.mark.parametrize(("cwnd", "leaves"), [(15, False), (16, True)])
def test_hystart_looks_from_a_window_of_16_segments_on(cwnd: int, leaves: bool) -> None:
    trace = rounds_of([[RTT_US] * 3, [RTT_US + 20_000] * 9], cwnd_segments=cwnd)
    assert (judge_hystart(trace, HyStart(detect=DELAY)).exit_us is not None) is leaves


@pytest.mark.parametrize(("gap_us", "leaves"), [(2_000, True), (2_001, False)])
def test_an_ack_train_has_gaps_of_two_milliseconds_at_most(gap_us: int, leaves: bool) -> None:
    trace = rounds_of([[RTT_US] * 60], gap_us=gap_us)
    assert (judge_hystart(trace, HyStart(detect=TRAIN)).exit_us is not None) is leaves


@pytest.mark.parametrize(
    ("pacing_rate_bps", "allowed_us"),
    [(0, 50_000), (8, 50_500), (8 * 262_144_000, 50_500), (8 * 262_406_406, 50_499), (8 * 524_288_000, 50_250)],
)
def test_a_train_may_last_half_of_least_rtt_and_cushion_of_a_millisecond_at_most(
    pacing_rate_bps: int, allowed_us: int
) -> None:
    """tcp_cubic.c, hystart_ack_delay: four GSO packets of 65,536 bytes at the pacing rate."""
    trace = rounds_of([[RTT_US] * 60], gap_us=1_900, pacing_rate_bps=pacing_rate_bps)
    assert judge_hystart(trace, HyStart(detect=TRAIN)).quantities["allowed_us"] == allowed_us


def test_a_train_must_last_longer_than_allowed() -> None:
    def leaves(gap_us: int) -> int | None:
        return judge_hystart(
            rounds_of([[RTT_US] * 51], gap_us=gap_us, pacing_rate_bps=0), HyStart(detect=TRAIN)
        ).exit_us

    assert (leaves(1_000), leaves(1_001)) == (None, 50_050)


# ---- HyStart++: RFC 9406, section 4.3


@pytest.mark.parametrize(
    ("last_us", "rise_us"), [(8_000, 4_000), (32_007, 4_000), (32_008, 4_001), (127_992, 15_999), (128_000, 16_000), (600_000, 16_000)]
)  # fmt: skip
def test_css_is_entered_an_eighth_of_the_last_round_s_rtt_higher_between_4_and_16_ms(
    last_us: int, rise_us: int
) -> None:
    def entered(rise: int) -> list[int]:
        verdict = judge_hystartpp(rounds_of([[last_us] * 8, [last_us + rise] * 8]))
        found: list[int] = verdict.quantities["css_entered_us"]
        return found

    assert (len(entered(rise_us)), len(entered(rise_us - 1))) == (1, 0)


def test_css_is_entered_at_the_eighth_sample_of_a_round() -> None:
    slow = RTT_US + 16_000
    assert judge_hystartpp(rounds_of([[RTT_US] * 8, [slow] * 7])).quantities["css_entered_us"] == []
    entered = judge_hystartpp(rounds_of([[RTT_US] * 8, [slow] * 8])).quantities["css_entered_us"]
    assert entered == [RTT_US + 7 * GAP_US]


def test_css_lasts_five_rounds() -> None:
    slow = RTT_US + 16_000
    assert judge_hystartpp(rounds_of([[RTT_US] * 8] + [[slow] * 8] * 5)).exit_us is None
    assert judge_hystartpp(rounds_of([[RTT_US] * 8] + [[slow] * 8] * 5 + [[slow]])).exit_us == 6 * RTT_US


@pytest.mark.parametrize(("second_us", "resumes"), [(RTT_US + 16_000, False), (RTT_US + 15_999, True)])
def test_css_is_left_when_a_round_undercuts_the_baseline(second_us: int, resumes: bool) -> None:
    slow = RTT_US + 16_000
    verdict = judge_hystartpp(rounds_of([[RTT_US] * 8, [slow] * 8, [second_us] * 9]))
    assert bool(verdict.quantities["slow_start_resumed_us"]) is resumes


def test_the_constants_are_the_rfc_s() -> None:
    asked = HyStartPlusPlus()
    assert (asked.min_rtt_thresh_us, asked.max_rtt_thresh_us, asked.min_rtt_divisor) == (4_000, 16_000, 8)
    assert (asked.n_rtt_sample, asked.css_growth_divisor, asked.css_rounds) == (8, 4, 5)


# ---- BEST: cubic_bw


def spaced(rounds: int, *, first_estimates: int = 0) -> AckTrace:
    """Rounds of ACKs a millisecond apart; before round `first_estimates` all ACKs come in one microsecond and give no estimate."""
    gaps = [0 if number < first_estimates else 1_000 for number in range(rounds)]
    time_us = np.concatenate([RTT_US * number + np.arange(20) * gap for number, gap in enumerate(gaps)])
    acked = 50_000 + np.arange(1, len(time_us) + 1) * MSS_BYTES
    sent = 50_000 + np.repeat(np.arange(1, rounds + 1) * 20, 20) * MSS_BYTES
    return make_trace(time_us, acked, RTT_US, sent)


def test_best_takes_its_estimate_at_the_opening_of_rounds_four_to_seven() -> None:
    assert judge_best(spaced(3)).exit_us is None
    assert judge_best(spaced(5)).quantities["round"] == 4
    # Rounds are numbered from 1: the sixth is the last whose estimates can count, at the opening of the seventh.
    assert judge_best(spaced(9, first_estimates=5)).quantities["round"] == 7
    assert judge_best(spaced(9, first_estimates=6)).exit_us is None


def test_best_has_no_estimate_within_one_microsecond() -> None:
    time_us = np.array([0, 0, 1, 3])
    trace = make_trace(time_us, 50_000 + np.arange(4) * MSS_BYTES, RTT_US, np.full(4, 10**6))
    assert packet_pairs(trace)[0].rate_bps.tolist() == [0, 8e9, 4e9]


def test_best_takes_the_upper_median_in_whole_megabits() -> None:
    estimates = RoundEstimates(1, 0, np.array([1.9, 7.9, 3.9, 5.9]) * 1e6)
    assert estimates.percentile_mbps(Best().percentile) == 5
    assert (estimates.percentile_mbps(0), estimates.percentile_mbps(100)) == (1, 7)


# ---- what holds for all


@pytest.mark.parametrize(("row", "is_too_late"), [(4, False), (5, True), (6, True)])
def test_an_exit_at_the_row_of_the_loss_is_too_late(row: int, is_too_late: bool) -> None:
    rows = np.arange(10)
    trace = make_trace(rows * 1_000, rows, RTT_US, lost_total_segments=(rows >= 5).astype(int))
    verdict = Rule("search", "3.1", {}).exit_at(trace, row, "why", {})
    assert (verdict.is_too_late, "too late" in verdict.reason) == (is_too_late, is_too_late)
