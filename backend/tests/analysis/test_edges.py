"""Each rule at its edge, on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from downlink.analysis.limits import LimitSeries, advise_buffers
from downlink.analysis.phases import run_metrics
from downlink.analysis.power import POWER, SIGNIFICANCE, detectable_difference, power_of_paired_t
from downlink.analysis.series import COUNTED, QUANTITIES, FlowSeries, sender_series
from downlink.analysis.steady import latest_steady_s, time_to_steady_s
from downlink.analysis.validity import find_fault
from downlink.domain.campaigns.campaign import Phases
from tests.fixtures.rooms import changeable

Ints = NDArray[np.int64]
S = 1_000_000


def polls(*times_us: int) -> dict[str, Ints]:
    time = np.array(times_us)
    return {"elapsed_us": time, "acked_bytes": time // 8, "rtt_us": np.full_like(time, 5_000)}


def test_a_sample_on_the_edge_belongs_to_the_later_bin() -> None:
    assert np.isnan(sender_series(polls(0, S, 2 * S), 0).column("rtt_ms")).tolist() == [False, False]
    assert np.isnan(sender_series(polls(0, S - 1, 2 * S), 0).column("rtt_ms")).tolist() == [False, True]


@pytest.mark.parametrize(("gap_us", "is_missing"), [(2 * S, False), (2 * S + 1, True)])
def test_a_gap_is_missing_from_more_than_two_seconds_on(gap_us: int, is_missing: bool) -> None:
    series = sender_series(polls(0, S // 2, S // 2 + gap_us, 4 * S), 0)
    assert bool(np.isnan(series.column("goodput_bps")[1])) == is_missing


@pytest.mark.parametrize(("first_us", "is_missing"), [(2 * S, False), (2 * S + 1, True)])
def test_so_is_one_before_the_first_sample(first_us: int, is_missing: bool) -> None:
    series = sender_series(polls(first_us, 3 * S, 4 * S), 0)
    assert bool(np.isnan(series.column("goodput_bps")[0])) == is_missing
    assert bool(np.isnan(series.counted[1, 0])) == is_missing, "what came before the first sample is not known"


def even(count: int, first_us: int, last_us: int) -> dict[str, Ints]:
    return {"elapsed_us": np.linspace(first_us, last_us, count).astype(np.int64)}


@pytest.mark.parametrize(("count", "is_thin"), [(100, False), (99, True)])
def test_ten_samples_a_second_are_enough(count: int, is_thin: bool) -> None:
    fault = find_fault(even(count, 0, 10 * S), 0, 10 * S)
    assert (fault is not None) == is_thin
    assert fault is None or "9.9 samples a second" in fault.detail


@pytest.mark.parametrize(("gap_us", "is_thin"), [(3 * S, False), (3 * S + 30, True)])
def test_nine_tenths_of_a_transfer_are_enough(gap_us: int, is_thin: bool) -> None:
    time = np.concatenate([np.arange(0, 10 * S + 1, 10_000), np.arange(10 * S + gap_us, 30 * S + 1, 10_000)])
    assert (find_fault({"elapsed_us": time}, 0, 30 * S) is not None) == is_thin


@pytest.mark.parametrize("length_us", [2 * S, 2 * S + 1])
def test_only_gaps_of_more_than_two_seconds_are_not_covered(length_us: int) -> None:
    """Six of them in a minute are a fifth of it."""
    starts = [
        each
        for at in range(0, 60, 10)
        for each in (at * S + length_us, *range(at * S + 3 * S, (at + 10) * S + 1, 10_000))
    ]
    time = np.unique([0, *starts])
    assert (find_fault({"elapsed_us": time}, 0, 60 * S) is None) == (length_us == 2 * S)


@pytest.mark.parametrize(("at_us", "is_within"), [(S - 1, False), (S, True), (2 * S, True), (2 * S + 1, False)])
def test_a_sample_at_the_first_or_last_byte_is_one_of_the_transfer(at_us: int, is_within: bool) -> None:
    rows = {"elapsed_us": np.array([at_us]), "ack_rtt_us": np.array([1])}
    fault = find_fault(rows, S, 2 * S)
    assert (fault is None) == is_within


@pytest.mark.parametrize(("start_s", "startup", "steady"), [(0.0, 20.0, 70.0), (0.5, 15.0, 70.0), (0.6, 15.0, 70.0)])
def test_a_bin_whose_middle_lies_on_the_edge_begins_the_later_phase(
    start_s: float, startup: float, steady: float
) -> None:
    """Start-up is 3 s. At 0.5 s bin 2 has its middle at 3.0 s and is no longer part of it."""
    rates = 10.0 * np.arange(1, 9)
    values = np.full((len(QUANTITIES), 8), np.nan)
    counted = np.tile(rates / 8, (len(COUNTED), 1))
    (found,) = run_metrics([FlowSeries(values, counted, np.ones(8))], [start_s], Phases(3.0, 3.0), 1.0)
    assert (found["startup"]["throughput_bps"], found["steady"]["throughput_bps"]) == (startup, steady)


@pytest.mark.parametrize(("rate", "time_s"), [(90.0, 5.0), (90.1, 2.0)])
def test_steady_is_above_nine_tenths_and_not_at_them(rate: float, time_s: float) -> None:
    """At 90 the first mean above 90 is that of bins 3 to 7, which has one 100."""
    assert time_to_steady_s(np.array([rate] * 7 + [100.0] * 10), 100.0) == time_s


@pytest.mark.parametrize(("bins", "latest_s"), [(4, np.nan), (5, 2.0), (35, 32.0)])
def test_the_latest_time_to_steady_is_the_last_windows_middle(bins: int, latest_s: float) -> None:
    assert latest_steady_s(bins) == pytest.approx(latest_s, nan_ok=True)
    rates = np.append(np.zeros(max(0, bins - 5)), [100.0] * min(bins, 5))
    assert time_to_steady_s(rates, 100.0) == pytest.approx(latest_s, nan_ok=True)


@pytest.mark.parametrize(("held", "is_lower_bound"), [(5, False), (6, True)])
def test_buffers_were_the_limit_when_they_held_most_seconds(held: int, is_lower_bound: bool) -> None:
    """8 Mb/s at 1 s are 1 MB; 2.5 times that in pages of 4,096 bytes. The link's 16 Mb/s count where a buffer held."""
    shares = np.zeros((4, 10))
    shares[0], shares[0, :held], shares[1, :held] = 1, 0, 1
    advice = advise_buffers(np.full(10, 8e6), 1000.0, LimitSeries(shares), 16e6)
    assert advice is not None
    assert (advice.bdp_bytes, advice.is_lower_bound) == (1_000_000, is_lower_bound)
    assert advice.max_bytes == 4096 * (1221 if is_lower_bound else 611)


def test_the_advised_rate_is_the_95th_percentile() -> None:
    advice = advise_buffers(np.arange(101) * 8e4, 1000.0, LimitSeries(np.full((4, 1), np.nan)))
    assert advice is not None
    assert advice.bdp_bytes == 950_000


def test_a_detectable_difference_is_seen_in_four_of_five_studies_at_five_percent() -> None:
    assert (POWER, SIGNIFICANCE) == (0.8, 0.05)
    assert power_of_paired_t(detectable_difference(1.0, 10), 10) == pytest.approx(0.8)


def test_nothing_that_the_analysis_hands_out_can_be_changed() -> None:
    assert changeable("analysis") == ["Thinning", "_State"], (
        "which take a trace part by part, and replay a sender as it goes"
    )


@pytest.mark.parametrize("first_byte_us", [0, 3, 1_234_567])
def test_a_stop_by_seconds_counts_from_the_first_byte(first_byte_us: int) -> None:
    time_us = first_byte_us + np.arange(0, 10_000_001, 100_000)
    columns = {"elapsed_us": time_us, "acked_bytes": (time_us - first_byte_us) // 8}
    series = sender_series(columns, first_byte_us, duration_s=5.5)
    assert series.bins == 5
    assert series.column("goodput_bps") == pytest.approx([1e6] * 5)
    assert sender_series(columns, first_byte_us, duration_s=20).bins == 10


@pytest.mark.parametrize("end_us", [S - 1, 0, -3 * S])
def test_a_trace_that_ends_before_the_first_second_or_byte_has_no_bins(end_us: int) -> None:
    series = sender_series(polls(end_us - 2 * S, end_us), 0, duration_s=None)
    assert series.bins == (0 if end_us < 0.99 * S else 1)
