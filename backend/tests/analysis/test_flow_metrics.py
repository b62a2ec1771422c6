"""Time to steady state, object times, Jain's index: each by hand and by its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.fairness import jain_index
from downlink.analysis.objects import object_times_s, received_times_s, shown_sizes_mb
from downlink.analysis.steady import time_to_steady_s

RATES = st.floats(0, 1e9)


def test_a_step_is_steady_as_soon_as_the_window_is_nearly_above_it() -> None:
    """0 for 10 s, then 100: the centred mean of bin 12 is the first with five values of 100, bin 11 has 80 %."""
    assert time_to_steady_s(np.array([0.0] * 10 + [100.0] * 20), 100.0) == 12


def test_a_dip_below_the_threshold_starts_the_count_anew() -> None:
    rates = np.full(40, 100.0)
    rates[20] = 0.0
    assert time_to_steady_s(rates, 100.0) == 23, "bins 18 to 22 have the dip in their windows"
    rates[20] = 60.0
    assert time_to_steady_s(rates, 100.0) == 2, "92 is above 90 %"


def test_a_flow_that_falls_at_the_end_never_settled() -> None:
    assert np.isnan(time_to_steady_s(np.array([100.0] * 20 + [0.0] * 5), 100.0))


def test_missing_bins_are_left_out_and_an_outage_is_not_steady() -> None:
    rates = np.full(40, 100.0)
    rates[20] = np.nan
    assert time_to_steady_s(rates, 100.0) == 2
    rates[20:25] = np.nan
    assert time_to_steady_s(rates, 100.0) == 23


@pytest.mark.parametrize("rates", [[], [100.0] * 4])
def test_a_flow_shorter_than_the_window_has_no_time(rates: list[float]) -> None:
    assert np.isnan(time_to_steady_s(np.array(rates), 100.0))


def test_without_a_steady_state_there_is_no_time_to_it() -> None:
    assert np.isnan(time_to_steady_s(np.full(10, 100.0), np.nan))


@given(st.lists(st.integers(0, 1000), min_size=5, max_size=60), st.integers(1, 1000))
def test_the_time_does_not_depend_on_the_unit(rates: list[int], steady: int) -> None:
    times = [time_to_steady_s(factor * np.array(rates, float), factor * float(steady)) for factor in (1, 1024)]
    assert np.array_equal(times[0], times[1], equal_nan=True)


def test_an_object_is_there_when_the_counter_passes_its_size() -> None:
    times = object_times_s(np.array([0, 1_000_000, 3_000_000]), np.array([0, 500_000, 2_500_000]), 0)
    assert times.tolist() == [1.5, 2.5]


def test_the_first_moment_counts_where_the_counter_stands_still() -> None:
    elapsed_us, acked = np.array([0, 1_000_000, 9_000_000]), np.array([0, 1_000_000, 1_000_000])
    assert object_times_s(elapsed_us, acked, 0).tolist() == [1.0]


def test_objects_are_counted_from_the_first_sample_and_timed_from_the_first_byte() -> None:
    elapsed_us, acked = np.array([500_000, 2_500_000]), np.array([7, 2_000_007])
    assert object_times_s(elapsed_us, acked, 500_000).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("acked", [[], [5], [0, 999_999]])
def test_what_is_less_than_an_object_has_no_times(acked: list[int]) -> None:
    assert len(object_times_s(np.arange(len(acked)), np.array(acked, np.int64), 0)) == 0


def test_a_receiver_s_times_count_from_its_request_whatever_came_before_its_first_sample() -> None:
    """Dialled at 1 s, 2 MB at 3 s: 1 MB is taken to have come half-way."""
    elapsed_us, received = np.array([500_000, 3_000_000, 4_000_000]), np.array([0, 2_000_000, 3_000_000])
    assert received_times_s(elapsed_us, received, 1_000_000).tolist() == [1.0, 2.0, 3.0]
    assert received_times_s(elapsed_us[:0], received[:0], 0).tolist() == []


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 3 * 10**6)), min_size=2, max_size=30))
def test_object_times_rise_and_invert_the_counter(steps: list[tuple[int, int]]) -> None:
    elapsed_us = np.cumsum([step[0] for step in steps])
    acked = np.cumsum([step[1] for step in steps])
    times_s = object_times_s(elapsed_us, acked, 0)
    assert (np.diff(times_s) > 0).all()
    assert len(times_s) == (acked[-1] - acked[0]) // 1_000_000
    at_times = np.interp(times_s * 1e6, elapsed_us, acked - acked[0])
    assert np.allclose(at_times, 1e6 * np.arange(1, len(times_s) + 1), rtol=1e-6)


@pytest.mark.parametrize(
    ("rates", "index"),
    [([5, 5], 1.0), ([1, 0], 0.5), ([10, 1], 121 / 202), ([3, 3, 3], 1.0), ([1, 0, 0, 0], 0.25), ([7], 1.0)],
)
def test_jain_index_by_hand(rates: list[float], index: float) -> None:
    assert float(jain_index(rates)) == pytest.approx(index)


def test_jain_index_of_nothing_is_missing() -> None:
    assert np.isnan(jain_index([[0.0, 0.0], [1.0, np.nan]])).all()


@given(st.lists(st.floats(0.01, 1e9), min_size=1, max_size=8), st.floats(0.01, 100))
def test_jain_index_lies_between_one_nth_and_one_and_knows_no_unit(rates: list[float], factor: float) -> None:
    index = float(jain_index(rates))
    assert 1 / len(rates) - 1e-9 <= index <= 1 + 1e-9
    assert float(jain_index(np.array(rates) * factor)) == pytest.approx(index)


def test_curves_of_large_objects_have_wider_steps() -> None:
    assert shown_sizes_mb(0).tolist() == []
    assert shown_sizes_mb(105).tolist() == list(range(1, 101))
    sizes = shown_sizes_mb(1_250).tolist()
    assert sizes[98:102] == [99, 100, 110, 120]
    assert sizes[-4:] == [990, 1_000, 1_100, 1_200]
