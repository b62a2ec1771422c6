import numpy as np
import pytest
from numpy.typing import NDArray

from downlink.analysis.validity import find_fault

START_US, END_US = 1_000_000, 61_000_000


def times(rate_hz: int = 100) -> NDArray[np.int64]:
    return np.arange(0, 62_000_000, 1_000_000 // rate_hz)


def reason(time_us: NDArray[np.int64]) -> str | None:
    fault = find_fault({"elapsed_us": time_us}, START_US, END_US)
    return fault.reason if fault else None


def test_a_trace_of_the_whole_transfer_stands() -> None:
    assert reason(times()) is None


@pytest.mark.parametrize("time_us", [np.zeros(0, np.int64), np.arange(0, 1_000_000, 10_000)])
def test_a_trace_without_a_sample_of_the_transfer_does_not(time_us: NDArray[np.int64]) -> None:
    assert reason(time_us) == "no_samples"


def test_few_samples_a_second_are_too_thin() -> None:
    assert reason(times(rate_hz=10)) is None
    assert reason(times(rate_hz=8)) == "thin_trace"


@pytest.mark.parametrize(("gap_s", "expected"), [(5, None), (7, "thin_trace")])
def test_a_long_hole_is_too_thin(gap_s: int, expected: str | None) -> None:
    for start_s in (0, 20, 61 - gap_s):
        time_us = times()
        hole = (time_us > start_s * 1e6) & (time_us < (start_s + gap_s + (start_s == 0)) * 1e6)
        assert reason(time_us[~hole]) == expected


def test_many_short_pauses_are_no_hole() -> None:
    time_us = times()
    assert reason(time_us[time_us % 2_000_000 < 500_000]) is None


def test_a_counter_that_falls_does_not_belong_to_one_socket() -> None:
    time_us = times()
    acked = np.arange(len(time_us))
    cwnd = acked[::-1].copy()
    assert find_fault({"elapsed_us": time_us, "acked_bytes": acked, "cwnd_segments": cwnd}, START_US, END_US) is None
    acked[50] = 0
    fault = find_fault({"elapsed_us": time_us, "acked_bytes": acked}, START_US, END_US)
    assert fault
    assert "acked_bytes" in fault.detail


def test_a_counter_may_stand_still_and_fall_by_nothing() -> None:
    time_us = times()
    acked = np.repeat(np.arange(len(time_us)), 2)[: len(time_us)]
    assert find_fault({"elapsed_us": time_us, "acked_bytes": acked}, START_US, END_US) is None
    acked[-1] = acked[-2] - 1
    assert find_fault({"elapsed_us": time_us, "acked_bytes": acked}, START_US, END_US) is not None
