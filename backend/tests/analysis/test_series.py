from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downlink.analysis.series import QUANTITIES, FlowSeries, receiver_series, sender_series

Columns = dict[str, NDArray[np.int64]]
ZERO_US = 600_000


def make_trace(elapsed_us: Any, **columns: Any) -> Columns:
    """A sender's trace; a single number is repeated for every sample."""
    time = np.asarray(elapsed_us, np.int64)
    return {"elapsed_us": time} | {
        name: np.broadcast_to(np.asarray(value, np.int64), time.shape).copy() for name, value in columns.items()
    }


def steady_trace(seconds: int = 10, rate_hz: int = 100, segments_a_second: int = 1000) -> Columns:
    time = ZERO_US + np.arange(seconds * rate_hz + 1) * (1_000_000 // rate_hz)
    delivered = (time - ZERO_US) * segments_a_second // 1_000_000
    return make_trace(
        time,
        delivered_segments=delivered,
        snd_mss_bytes=1448,
        acked_bytes=delivered * 1448,
        rtt_us=600_000,
        snd_wnd_bytes=3_000_000,
        cwnd_segments=500,
        unacked_segments=400,
        sent_bytes=delivered * 1448 * 2,
        retransmitted_bytes=delivered * 1448 // 10,
    )


def equal(one: FlowSeries, other: FlowSeries) -> bool:
    return np.allclose(one.values, other.values, rtol=1e-9, equal_nan=True)


def test_a_steady_flow_has_the_same_value_in_every_bin() -> None:
    series = sender_series(steady_trace(), ZERO_US)
    assert series.bins == 10
    expected = [1000 * 1448 * 8, 1000 * 1448 * 8, 600.0, 3e6, 500 * 1448, 5.0, 400 * 1448]
    assert np.allclose(series.values[:-1], np.array(expected)[:, None], rtol=1e-6)
    assert np.isnan(series.column("probe_loss_percent")).all()


def test_a_counter_is_interpolated_at_the_edges_of_a_bin() -> None:
    """By hand: 0 at -0.5 s, 3000 at 0.5 s, 9000 at 1.5 s; so 1500 at 0, 6000 at 1 s."""
    trace = make_trace([0, 1_000_000, 2_000_000], acked_bytes=[0, 3_000, 9_000])
    series = sender_series(trace, 500_000)
    assert series.column("goodput_bps").tolist() == [(6_000 - 1_500) * 8.0]


def test_a_gauge_is_the_mean_over_the_time_of_its_bin() -> None:
    """Each value lasts until the next: 0.4 s of 10 and 0.6 s of 20, then 40 for a second."""
    trace = make_trace([0, 400_000, 1_000_000, 2_000_000], rtt_us=[10_000, 20_000, 40_000, 90_000])
    assert sender_series(trace, 0).column("rtt_ms") == pytest.approx([16.0, 40.0])


def test_a_value_from_before_the_edge_counts_until_the_first_sample_of_the_bin() -> None:
    trace = make_trace([0, 900_000, 1_500_000, 2_000_000], rtt_us=[10_000, 20_000, 40_000, 90_000])
    assert sender_series(trace, 0).column("rtt_ms") == pytest.approx([11.0, 30.0])


@pytest.mark.parametrize(("gap_us", "expected"), [(1_900_000, 22.0), (2_000_000, 20.0), (2_300_000, 11 / 0.7)])
def test_a_value_lasts_for_two_seconds_at_most(gap_us: int, expected: float) -> None:
    """10 at 0.5 s, then 30 after the gap. After 2.3 s the time from 2.5 to 2.8 s has no value."""
    trace = make_trace([0, 500_000, 500_000 + gap_us, 3_000_000], rtt_us=[10_000, 10_000, 30_000, 30_000])
    assert sender_series(trace, 0).column("rtt_ms")[2] == pytest.approx(expected)


def test_an_rtt_of_zero_is_not_a_measurement() -> None:
    trace = make_trace([0, 400_000, 1_000_000, 2_000_000], rtt_us=[0, 20_000, 0, 90_000])
    rtt_ms = sender_series(trace, 0).column("rtt_ms")
    assert rtt_ms[0] == 20.0
    assert np.isnan(rtt_ms[1])


def test_a_gap_longer_than_two_seconds_is_missing_and_not_zero() -> None:
    time = [0, 500_000, 1_000_000, 4_500_000, 5_000_000, 6_000_000]
    series = sender_series(make_trace(time, acked_bytes=[0, 1, 2, 9, 10, 12], rtt_us=5_000), 0)
    assert np.isnan(series.column("goodput_bps")).tolist() == [False, False, True, True, False, False]
    assert np.isnan(series.column("rtt_ms")).tolist() == [False, False, True, True, False, False]


def test_a_shorter_gap_is_bridged_for_counters_and_open_for_gauges() -> None:
    series = sender_series(make_trace([0, 900_000, 2_800_000, 3_000_000], acked_bytes=[0, 9, 28, 30], rtt_us=5_000), 0)
    assert series.column("goodput_bps") == pytest.approx([80.0, 80.0, 80.0])
    assert np.isnan(series.column("rtt_ms")).tolist() == [False, True, False]


def test_seconds_before_the_first_sample_are_missing() -> None:
    series = sender_series(make_trace([3_500_000, 4_000_000, 5_000_000], acked_bytes=[0, 5, 9]), 0)
    assert np.isnan(series.column("goodput_bps")).tolist() == [True, True, True, False, False]


def test_a_bin_that_the_trace_does_not_fill_is_left_out() -> None:
    assert sender_series(make_trace([0, 1_989_999], acked_bytes=[0, 1]), 0).bins == 1
    assert sender_series(make_trace([0, 1_990_000], acked_bytes=[0, 1]), 0).bins == 2
    assert sender_series(make_trace([0, 2_000_000], acked_bytes=[0, 1]), 0).bins == 2


def test_what_drains_after_the_stop_does_not_count() -> None:
    assert sender_series(steady_trace(10), ZERO_US, duration_s=7).bins == 7
    assert sender_series(steady_trace(10), ZERO_US, duration_s=70).bins == 10


@pytest.mark.parametrize("time", [[], [5], [0, 400_000]])
def test_a_trace_of_less_than_a_second_has_no_bins(time: list[int]) -> None:
    series = sender_series(make_trace(time, acked_bytes=0, rtt_us=1, snd_mss_bytes=1448, cwnd_segments=1), 0)
    assert series.values.shape == (len(QUANTITIES), 0)


def test_an_absent_field_is_missing_and_never_invented() -> None:
    series = sender_series(make_trace([0, 1_000_000], acked_bytes=[0, 5]), 0)
    present = {name for name in QUANTITIES if not np.isnan(series.column(name)).any()}
    assert present == {"throughput_bps", "goodput_bps"}


def test_without_a_count_of_delivered_segments_throughput_is_goodput_and_says_so() -> None:
    trace = steady_trace()
    assert not sender_series(trace, ZERO_US).is_throughput_from_acks
    del trace["delivered_segments"]
    series = sender_series(trace, ZERO_US)
    assert series.is_throughput_from_acks
    assert np.array_equal(series.column("throughput_bps"), series.column("goodput_bps"))


def test_small_messages_do_not_count_as_full_segments() -> None:
    """200 messages of 16 bytes a second, a segment each."""
    time = np.arange(2_001) * 5_000
    trace = make_trace(time, delivered_segments=time // 5_000, snd_mss_bytes=1448, acked_bytes=16 * (time // 5_000))
    assert np.allclose(sender_series(trace, 0, is_full=False).column("throughput_bps"), 200 * 16 * 8)
    assert np.allclose(sender_series(trace, 0).column("throughput_bps"), 200 * 1448 * 8)


def test_throughput_counts_what_arrived_out_of_order_and_goodput_does_not() -> None:
    """During recovery segments are delivered (SACK) while the cumulative acknowledgement stands."""
    trace = make_trace(
        [0, 1_000_000, 2_000_000],
        delivered_segments=[0, 100, 150],
        snd_mss_bytes=1000,
        acked_bytes=[0, 0, 150_000],
    )
    series = sender_series(trace, 0)
    assert series.column("throughput_bps").tolist() == [800_000, 400_000]
    assert series.column("goodput_bps").tolist() == [0, 1_200_000]


def test_a_change_of_the_segment_size_is_no_jump() -> None:
    trace = make_trace([0, 1_000_000, 2_000_000], delivered_segments=[1000, 1010, 1020], snd_mss_bytes=[500, 500, 1000])
    assert sender_series(trace, 0).column("throughput_bps").tolist() == [40_000, 80_000]


def test_retransmissions_are_a_share_of_what_was_sent() -> None:
    trace = make_trace([0, 1_000_000, 2_000_000], sent_bytes=[0, 200, 200], retransmitted_bytes=[0, 50, 50])
    share = sender_series(trace, 0).column("retransmission_percent")
    assert share[0] == 25.0
    assert np.isnan(share[1]), "nothing sent, no share"


def test_the_receiver_tells_goodput_and_its_window() -> None:
    trace = make_trace(
        [0, 500_000, 1_000_000], received_bytes=[0, 500, 1000], rcv_rtt_us=[0, 6_000, 0], rcv_wnd_bytes=7
    )
    series = receiver_series(trace, 0)
    assert series.column("goodput_bps").tolist() == [8_000]
    assert (series.column("rtt_ms")[0], series.column("rwnd_bytes")[0]) == (6.0, 7.0)
    assert np.isnan(series.column("throughput_bps")).all()


@st.composite
def random_traces(draw: st.DrawFn) -> Columns:
    steps = draw(st.lists(st.integers(1, 1_500_000), min_size=2, max_size=40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = len(steps)

    def counter(most: int) -> NDArray[np.int64]:
        return np.cumsum(rng.integers(0, most, size))

    return make_trace(
        np.cumsum(steps),
        delivered_segments=counter(1000),
        snd_mss_bytes=rng.choice([1448, 536], size) if draw(st.booleans()) else 1448,
        acked_bytes=counter(10**6),
        rtt_us=rng.integers(0, 10**6, size),
        snd_wnd_bytes=rng.integers(0, 10**8, size),
        cwnd_segments=rng.integers(1, 10**5, size),
        unacked_segments=rng.integers(0, 10**5, size),
        sent_bytes=counter(10**6),
        retransmitted_bytes=counter(10**4),
    )


@given(random_traces(), st.integers(-(10**12), 10**12))
def test_a_shift_of_the_clock_changes_nothing(trace: Columns, shift_us: int) -> None:
    shifted = {**trace, "elapsed_us": trace["elapsed_us"] + shift_us}
    assert equal(
        sender_series(shifted, int(shifted["elapsed_us"][0])), sender_series(trace, int(trace["elapsed_us"][0]))
    )


@given(random_traces(), st.integers(2, 9))
def test_rates_scale_with_the_bytes(trace: Columns, factor: int) -> None:
    scaled = {**trace, "acked_bytes": trace["acked_bytes"] * factor}
    one, other = (sender_series(each, int(each["elapsed_us"][0])).column("goodput_bps") for each in (trace, scaled))
    assert np.allclose(one * factor, other, rtol=1e-9, equal_nan=True)


@given(random_traces())
def test_bins_and_what_is_left_add_up_to_the_whole(trace: Columns) -> None:
    zero_us = int(trace["elapsed_us"][0])
    series = sender_series(trace, zero_us)
    end_us = min(zero_us + series.bins * 1_000_000, int(trace["elapsed_us"][-1]))
    whole = np.interp(end_us, trace["elapsed_us"], trace["acked_bytes"]) - trace["acked_bytes"][0]
    assert np.nansum(series.column("goodput_bps") * series.length_s) / 8 == pytest.approx(whole, rel=1e-9, abs=1e-3)


@given(random_traces())
def test_bins_agree_with_a_plain_loop_over_the_definition(trace: Columns) -> None:
    time, zero_us = trace["elapsed_us"], int(trace["elapsed_us"][0])
    series = sender_series(trace, zero_us)
    size = np.diff(trace["delivered_segments"], prepend=0) * trace["snd_mss_bytes"]
    delivered = np.cumsum(size)
    cwnd = trace["cwnd_segments"] * trace["snd_mss_bytes"]
    for k in range(series.bins):
        low, high = zero_us + k * 1_000_000, min(zero_us + (k + 1) * 1_000_000, int(time[-1]))
        at_edges = np.interp([low, high], time, delivered)
        rate_bps = 8e6 * (at_edges[1] - at_edges[0]) / (high - low)
        assert series.column("throughput_bps")[k] == pytest.approx(rate_bps, rel=1e-9, abs=1e-3)
        expected = mean_over_time(time, cwnd, low, high)
        assert series.column("cwnd_bytes")[k] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def mean_over_time(time: NDArray[np.int64], values: NDArray[np.int64], low: int, high: int) -> float:
    """Sample by sample: each value from its time to the next, missing without a sample in the bin."""
    if not ((time >= low) & (time < high)).any():
        return float("nan")
    spans = [max(0, min(end, high) - max(start, low)) for start, end in zip(time, [*time[1:], high], strict=True)]
    return sum(span * value for span, value in zip(spans, values, strict=True)) / sum(spans)


@given(random_traces(), st.data())
def test_a_sample_on_the_line_between_two_others_does_not_change_a_rate(trace: Columns, data: st.DataObject) -> None:
    """Merging or splitting the steps of a counter is a matter of the sampler, not of the flow."""
    place = data.draw(st.integers(1, len(trace["elapsed_us"]) - 1))
    even = {name: values * 2 for name, values in trace.items()}
    between = {name: np.insert(v, place, (v[place - 1] + v[place]) // 2) for name, v in even.items()}
    zero_us = int(even["elapsed_us"][0])
    one, other = (sender_series(each, zero_us).column("goodput_bps") for each in (even, between))
    there = ~(np.isnan(one) | np.isnan(other))
    assert np.allclose(one[there], other[there], rtol=1e-9, atol=1e-6)
