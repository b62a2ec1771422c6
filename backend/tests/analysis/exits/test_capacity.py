"""The capacity point by hand: an ACK every 10 ms, RTT 100 ms, segments of 1,000 bytes, unless a test says otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from downlink.analysis.exits.capacity import Basis, Capacity, LinkRate, capacity_point
from downlink.analysis.exits.outcomes import Timing, timing_of
from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS, AckTrace
from tests.fixtures.exit_traces import make_trace

RTT_US, STEP_US, ROWS = 100_000, 10_000, 200
LINK = LinkRate(8e6, is_emulated=True)
"""1,000 bytes a millisecond: 100,000 bytes in flight fill it."""


def growing(most_bytes: int, *, per_step: int = 1_000, **others: Any) -> AckTrace:
    """In flight grows by a segment per ACK up to `most_bytes`, which is delivered in each RTT from then on."""
    in_flight = np.minimum(10_000 + np.arange(ROWS) * per_step, most_bytes)
    acked = np.cumsum(np.concatenate(([1_000], in_flight[:-1] // 10)))
    columns = {"cwnd_segments": in_flight // 1_000} | others
    return make_trace(np.arange(ROWS) * STEP_US, acked, RTT_US, acked + in_flight, **columns)


def found(trace: AckTrace, rate: LinkRate | None = None) -> Capacity:
    capacity = capacity_point(trace, rate)
    assert capacity is not None
    return capacity


def test_the_rate_is_reached_with_the_first_row_that_has_rate_times_least_rtt_in_flight() -> None:
    capacity = found(growing(120_000), LINK)
    # 10,000 + 90 x 1,000 bytes.
    assert (capacity.at_us, capacity.basis, capacity.rate_bps) == (90 * STEP_US, Basis.EMULATED_RATE, 8e6)
    assert found(growing(120_000), LinkRate(8e6 + 1, is_emulated=True)).at_us == 91 * STEP_US
    assert found(growing(100_000), LINK).at_us == 90 * STEP_US
    assert found(growing(120_000), LinkRate(8e6)).basis is Basis.NOMINAL_RATE


def test_the_least_rtt_is_the_kernel_s_own_minimum_where_it_is_on_record() -> None:
    trace = growing(120_000, min_rtt_us=np.full(ROWS, RTT_US // 2))
    assert (found(trace, LINK).least_rtt_us, found(trace, LINK).at_us) == (50_000, 40 * STEP_US)
    without = growing(120_000, min_rtt_us=np.zeros(ROWS, int))
    assert found(without, LINK).least_rtt_us == RTT_US, "a kernel says 0 before it has measured"


def test_a_window_below_an_emulated_rate_never_reached_capacity_and_any_exit_is_early() -> None:
    capacity = found(growing(60_000), LINK)
    assert (capacity.at_us, capacity.basis) == (None, Basis.EMULATED_RATE)
    assert timing_of(1_900_000, capacity, None) is Timing.EARLY


@pytest.mark.parametrize(("cwnd_segments", "basis"), [(75, Basis.EMULATED_RATE), (76, Basis.PLATEAU)])
def test_a_flow_that_its_peer_s_window_held_is_judged_by_its_plateau(cwnd_segments: int, basis: Basis) -> None:
    # 60,000 bytes in flight at most: a window more than a quarter larger was not what held them.
    held = growing(60_000, cwnd_segments=np.full(ROWS, cwnd_segments))
    assert found(held, LINK).basis is basis


def test_a_nominal_rate_that_was_never_reached_gives_way_to_the_plateau() -> None:
    capacity = found(growing(60_000), LinkRate(8e6))
    # 6,000 bytes per 10 ms are 4.8 Mb/s; 90 % of a window of one RTT lies before they are reached in full.
    assert (capacity.basis, capacity.rate_bps) == (Basis.PLATEAU, pytest.approx(4.8e6))
    assert capacity.at_us is not None
    assert 50 * STEP_US <= capacity.at_us <= 60 * STEP_US


def test_the_plateau_is_where_one_rtt_delivers_nine_tenths_of_the_most_of_two() -> None:
    acked = np.concatenate((np.cumsum(np.full(100, 1_000)), 100_000 + np.cumsum(np.full(100, 2_000))))
    trace = make_trace(np.arange(ROWS) * STEP_US, acked, RTT_US)
    # 18,000 of 20,000 bytes in an RTT: eight of its ten ACKs at the doubled rate.
    assert found(trace).at_us == (99 + 8) * STEP_US


def test_a_flow_that_grew_to_its_end_has_no_plateau() -> None:
    acked = (1_000 * 2 ** (np.arange(60) / 10)).astype(int)
    capacity = found(make_trace(np.arange(60) * STEP_US, acked, RTT_US))
    assert (capacity.at_us, capacity.basis, capacity.rate_bps) == (None, Basis.PLATEAU, None)


@pytest.mark.parametrize(("rows_at_the_rate", "at"), [(18, None), (19, 1_080_000)])
def test_a_level_reached_less_than_an_rtt_before_the_end_is_still_growth(rows_at_the_rate: int, at: int | None) -> None:
    acked = np.cumsum(np.concatenate((np.full(100, 10), np.full(rows_at_the_rate, 2_000))))
    # Nine rows at the rate reach 90 % of the most, and an RTT is ten rows.
    assert found(make_trace(np.arange(len(acked)) * STEP_US, acked, RTT_US)).at_us == at


def test_what_is_in_flight_after_a_loss_does_not_count() -> None:
    lost = (np.arange(ROWS) >= 80).astype(int)
    capacity = found(growing(120_000, lost_total_segments=lost), LINK)
    assert capacity.at_us is None
    at_the_point = (np.arange(ROWS) >= 91).astype(int)
    assert found(growing(120_000, lost_total_segments=at_the_point), LINK).at_us == 90 * STEP_US
    assert found(growing(120_000, lost_total_segments=np.roll(at_the_point, -1)), LINK).at_us is None


def test_acknowledgements_that_jump_after_a_repair_are_not_a_plateau() -> None:
    """Without a count of what was delivered a plateau ends at the loss."""
    acked = np.cumsum(np.full(ROWS, 1_000))
    acked[120:] += 50_000
    trace = make_trace(
        np.arange(ROWS) * STEP_US, acked, RTT_US, lost_total_segments=(np.arange(ROWS) >= 110).astype(int)
    )
    assert found(trace).rate_bps == pytest.approx(0.8e6)


def test_slow_start_has_its_own_plateau_although_the_link_is_faster_later() -> None:
    steps = np.concatenate((np.full(20, 100), np.full(80, 1_000), np.full(100, 1_500)))
    lost = (np.arange(ROWS) >= 100).astype(int)
    columns = {"delivered_segments": np.cumsum(steps) // 100, "cwnd_segments": np.full(ROWS, 10)}
    ssthresh = np.where(lost, 7, INFINITE_SSTHRESH_SEGMENTS)
    trace = make_trace(
        np.arange(ROWS) * STEP_US, np.cumsum(steps), RTT_US,
        lost_total_segments=lost, ssthresh_segments=ssthresh, snd_mss_bytes=np.full(ROWS, 100), **columns,
    )  # fmt: skip
    assert found(trace).rate_bps == pytest.approx(0.8e6)


def test_a_flow_that_lost_its_second_row_is_judged_by_the_first() -> None:
    """Nothing but one row is known of what was in flight, and the congestion window was what held it."""
    lost = (np.arange(ROWS) >= 1).astype(int)
    capacity = found(growing(60_000, lost_total_segments=lost), LINK)
    assert (capacity.at_us, capacity.basis) == (None, Basis.EMULATED_RATE)
    nothing = make_trace([0, 10], [1_000, 2_000], RTT_US, [11_000, 12_000], total_retrans_segments=[0, 1])
    assert found(nothing, LINK).basis is Basis.EMULATED_RATE


def test_the_least_rtt_is_any_sample_above_zero() -> None:
    acked = np.arange(1, 201) * 1_000
    assert make_trace(np.arange(200), acked, np.array([5] * 199 + [1])).least_rtt_us == 1
    assert make_trace(np.arange(200), acked, np.array([5] * 199 + [0])).least_rtt_us == 5


def test_a_flow_that_delivered_nothing_has_no_plateau() -> None:
    trace = make_trace(np.arange(ROWS) * STEP_US, np.full(ROWS, 1_000), RTT_US)
    assert (found(trace).at_us, found(trace).rate_bps) == (None, None)


def test_without_an_rtt_nothing_can_be_said() -> None:
    assert capacity_point(make_trace([0, 10, 20], [0, 1, 2], -1), LINK) is None


@pytest.mark.parametrize(
    ("exit_us", "loss_us", "timing"),
    [
        (99, 300, Timing.EARLY),
        (100, 300, Timing.GOOD),
        (299, 300, Timing.GOOD),
        (300, 300, Timing.LATE),
        (None, 300, Timing.LATE),
        (300, None, Timing.GOOD),
        (None, None, Timing.OPEN),
        (60, 50, Timing.LATE),
    ],
)
def test_an_exit_is_judged_against_capacity_and_loss(exit_us: int | None, loss_us: int | None, timing: Timing) -> None:
    assert timing_of(exit_us, Capacity(100, Basis.PLATEAU, 1.0, 1), loss_us) is timing
    if exit_us is not None and (loss_us is None or exit_us < loss_us):
        assert timing_of(exit_us, Capacity(None, Basis.EMULATED_RATE, 1.0, 1), loss_us) is Timing.EARLY
