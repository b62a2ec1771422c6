"""When the recorded flow itself left slow start, when it first lost something, and on which clock both are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from downlink.analysis.exits.capacity import LinkRate, capacity_point
from downlink.analysis.exits.flow import flow_trace, judge_flow, plot_window
from downlink.analysis.exits.observation import judge_first_loss, judge_observed_exit
from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS, AckTrace
from downlink.codec.parquet import Columns, parquet_to_columns
from tests.fixtures.exit_traces import make_trace

DATA = Path(__file__).parents[2] / "data" / "exits"
ENDLESS = INFINITE_SSTHRESH_SEGMENTS
POLL_US = 10_000


def windows(cwnd: list[int], ssthresh: list[int], **others: Any) -> AckTrace:
    rows = np.arange(len(cwnd))
    return make_trace(rows * 100, rows * 1_000, 100, cwnd_segments=cwnd, ssthresh_segments=ssthresh, **others)


def test_slow_start_is_left_when_the_window_reaches_a_finite_ssthresh() -> None:
    trace = windows([20, 26, 27, 38, 39, 40, 41], [ENDLESS, ENDLESS, 40, 40, 40, 40, 40])
    verdict = judge_observed_exit(trace)
    assert (verdict.exit_us, verdict.cwnd_segments, verdict.quantities["ssthresh_segments"]) == (500, 40, 40)
    assert verdict.cwnd_source == "recorded"
    assert verdict.reason == "the window has reached ssthresh, 40 segments from here on"


def test_hystart_sets_ssthresh_to_the_window_and_is_left_at_once() -> None:
    assert judge_observed_exit(windows([20, 26, 26], [ENDLESS, 26, 26])).exit_us == 100


def test_an_ssthresh_that_the_window_never_reaches_ends_nothing() -> None:
    verdict = judge_observed_exit(windows([20, 26, 27], [ENDLESS, 40, 40]))
    assert (verdict.exit_us, verdict.reason) == (None, "ssthresh was set, and the window did not reach it")
    assert judge_observed_exit(windows([20, 21], [ENDLESS, ENDLESS])).exit_us is None


def test_a_timeout_ends_slow_start_although_the_window_falls_below_the_new_ssthresh() -> None:
    trace = windows([20, 26, 1, 2], [ENDLESS, ENDLESS, 13, 13], lost_total_segments=[0, 0, 26, 26])
    assert judge_observed_exit(trace).exit_us == judge_first_loss(trace).exit_us == 200
    assert judge_observed_exit(trace).reason == "a loss set ssthresh, 13 segments from here on"


def test_the_window_of_a_plot_says_what_was_recorded_and_nothing_else() -> None:
    window = plot_window(windows([20, 26, 27], [ENDLESS, ENDLESS - 1, 40]), 0, 200, 3)
    assert window.time_us == [0, 100, 200]
    assert window.cwnd_segments == [20, 26, 27]
    assert window.ssthresh_segments == [None, ENDLESS - 1, 40], "a threshold that was never set is not a number"


def test_bbr_has_no_observed_exit_and_its_start_is_not_slow_start() -> None:
    trace = windows([20, 26], [ENDLESS, 5], congestion_control="bbr")
    assert judge_observed_exit(trace).exit_us is None
    assert trace.stayed_in_slow_start is False


def test_a_probe_that_retransmits_without_a_loss_is_not_the_first_loss_for_anybody() -> None:
    trace = make_trace(
        [0, 10, 20, 30], [0, 1, 2, 3], 9, lost_total_segments=[1, 1, 1, 2], total_retrans_segments=[0, 0, 3, 3]
    )
    verdict = judge_first_loss(trace)
    # A counter's value in the first row is not a rise: it may be a lost SYN.
    assert (verdict.exit_us, dict(verdict.quantities)) == (30, {"lost_us": 30, "retransmitted_us": 20})
    assert trace.loss_us == 30
    assert judge_flow(trace).loss_us == 30


def test_retransmissions_stand_in_where_nobody_counts_the_lost() -> None:
    trace = make_trace([0, 10, 20], [0, 1, 2], 9, total_retrans_segments=[0, 0, 3])
    assert (judge_first_loss(trace).exit_us, judge_first_loss(trace).reason) == (20, "the first retransmitted segment")


@pytest.mark.parametrize(
    ("ssthresh", "lost", "stayed"),
    [
        ([ENDLESS] * 4, [0, 0, 0, 0], True),
        ([ENDLESS, ENDLESS, 14, 14], [0, 0, 1, 1], True),
        ([ENDLESS, ENDLESS, ENDLESS, 14], [0, 0, 1, 1], True),
        ([ENDLESS, 14, 14, 14], [0, 0, 1, 1], False),
        ([ENDLESS, 14, 14, 14], [0, 0, 0, 0], False),
    ],
)
def test_slow_start_lasted_to_the_loss_unless_it_was_left_before(
    ssthresh: list[int], lost: list[int], stayed: bool
) -> None:
    assert windows([20, 20, 20, 20], ssthresh, lost_total_segments=lost).stayed_in_slow_start is stayed
    assert make_trace([0, 1], [0, 1], 9).stayed_in_slow_start is None


def recorded(name: str) -> tuple[Columns, int]:
    """A per-ACK trace of the emulated link, and its first data byte: one RTT before the first ACK."""
    columns = parquet_to_columns((DATA / f"{name}.parquet").read_bytes())
    return columns, int(columns["elapsed_us"][0] - columns["ack_rtt_us"][0])


def polled(columns: Columns, first_byte_us: int) -> Columns:
    """The same flow as a poll every 10 ms would have shown it."""
    polls_us = np.arange(first_byte_us, columns["elapsed_us"][-1] + 1, POLL_US)
    rows = np.searchsorted(columns["elapsed_us"], polls_us, side="right") - 1
    held = {name: np.asarray(column)[np.maximum(rows, 0)] for name, column in columns.items() if name != "ack_rtt_us"}
    for counter in ("acked_bytes", "delivered_segments", "rtt_us"):
        held[counter] = np.where(rows < 0, 0, held[counter])
    return held | {"elapsed_us": polls_us}


@pytest.mark.parametrize("name", ["geo-viasat-on", "leo-starlink-on", "leo-starlink-off", "terrestrial-on", "own-best"])
def test_a_flow_sampled_both_ways_has_the_same_times_within_a_poll(name: str) -> None:
    columns, first_byte_us = recorded(name)
    by_ack = flow_trace(columns, "cubic", first_byte_us)
    by_poll = flow_trace(polled(columns, first_byte_us), "cubic", first_byte_us)
    assert (by_ack.is_per_ack, by_poll.is_per_ack) == (True, False)
    rate = LinkRate(20e6)
    for judge in (judge_observed_exit, judge_first_loss):
        left, right = judge(by_ack).exit_us, judge(by_poll).exit_us
        assert (left is None) == (right is None)
        assert left is None or right is None or 0 <= right - left <= POLL_US
    capacities = [capacity_point(trace, rate) for trace in (by_ack, by_poll)]
    assert capacities[0] is not None
    assert capacities[1] is not None
    left, right = capacities[0].at_us, capacities[1].at_us
    assert left is None or right is None or abs(right - left) <= POLL_US


def test_times_count_from_the_first_data_byte_and_the_first_ack_comes_a_round_trip_later() -> None:
    columns, first_byte_us = recorded("geo-viasat-on")
    trace = flow_trace(columns, "cubic", first_byte_us)
    assert trace.origin_us == first_byte_us
    assert trace.time_us[0] == columns["ack_rtt_us"][0] == 601_227
    assert trace.time_us[0] + trace.origin_us == columns["elapsed_us"][0]
