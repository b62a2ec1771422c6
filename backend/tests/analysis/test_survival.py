"""Times until something happens, where some runs ended first."""

import numpy as np
import pytest

from downlink.analysis.survival import event_times, restricted

NAN = np.nan


def test_without_an_open_run_the_median_is_that_of_the_times() -> None:
    found = event_times([16.0, 20.0, 17.0], [32.0] * 3)
    assert (found.median, found.n, found.not_within, found.within_s) == (17.0, 3, 0, 32.0)


def test_runs_that_were_not_there_in_time_are_later_and_not_left_out() -> None:
    found = event_times([12.0, NAN, 17.0, NAN, 30.0], [47.0] * 5)
    assert (found.median, found.n, found.not_within) == (30.0, 5, 2)


def test_where_half_of_the_runs_were_not_there_no_median_is_known() -> None:
    found = event_times([3.0, NAN, NAN], [32.0] * 3)
    assert np.isnan(found.median)
    assert (found.n, found.not_within) == (3, 2)


def test_a_run_that_was_watched_for_less_counts_until_then() -> None:
    """Kaplan and Meier by hand: 3/4 stay after 5 s; one is no longer watched at 6 s; 3/4 x 1/2 after 8 s."""
    assert event_times([5.0, NAN, 8.0, NAN], [20.0, 6.0, 20.0, 20.0]).median == 8.0


def test_the_interval_is_that_of_brookmeyer_and_crowley() -> None:
    """Ten times, by hand with Greenwood's variance: S^(e^(-+1.96 s)) of 0.9 at 5 s is 0.47 to 0.99, of 0.3 at 11 s 0.07 to 0.58,
    of 0.2 at 12 s 0.03 to 0.47."""
    found = event_times(np.arange(5.0, 15.0), [47.0] * 10)
    assert (found.median, found.low, found.high) == (9.0, 5.0, 12.0)


def test_few_runs_do_not_bound_the_median_from_above() -> None:
    assert np.isnan(event_times([16.0, 17.0, 20.0], [32.0] * 3).high)


@pytest.mark.parametrize(("times", "watched"), [([], []), ([NAN], [NAN])])
def test_without_a_watched_run_nothing_is_known(times: list[float], watched: list[float]) -> None:
    found = event_times(times, watched).to_dict()
    assert found == {"median": None, "low": None, "high": None, "n": 0, "not_within": 0, "within_s": None}


def test_restricted_times_stop_where_watching_did() -> None:
    assert restricted([5.0, NAN], [9.0, 9.0]).tolist() == [5.0, 9.0]
