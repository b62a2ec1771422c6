"""The sliding window of Kachooei 2023 (SEARCH), BEST, traces that cannot be judged, and sweeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from downlink.analysis.exits.best import Best, judge_best, packet_pairs
from downlink.analysis.exits.capacity import LinkRate
from downlink.analysis.exits.hystart import HyStart, Kernel, judge_hystart
from downlink.analysis.exits.outcomes import Timing
from downlink.analysis.exits.panel import judge_all
from downlink.analysis.exits.search import Search31, Search40, judge_search_31, judge_search_40
from downlink.analysis.exits.sliding import exit_times, judge_search_10, sliding_curves
from downlink.analysis.exits.sweep import (
    SWEEPABLE,
    combinations,
    grid,
    parameter_sets,
    rates,
    sweep,
    until_loss,
)
from downlink.analysis.exits.sweep_parameters import sweepable
from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS, AckTrace, trace_from_fields
from downlink.analysis.exits.verdict import Verdict
from downlink.domain.errors import InvalidError
from tests.fixtures.exit_traces import MSS_BYTES, make_trace, random_trace

BIN_US = 35_000
JUDGES: dict[tuple[str, str], Callable[[AckTrace, Any], Verdict]] = {
    ("search", "1.0"): judge_search_10,
    ("search", "3.1"): judge_search_31,
    ("search", "4.0"): judge_search_40,
    ("hystart", "<=5.4"): judge_hystart,
    ("hystart", "6.x"): judge_hystart,
}


def saturating_flow(*, loss_at_us: int | None = None) -> AckTrace:
    """An ACK every millisecond. 100 bytes are sent per ms all the time; from 700 ms on only 60 of them arrive."""
    time_us = np.arange(1_500) * 1_000
    acked = np.cumsum(np.where(time_us < 700_000, 100, 60))
    others = {} if loss_at_us is None else {"lost_total_segments": (time_us >= loss_at_us).astype(int)}
    return make_trace(time_us, acked, 100_000, 10_000 + np.arange(1_500) * 100, **others)


def test_norm_is_the_share_of_sent_bytes_that_did_not_arrive() -> None:
    curves = sliding_curves(saturating_flow())
    before, after = curves.time_us < 700_000, curves.time_us > 700_000 + 10 * BIN_US
    assert np.allclose(np.nan_to_num(curves.norm_ratio[before]), 0, atol=0.02)
    assert np.allclose(curves.norm_ratio[after], 0.4, atol=0.01)


def test_whole_bins_follow_the_full_window_less_closely() -> None:
    """A round trip is always 2.86 bins: rounded to 3, what is compared was sent half a millisecond earlier."""
    time_us = np.arange(2_000) * 100
    sent = np.cumsum(np.round(100 * 2 ** (time_us / 40_000))).astype(int)
    trace = make_trace(time_us, np.maximum(sent - 50_000, 0), 10_000, sent)
    parts, whole = sliding_curves(trace), sliding_curves(trace, whole_bins=True)
    assert np.array_equal(parts.best_norm_ratio, whole.best_norm_ratio, equal_nan=True)
    assert np.nanmean(whole.error_ratio) > 2 * np.nanmean(parts.error_ratio)


def test_ten_bins_follow_the_full_window_closely() -> None:
    curves = sliding_curves(saturating_flow())
    assert np.nanmax(curves.error_ratio) < 0.02
    assert np.count_nonzero(~np.isnan(curves.error_ratio)) > 20


def test_capacity_comes_before_the_exit_and_both_before_the_loss() -> None:
    trace = saturating_flow(loss_at_us=1_400_000)
    times = exit_times(trace, sliding_curves(trace))
    # 10 % and 25 % of the bytes are missing when a quarter and five eighths of the window of 350 ms lie past 700 ms.
    assert times.cg_us == pytest.approx(700_000 + 350_000 / 4, abs=BIN_US + 1_000)
    assert times.ex_us == pytest.approx(700_000 + 350_000 * 5 / 8, abs=BIN_US + 1_000)
    assert (times.dp_us, times.is_success) == (1_400_000, True)
    assert judge_search_10(trace).exit_us == times.ex_us
    early = exit_times(saturating_flow(loss_at_us=800_000), sliding_curves(saturating_flow()))
    assert not early.is_success
    late = judge_search_10(saturating_flow(loss_at_us=800_000))
    assert late.exit_us == times.ex_us
    assert late.is_too_late


def spaced_rounds(gaps_us: list[int], acks: int = 20) -> AckTrace:
    """Rounds of evenly spaced ACKs, a full MSS each, one spacing per round; RTT 100 ms."""
    time_us = np.concatenate([100_000 * n + np.arange(acks) * gap for n, gap in enumerate(gaps_us)])
    acked = 50_000 + np.arange(1, len(time_us) + 1) * MSS_BYTES
    sent = 50_000 + np.repeat(np.arange(1, len(gaps_us) + 1) * acks, acks) * MSS_BYTES
    return make_trace(time_us, acked, 100_000, sent)


def test_packet_pairs_turn_spacing_into_a_rate() -> None:
    estimates = packet_pairs(spaced_rounds([1_000, 500, 250]))
    assert [float(np.median(e.rate_bps)) for e in estimates] == [8e6, 16e6, 32e6]
    assert [e.number for e in packet_pairs(spaced_rounds([1_000, 500, 250]), rounds=2)] == [1, 2]


def test_best_sets_ssthresh_at_the_fourth_round_from_the_third() -> None:
    verdict = judge_best(spaced_rounds([1_000, 1_000, 800, 1_000, 1_000]))
    assert (verdict.quantities["estimate_mbps"], verdict.quantities["round"]) == (10, 4)
    # 10 Mb/s x 100 ms = 125,000 bytes.
    assert verdict.quantities["ssthresh_segments"] == 125
    assert verdict.quantities["ssthresh_set_us"] == 300_000
    assert verdict.cwnd_segments == 125


def test_an_estimate_below_the_window_ends_slow_start_at_once() -> None:
    assert judge_best(spaced_rounds([4_000] * 5)).exit_us == 300_000


def test_bunched_acks_count_as_one_only_when_asked() -> None:
    time_us = np.sort(np.concatenate([np.arange(30) * 10_000, np.arange(30) * 10_000 + 10]))
    trace = make_trace(time_us, 50_000 + np.arange(1, 61) * MSS_BYTES, 100_000, np.full(60, 10**6))
    assert set(packet_pairs(trace)[0].rate_bps) == {8e8, MSS_BYTES * 8e6 / 9_990}
    assert set(packet_pairs(trace, Best(merge_us=50))[0].rate_bps) == {2 * MSS_BYTES * 8e6 / 10_000}


def test_at_most_three_hundred_estimates_are_kept_and_same_microsecond_gives_none() -> None:
    rows = 1_000
    trace = make_trace(np.zeros(rows, int), 50_000 + np.arange(rows), 100_000, np.full(rows, 10**6))
    assert packet_pairs(trace)[0].rate_bps.tolist() == [0.0] * 300
    assert judge_best(trace).exit_us is None


def test_recorded_windows_count_only_while_slow_start_lasted() -> None:
    columns = {"cwnd_segments": [20, 21, 22, 23], "ssthresh_segments": [INFINITE_SSTHRESH_SEGMENTS] * 2 + [22, 22]}
    times, acked = [0, 1, 2, 3], [1_000, 2_000, 3_000, 4_000]
    trace = make_trace(times, acked, 9, **columns)
    assert trace.slow_start_cwnd_segments.tolist() == [20, 21, 22, 13], (
        "the third ACK met 22 and ended slow start there"
    )
    assert [trace.is_cwnd_recorded(row) for row in range(4)] == [True, True, True, False]
    polled = make_trace(times, acked, 9, is_per_ack=False, **columns)
    assert polled.slow_start_cwnd_segments.tolist() == [20, 21, 12, 13], "a poll that shows the exit came after it"
    assert make_trace([0, 1], [1_000, 2_000], 9).slow_start_cwnd_segments.tolist() == [10, 11]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"acked_bytes": [2, 1]}, "acked_bytes falls"),
        ({"elapsed_us": [1, 0]}, "time_us falls"),
        ({"elapsed_us": [9, 2]}, "time_us falls"),
        ({"acked_bytes": [9, 2]}, "acked_bytes falls"),
        ({"snd_mss_bytes": [0, 1]}, "snd_mss_bytes must be above 0"),
        ({"snd_mss_bytes": [-1, 1]}, "snd_mss_bytes must be above 0"),
        ({"ack_rtt_us": [1]}, "not all equally long"),
        ({"elapsed_us": []}, "no rows"),
    ],
)
def test_what_is_no_flow_is_refused(change: dict[str, list[int]], said: str) -> None:
    columns = {"elapsed_us": [0, 1], "acked_bytes": [0, 1], "snd_mss_bytes": [1, 1], "ack_rtt_us": [1, 1]} | change
    with pytest.raises(InvalidError, match=said):
        trace_from_fields(columns, is_per_ack=True)


def test_acks_may_share_a_microsecond_and_acknowledge_nothing_new() -> None:
    assert make_trace([5, 5], [7, 7], 9).rows == 2
    assert make_trace([5], [0], 9).rows == 1


def test_a_missing_quantity_is_named() -> None:
    with pytest.raises(InvalidError, match="snd_mss_bytes"):
        trace_from_fields({"elapsed_us": [0], "acked_bytes": [0]}, is_per_ack=True)
    assert "ssthresh_segments" in make_trace([0], [0], 1).absent


def test_every_detector_speaks_once_per_parameter_set() -> None:
    verdicts = list(judge_all(random_trace(3)))
    names = [verdict.identity for verdict in verdicts]
    assert len(set(names)) == len(names) == 17
    assert all(v.reason for v in verdicts)
    assert all((v.exit_us is None) == (v.cwnd_segments is None) for v in verdicts)


def test_a_lower_threshold_never_exits_later() -> None:
    trace = saturating_flow(loss_at_us=1_400_000)
    sets = grid(Search31(), threshold_percent=[20, 35, 45, 60])
    exits = [outcome.exit_us for outcome in sweep(trace, sets)]
    reached = [at for at in exits if at is not None]
    assert reached == sorted(reached)
    # More than half of twice the earlier deliveries can only be missing once they stop altogether.
    assert exits[-1] is None


def test_sweeping_judges_each_set_as_it_would_alone_and_reads_nothing_past_the_loss() -> None:
    trace = saturating_flow(loss_at_us=1_400_000)
    assert trace.loss_row == 1_400
    assert until_loss(trace).rows == 1_401
    # 12,000 bytes are in flight from 750 ms on.
    outcome = sweep(trace, [Search31()], LinkRate(12_000 * 8 / 0.1))[0]
    assert outcome.timing is Timing.EARLY
    assert outcome.hr_us == 1_400_000 - (outcome.exit_us or 0)
    summary = rates([outcome, outcome])
    assert (summary.n, summary.shares[Timing.EARLY].value, summary.hr_s) == (2, 1, None)


def test_polled_traces_do_not_count_in_the_rates() -> None:
    coarse = make_trace(np.arange(30) * 10**6, np.arange(30), 100_000, np.arange(30), is_per_ack=False)
    outcomes = sweep(coarse, [Search31()])
    assert (outcomes[0].timing, rates(outcomes).n) == (None, 0)


@pytest.mark.parametrize(
    ("detector", "version", "values"),
    [
        ("search", "1.0", {"threshold_ratio": [0.1, 0.25, 0.9], "bins": [5, 10], "window_factor": [2, 3.5]}),
        (
            "search",
            "3.1",
            {"threshold_percent": [5, 35, 90], "bins": [5, 10], "alpha": [1, 2], "window_factor": [2, 9.9]},
        ),
        ("search", "4.0", {"threshold_percent": [5, 26, 90], "bins": [5, 10], "window_factor": [2, 3.5]}),
        ("hystart", "<=5.4", {"detect": [1, 2, 3], "low_window": [2, 16], "delay_low_us": [500, 4_000]}),
        ("hystart", "6.x", {"ack_delta_us": [500, 2_000], "min_samples": [4, 8], "delay_high_us": [600, 16_000]}),
    ],
)
def test_sets_swept_together_are_judged_as_each_alone(
    detector: str, version: str, values: dict[str, list[float]]
) -> None:
    sets = parameter_sets(detector, version, values)
    assert len(sets) == len(combinations(values))
    for seed in range(20):
        trace = random_trace(seed, rows=1_500, with_losses=True)
        alone = [JUDGES[detector, version](until_loss(trace), each).exit_us for each in sets]
        assert [outcome.exit_us for outcome in sweep(trace, sets)] == alone


def test_a_grid_in_units_of_people_reaches_the_detector_in_its_own() -> None:
    values = {"window_factor": [2.5, 3.5], "bins": [8.0]}
    assert parameter_sets("search", "4.0", values) == [Search40(25, 8), Search40(35, 8)]
    assert combinations(values) == [{"bins": 8, "window_factor": 2.5}, {"bins": 8, "window_factor": 3.5}]
    assert parameter_sets("hystart", "5.10", {"detect": [2]}) == [HyStart(Kernel.V5_10, detect=2)]


def test_what_can_be_swept_says_its_default_and_holds_it() -> None:
    for parameters in SWEEPABLE.values():
        for each in sweepable(parameters):
            assert each.counted(each.default) == getattr(parameters, each.name)
            assert each.counted(each.low) <= each.counted(each.high)
            assert each.meaning


SWEPT: dict[tuple[str, str], dict[str, tuple[float, float, float, str]]] = {
    ("search", "1.0"): {
        "window_factor": (3.5, 1, 10, "RTT"),
        "bins": (10, 2, 20, "bins"),
        "threshold_ratio": (0.25, 0.01, 1, "ratio"),
    },
    ("search", "3.1"): {
        "window_factor": (3.5, 1, 10, "RTT"),
        "bins": (10, 2, 40, "bins"),
        "threshold_percent": (35, 1, 100, "%"),
        "alpha": (2, 1, 100, "RTT"),
    },
    ("search", "4.0"): {
        "window_factor": (3.5, 1, 10, "RTT"),
        "bins": (10, 2, 40, "bins"),
        "threshold_percent": (26, 1, 100, "%"),
    },
    ("hystart", "6.x"): {
        "detect": (3, 1, 3, "mask"),
        "low_window": (16, 2, 1_000, "segments"),
        "min_samples": (8, 2, 64, "samples"),
        "ack_delta_us": (2_000, 100, 50_000, "us"),
        "delay_low_us": (4_000, 500, 200_000, "us"),
        "delay_high_us": (16_000, 500, 1_000_000, "us"),
    },
}


@pytest.mark.parametrize("detector", SWEPT)
def test_each_parameter_is_swept_within_its_range_in_whole_steps(detector: tuple[str, str]) -> None:
    found = {each.name: each for each in sweepable(SWEEPABLE[detector])}
    assert {each.name: (each.default, each.low, each.high, each.unit) for each in found.values()} == SWEPT[detector]
    for each in found.values():
        step = 1 / each.steps if each.steps else 0.001
        for outside in (each.low - step, each.high + step):
            with pytest.raises(InvalidError, match=f"{each.name} must be from"):
                each.counted(outside)
        if each.steps:
            assert each.counted(each.low + step) == each.counted(each.low) + 1
            with pytest.raises(InvalidError, match="must be a multiple of"):
                each.counted(each.low + step / 2)


def test_a_thousand_sets_are_the_most() -> None:
    most: dict[str, list[float]] = {"threshold_percent": list(range(1, 101)), "bins": list(range(2, 12))}
    assert len(parameter_sets("search", "4.0", most)) == 1_000
    with pytest.raises(InvalidError, match="1,100 parameter sets; at most 1,000 are allowed"):
        parameter_sets("search", "4.0", {**most, "bins": list(range(2, 13))})


@pytest.mark.parametrize(
    ("detector", "values", "said"),
    [
        ("search 9", {"bins": [5]}, "no detector"),
        ("search 4.0", {"alpha": [2]}, "no parameter alpha"),
        ("search 4.0", {}, "at least one"),
        ("search 4.0", {"bins": []}, "at least one"),
        ("search 4.0", {"bins": [5, 6, 5]}, "bins has a value twice"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(detector: str, values: dict[str, list[float]], said: str) -> None:
    name, version = detector.split()
    with pytest.raises(InvalidError, match=said):
        parameter_sets(name, version, values)


def test_a_grid_names_unknown_parameters() -> None:
    with pytest.raises(ValueError, match="no parameter thresh"):
        grid(Search31(), thresh=[1])
    assert [s.bins for s in grid(Search31(), alpha=[1, 2], bins=[5, 6])] == [5, 6, 5, 6]
