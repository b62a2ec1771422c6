"""Table I of Kachooei 2023 (SEARCH): which runs it is over, its means, and the capacity point beside its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from downlink.analysis.exits.outcomes import Reached, Timing, shares, table_row
from downlink.analysis.exits.sliding import ExitTimes, exit_times, mean_error_ratio, sliding_curves
from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS
from tests.fixtures.exit_traces import make_trace

S = 10**6


def reached(cg_s: float | None, ex_s: float | None, dp_s: float | None, capacity_s: float | None = None) -> Reached:
    times = [None if at is None else int(at * S) for at in (cg_s, ex_s, dp_s, capacity_s)]
    return Reached(ExitTimes(*times[:3]), times[3])


@pytest.mark.parametrize(
    ("times", "is_success"),
    [
        ((10, 10, 30), True),
        ((10, 9, 30), False),
        ((10, 29, 30), True),
        ((10, 30, 30), False),
        ((10, 20, None), True),
        ((None, 20, 30), False),
        ((10, None, 30), False),
    ],
)
def test_success_is_an_exit_from_cg_on_and_before_the_loss(
    times: tuple[int | None, int | None, int | None], is_success: bool
) -> None:
    assert ExitTimes(*times).is_success is is_success


def test_success_is_in_per_cent_with_its_interval() -> None:
    """Wilson's interval of 1 in 2, by hand: centre 1/2, half of it z / (2 sqrt(2 + z^2)), with z = 1.96."""
    success = table_row([reached(1, 2, 3), reached(2, 1, 3)]).success_percent
    half = 100 * 1.95996 / (2 * (2 + 1.95996**2) ** 0.5)
    assert (success.value, success.n) == (50, 2)
    assert (success.low, success.high) == pytest.approx((50 - half, 50 + half), rel=1e-4)


def test_means_have_their_interval_and_each_its_own_n() -> None:
    runs = [reached(cg, cg + 1, cg + 4, 6) for cg in (9, 10, 14)] + [reached(None, None, 2)]
    row = table_row(runs)
    assert (row.runs, row.success_percent.value) == (4, 75)
    assert row.cg_s is not None
    assert row.capacity_s is not None
    assert row.dp_s is not None
    factor = np.exp(stats.t.ppf(0.975, 2) * stats.sem([9, 10, 14]) / 11)
    assert (row.cg_s.value, row.cg_s.low, row.cg_s.high, row.cg_s.n) == pytest.approx((11, 11 / factor, 11 * factor, 3))
    assert (row.capacity_s.value, row.capacity_s.n, row.dp_s.n) == (6, 3, 4)
    alone = table_row(runs[:1])
    assert alone.cg_s is not None
    assert (alone.cg_s.low, alone.cg_s.high) == (None, None)


def test_no_interval_of_a_time_begins_before_the_flow_and_headroom_may_be_negative() -> None:
    """Of two runs that differ, the plain interval reaches far below zero."""
    row = table_row([reached(1, 2, 3, 1), reached(9, 12, 10, 9)])
    assert row.common is not None
    times = [row.capacity_s, row.cg_s, row.ex_s, row.dp_s, row.common.cg_s, row.common.ex_s, row.common.dp_s]
    assert all(each is not None and each.low is not None and 0 < each.low < each.value for each in times)
    low, high = stats.t.interval(0.95, 1, loc=-0.5, scale=stats.sem([1, -2]))
    for headroom in (row.hr_s, row.common.hr_s):
        assert headroom is not None
        assert (headroom.low, headroom.high) == pytest.approx((low, high))


def test_over_common_runs_the_mean_headroom_is_the_difference_of_the_means() -> None:
    """As in the paper: 18.1 - 12.4 = 5.7. Over the successful runs alone it would be larger."""
    runs = [reached(9, 12, 18), reached(10, 20, 18), reached(8, 11, None), reached(None, 14, 30), reached(9, 10, 15)]
    row = table_row(runs)
    assert row.common is not None
    assert row.hr_s is not None
    assert row.success_hr_s is not None
    assert [getattr(row.common, name).n for name in ("cg_s", "ex_s", "dp_s", "hr_s")] == [3] * 4
    assert row.common.hr_s.value == pytest.approx(row.common.dp_s.value - row.common.ex_s.value)
    assert (row.common.hr_s.value, row.hr_s.n, row.success_hr_s.value) == pytest.approx((3, 4, 5.5))
    assert table_row(runs[2:4]).common is None


def test_the_curve_counts_until_the_flow_leaves_slow_start() -> None:
    """100 bytes are sent per ms all the time; from 700 ms on only 60 of them arrive. HyStart may have left before."""
    time_us = np.arange(1_500) * 1_000
    acked = np.cumsum(np.where(time_us < 700_000, 100, 60))

    def times_of(left_us: int) -> ExitTimes:
        ssthresh = np.where(time_us >= left_us, 26, INFINITE_SSTHRESH_SEGMENTS)
        trace = make_trace(time_us, acked, 100_000, 10_000 + np.arange(1_500) * 100, ssthresh_segments=ssthresh)
        return exit_times(trace, sliding_curves(trace))

    whole = times_of(10**9)
    assert whole.cg_us is not None
    assert whole.ex_us is not None
    assert times_of(500_000) == ExitTimes(None, None, None)
    assert times_of(whole.ex_us) == whole, "the ACK that ended slow start is the last one"
    assert times_of(whole.ex_us - 1_000) == ExitTimes(whole.cg_us, None, None)
    assert times_of(whole.cg_us - 1_000) == ExitTimes(None, None, None)


@pytest.mark.parametrize("late_us", [-1_000, 0, 100_000, 101_000])
def test_an_exit_that_came_too_late_counts_while_it_is_of_what_slow_start_sent(late_us: int) -> None:
    """RTT 100 ms: what a window compares that much after the loss was sent before it. Headroom is then negative, not missing."""
    time_us = np.arange(1_500) * 1_000
    acked = np.cumsum(np.where(time_us < 700_000, 100, 60))
    sent = 10_000 + np.arange(1_500) * 100

    def times_of(loss_us: int) -> ExitTimes:
        lost = (time_us >= loss_us).astype(int)
        ssthresh = np.where(lost, 26, INFINITE_SSTHRESH_SEGMENTS)
        trace = make_trace(time_us, acked, 100_000, sent, ssthresh_segments=ssthresh, lost_total_segments=lost)
        return exit_times(trace, sliding_curves(trace))

    ex_us = times_of(10**9).ex_us
    assert ex_us is not None
    found = times_of(ex_us - late_us)
    if late_us <= 100_000:
        assert (found.ex_us, found.hr_us, found.is_success) == (ex_us, found.dp_us and found.dp_us - ex_us, late_us < 0)
    else:
        assert found.ex_us is None


def test_shares_sum_to_one() -> None:
    found = shares([Timing.GOOD, Timing.GOOD, Timing.LATE])
    assert sum(share.value for share in found.values()) == pytest.approx(1)
    assert found[Timing.GOOD].low is not None
    assert found[Timing.GOOD].low < 2 / 3 < (found[Timing.GOOD].high or 0)


def test_the_error_of_the_bins_is_the_mean_distance_of_two_norms_until_the_loss() -> None:
    """Norms taken again from the trace: one window of bytes sent an RTT ago, once in whole bins and once exactly."""
    rng = np.random.default_rng(5)
    time_us = np.arange(2_000) * 2_000 + rng.integers(0, 1_900, 2_000) * (np.arange(2_000) > 0)
    acked = np.cumsum(rng.integers(1, 9, 2_000)) * 1_000
    trace = make_trace(time_us, acked, 40_000 + rng.integers(0, 9_000, 2_000), acked + 90_000 + np.arange(2_000) * 50)
    curves = sliding_curves(trace)
    start_us, window_us = 0, 10 * curves.bin_us
    sent = trace.snd_nxt_bytes
    assert sent is not None

    def grown(counter: np.ndarray, end_us: int) -> float:
        if end_us - window_us < start_us:
            return float("nan")
        return float(np.max(counter[time_us <= end_us]) - np.max(counter[time_us <= end_us - window_us]))

    errors = []
    for at_us, row in zip(curves.time_us, curves.rows, strict=True):
        end_us = start_us + (int(at_us) - start_us - 1) // curves.bin_us * curves.bin_us
        back, part = divmod(int(trace.rtt_us[row]), curves.bin_us)
        delivered, exact = grown(acked, end_us), grown(sent, end_us - int(trace.rtt_us[row]))
        newer, older = (grown(sent, end_us - bins * curves.bin_us) for bins in (back, back + 1))
        share = part / curves.bin_us
        binned = newer * (1 - share) + older * share
        errors.append(abs((binned - delivered) / binned - (exact - delivered) / exact))
    error = mean_error_ratio(trace, curves)
    assert error == pytest.approx(np.nanmean(errors), rel=1e-9)
    lossy = make_trace(time_us, acked, trace.rtt_us, sent, lost_total_segments=(np.arange(2_000) > 1_000) * 1)
    counted = [each for each, row in zip(errors, curves.rows, strict=True) if row <= lossy.last_curve_row]
    assert mean_error_ratio(lossy, sliding_curves(lossy)) == pytest.approx(np.nanmean(counted), rel=1e-9)
    assert len(counted) < len(errors)


def test_table_one_has_the_mean_error_over_the_runs_that_have_one() -> None:
    runs = [Reached(ExitTimes(1, 2, 3), None, ratio) for ratio in (0.01, 0.03, None)]
    error = table_row(runs).error_percent
    assert error is not None
    assert (error.value, error.n) == (pytest.approx(2), 2)
