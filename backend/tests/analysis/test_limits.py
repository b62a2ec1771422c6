from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.limits import LIMITS, LimitSeries, advise_buffers, judge_limits, least_rtt_ms, sender_limits
from downlink.analysis.series import Columns

SECONDS = 4
TIME_US = np.arange(0, SECONDS * 1_000_000 + 1, 10_000)


def make_trace(busy: float = 1.0, receive: float = 0.0, buffer: float = 0.0, **columns: Any) -> Columns:
    """A sender's trace in which each kind of time passes at a constant share."""
    shares = {"busy_us": busy, "rwnd_limited_us": receive, "sndbuf_limited_us": buffer}
    times = {name: (TIME_US * share).astype(np.int64) for name, share in shares.items()}
    values = {"notsent_bytes": 100_000, "unacked_segments": 50, "cwnd_segments": 50, **columns}
    return {"elapsed_us": TIME_US, **times, **{name: np.broadcast_to(v, TIME_US.shape) for name, v in values.items()}}


def first_second(trace: Columns) -> dict[str, float]:
    return dict(zip(LIMITS, sender_limits(trace, 0).shares[:, 0].round(9).tolist(), strict=True))


def dominant(trace: Columns) -> set[str]:
    return {LIMITS[index] for index in sender_limits(trace, 0).dominant}


def test_a_full_congestion_window_with_data_waiting_is_the_limit() -> None:
    assert first_second(make_trace()) == {
        "congestion_window": 1, "receive_window": 0, "send_buffer": 0, "application": 0,
    }  # fmt: skip


def test_each_time_of_the_kernel_is_a_share_of_its_own() -> None:
    found = first_second(make_trace(busy=0.9, receive=0.5, buffer=0.1))
    assert found == {"congestion_window": 0.3, "receive_window": 0.5, "send_buffer": 0.1, "application": 0.1}


def test_room_in_the_window_and_nothing_to_send_is_the_applications() -> None:
    waiting = TIME_US // 10_000 % 4 == 0
    found = first_second(make_trace(notsent_bytes=np.where(waiting, 0, 9), unacked_segments=10))
    assert (found["application"], found["congestion_window"]) == (0.25, 0.75)


def test_a_full_window_is_the_limit_also_with_nothing_left_to_send() -> None:
    assert first_second(make_trace(notsent_bytes=0))["application"] == 0


@pytest.mark.parametrize(
    ("trace", "limit"),
    [
        (make_trace(), "congestion_window"),
        (make_trace(receive=0.7), "receive_window"),
        (make_trace(buffer=0.6), "send_buffer"),
        (make_trace(busy=0.3), "application"),
    ],
)
def test_the_longest_share_names_the_second(trace: Columns, limit: str) -> None:
    assert dominant(trace) == {limit}


def test_a_kernel_that_does_not_count_these_times_tells_nothing() -> None:
    found = sender_limits({"elapsed_us": TIME_US}, 0)
    assert np.isnan(found.shares).all()
    assert (found.dominant == -1).all()


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_shares_of_a_second_add_up_to_it(busy: float, receive: float, buffer: float) -> None:
    receive_part = busy * receive
    trace = make_trace(busy, receive_part, (busy - receive_part) * buffer)
    assert np.allclose(sender_limits(trace, 0).shares.sum(axis=0), 1, atol=1e-4)


def limits(name: str, bins: int = 10) -> LimitSeries:
    shares = np.zeros((len(LIMITS), bins))
    shares[LIMITS.index(name)] = 1
    return LimitSeries(shares)


def test_buffers_are_advised_from_the_measured_product_as_in_paper_000() -> None:
    """144 Mb/s at 597 ms: a product of about 10.7 MB, two and a half of which are about 26 MB."""
    advice = advise_buffers(np.full(60, 144e6), 597.0, limits("congestion_window", 60))
    assert advice
    assert advice.bdp_bytes == 10_746_000
    assert advice.max_bytes == pytest.approx(26_865_000, abs=4096)
    assert advice.max_bytes % 4096 == 0
    assert not advice.is_lower_bound


def test_where_a_buffer_held_the_flow_the_nominal_rate_counts() -> None:
    """Peters 2021 with default buffers: about 30 Mb/s, since the window ends near 3 MB."""
    advice = advise_buffers(np.full(60, 30e6), 597.0, limits("receive_window", 60), nominal_rate_bps=144e6)
    assert advice
    assert advice.is_lower_bound
    assert advice.max_bytes == pytest.approx(26_865_000, abs=4096)
    without_rate = advise_buffers(np.full(60, 30e6), 597.0, limits("receive_window", 60))
    assert without_rate
    assert without_rate.max_bytes == pytest.approx(2.5 * 30e6 / 8 * 0.597, abs=4096)


def test_where_nothing_was_measured_nothing_is_advised() -> None:
    assert advise_buffers(np.full(5, np.nan), 597.0, limits("application", 5)) is None
    assert advise_buffers(np.full(5, 1e6), np.nan, limits("application", 5)) is None


def test_a_flow_is_judged_in_one_go() -> None:
    """8 Mb/s at 500 ms are 500,000 bytes."""
    trace = {**make_trace(receive=0.25), "acked_bytes": TIME_US, "rtt_us": np.full_like(TIME_US, 500_000)}
    found = judge_limits(trace, 0, None)
    assert found.series.mean is not None
    assert found.series.mean.round(6).tolist() == [0.75, 0.25, 0, 0]
    assert found.advice
    assert found.advice.bdp_bytes == 500_000


def test_shares_without_any_second_are_none() -> None:
    assert sender_limits({"elapsed_us": TIME_US}, 0).mean is None


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"rtt_us": [0, 700, 600]}, 0.6),
        (
            {"rtt_us": [700], "min_rtt_us": [2**32 - 1, 550_000]},
            550.0,
        ),  # before the first sample the kernel has no minimum
    ],
)
def test_the_least_rtt_is_the_smallest_that_was_measured(columns: dict[str, list[int]], expected: float) -> None:
    assert least_rtt_ms({name: np.array(values) for name, values in columns.items()}) == expected
    assert np.isnan(least_rtt_ms({}))
