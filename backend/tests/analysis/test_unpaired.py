"""Runs against runs of elsewhere: the interval holds what is true as often as it says, whatever the two have apart."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from downlink.analysis.comparison import PhaseMetric
from downlink.analysis.unpaired import Picked, compare_picked, difference_of_means, offered, ratio_of_means
from downlink.analysis.values import RunValues
from downlink.domain.results.metric import METRICS

STUDIES = 4_000


def test_it_is_scipys() -> None:
    drawn = np.random.default_rng(1)
    own, base = drawn.normal(80e6, 5e6, 7), drawn.normal(70e6, 20e6, 12)
    ours = difference_of_means(own, base)
    theirs = scipy.stats.ttest_ind(own, base, equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))
    assert (ours.degrees, ours.n, ours.n_base) == (pytest.approx(theirs.df), 7, 12)


def covered(own: tuple[float, int], base: tuple[float, int], *, shared: float = 0.0) -> float:
    """How often the interval holds the true difference, 10. own, base: deviation and number of runs. shared: deviation of what the
    runs of one number have in common."""
    drawn = np.random.default_rng(20261123)
    held = 0
    for _ in range(STUDIES):
        weather = drawn.normal(0, shared, max(own[1], base[1]))
        above = drawn.normal(110, own[0], own[1]) + weather[: own[1]]
        below = drawn.normal(100, base[0], base[1]) + weather[: base[1]]
        found = difference_of_means(above, below)
        held += found.low <= 10 <= found.high
    return held / STUDIES


@pytest.mark.parametrize(("own", "base"), [((5, 10), (5, 10)), ((20, 5), (2, 20)), ((1, 30), (15, 6))])
def test_the_interval_holds_the_truth_as_often_as_it_says(own: tuple[float, int], base: tuple[float, int]) -> None:
    """Also where the smaller side is the more variable one: an interval of one common variance held it in 64 % of such studies."""
    assert covered(own, base) == pytest.approx(0.95, abs=0.015)


def test_runs_that_share_their_weather_make_it_wider_than_need_be_never_too_narrow() -> None:
    assert covered((5, 10), (5, 10), shared=10) > 0.98


def test_times_as_much_is_the_ratio_of_geometric_means_and_turns_with_its_sides() -> None:
    own, base = np.array([40.0, 50.0, 60.0]), np.array([4.0, 5.0, 7.0, 6.0])
    found, turned = ratio_of_means(own, base), ratio_of_means(base, own)
    assert found
    assert turned
    assert found.mean == pytest.approx(scipy.stats.gmean(own) / scipy.stats.gmean(base))
    assert (turned.mean, turned.low, turned.high) == pytest.approx((1 / found.mean, 1 / found.high, 1 / found.low))
    assert ratio_of_means(own, np.array([4.0, 0.0])) is None, "no ratio to nothing, and none of the others alone"


def test_one_run_has_a_difference_and_no_interval() -> None:
    found = difference_of_means([90.0], [50.0, 60.0])
    assert (found.mean, found.n, found.n_base) == (35, 1, 2)
    assert np.isnan([found.low, found.high]).all()
    assert np.isnan(difference_of_means([], [50.0, 60.0]).mean)
    assert found.to_dict()["low"] is None


def test_runs_that_are_all_alike_differ_by_just_that() -> None:
    found = difference_of_means([3.0, 3.0], [1.0, 1.0])
    assert (found.mean, found.low, found.high) == (2, 2, 2)


def test_a_difference_of_percentages_stays_within_a_hundred() -> None:
    found = difference_of_means([99.0, 60.0, 99.5], [0.0, 1.0, 40.0], reach=100)
    assert -100 < found.low < found.mean < found.high < 100
    assert difference_of_means([99.0, 60.0, 99.5], [0.0, 1.0, 40.0]).high > 100


def runs(condition: str, places: tuple[PhaseMetric, ...], values: list[list[float]], is_open: list[bool]) -> RunValues:
    names = tuple(f"{condition}-{index}" for index in range(len(values)))
    not_within = np.array([[each, False] for each in is_open])
    return RunValues(
        "geo", condition, 1, "cubic", names, tuple(range(len(values))), places, np.array(values), not_within
    )


def test_times_count_up_to_where_every_run_was_watched() -> None:
    """The first was watched for 20 s, the second for 50: 30 s are as little steady at 20 s as a run that was not seen to be."""
    place = ("overall", "time_to_steady_s")
    short = Picked(runs("short", (place,), [[8], [20]], [False, True]), None)
    long = Picked(runs("long", (place,), [[8], [30]], [False, False]), None)
    (found,) = compare_picked([short, long], 0, [place])
    assert found.within_s == 20
    assert found.differences[1]
    assert found.differences[1].mean == 0
    (alone,) = compare_picked([long, long], 0, [place])
    assert (alone.within_s, alone.means[0]["mean"]) == (None, 19)


def test_a_side_without_a_quantity_has_no_number_and_takes_none_from_the_others() -> None:
    rate, queue = ("startup", METRICS[0]), ("startup", "queueing_ms")
    flow = runs("a", (rate,), [[1.0], [3.0]], [False, False])
    logged = runs("a", (queue,), [[10.0], [12.0]], [False, False])
    sides = [Picked(flow, logged), Picked(flow, None), Picked(None, None)]
    assert offered(sides) == (rate, queue)
    found, of_link = compare_picked(sides, 1, [rate, queue])
    assert (found.means[1]["mean"], found.differences[0] and found.differences[0].mean) == (2, 0)
    assert found.differences[1] is None
    assert [each["n"] for each in of_link.means] == [2, 0, 0]
    assert of_link.to_dict()["differences"][0]["mean"] is None
