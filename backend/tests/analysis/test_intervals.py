import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from downlink.analysis.intervals import bootstrap_interval, mean_intervals, plain

FINITE = st.floats(-1e9, 1e9, allow_nan=False)


@given(st.lists(FINITE, min_size=2, max_size=30))
def test_mean_and_interval_are_those_of_scipy(values: list[float]) -> None:
    found = mean_intervals(values)
    scale = max(1.0, float(np.max(np.abs(values))))
    sd = np.std(values, ddof=1)
    assert float(found.sd) == pytest.approx(sd, abs=1e-9 * scale)
    if sd > 1e-6 * scale:
        low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert (float(found.low), float(found.high)) == pytest.approx((low, high), rel=1e-9, abs=1e-9 * scale)


VALUES = st.lists(st.floats(0.01, 0.99), min_size=2, max_size=12)


@given(VALUES, st.floats(-5, 5), st.sampled_from([0.1, 1.0, 1e9]))
def test_no_interval_leaves_the_range_of_its_quantity(shares: list[float], least: float, width: float) -> None:
    values = least + width * np.array(shares)
    for most in (least + width, np.inf):
        found = mean_intervals(values, least=least, most=most)
        assert least <= float(found.low) <= float(found.mean) * (1 + 1e-12) + 1e-12
        assert float(found.mean) <= float(found.high) * (1 + 1e-12) + 1e-12
        assert float(found.high) <= most + 1e-9 * width


def test_above_zero_the_interval_is_symmetric_by_factors() -> None:
    """8.18 and 1.12 apart from it: 8.18 +- 14.23 on a plain scale, 8.18 times and over e^(14.23 / 8.18)."""
    found = mean_intervals([7.06, 9.30], least=0)
    factor = np.exp(12.7062 * 1.12 / 8.18)
    assert (float(found.low), float(found.high)) == pytest.approx((8.18 / factor, 8.18 * factor), rel=1e-4)


def test_between_two_ends_the_interval_is_symmetric_in_odds() -> None:
    found = mean_intervals([0.2, 0.4], least=0, most=1)
    odds, factor = 0.3 / 0.7, np.exp(12.7062 * 0.1 / (0.3 * 0.7))
    expected = [each / (1 + each) for each in (odds / factor, odds * factor)]
    assert (float(found.low), float(found.high)) == pytest.approx(expected, rel=1e-4)


def test_a_small_deviation_makes_the_same_interval_on_every_scale() -> None:
    values = 0.3 + 1e-5 * np.arange(5)
    plain_one, *others = (
        mean_intervals(values, least=least, most=most) for least, most in ((-np.inf, np.inf), (0, np.inf), (0, 1))
    )
    for other in others:
        assert float(other.low) == pytest.approx(float(plain_one.low), rel=1e-6)
        assert float(other.high) == pytest.approx(float(plain_one.high), rel=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_values_have_an_interval_without_width_at_the_ends_too(value: float) -> None:
    found = mean_intervals([value] * 3, least=0, most=1)
    assert (float(found.low), float(found.high)) == (value, value)


def test_each_quantity_has_its_own_range() -> None:
    found = mean_intervals([[0.1, 0.1], [1.2, 0.9]], least=0, most=[np.inf, 1])
    assert found.high[0] > 1 > found.high[1]


def test_a_single_value_has_a_mean_and_no_interval() -> None:
    assert mean_intervals([7.0]).to_dict() == {"mean": 7.0, "low": None, "high": None, "n": 1, "sd": None}


def test_no_value_has_no_mean() -> None:
    assert mean_intervals(np.zeros(0)).to_dict() == {"mean": None, "low": None, "high": None, "n": 0, "sd": None}


def test_missing_values_are_left_out_for_each_quantity_alone() -> None:
    nan = np.nan
    found = mean_intervals(np.array([[1.0, nan, nan], [3.0, 5.0, nan]]))
    assert found.to_dict()["mean"] == [2.0, 5.0, None]
    assert found.to_dict()["n"] == [2, 1, 0]
    # t(0.975, 1) = 12.7062 by the tables; sd of 1 and 3 is sqrt 2, over sqrt 2 runs.
    assert found.high[0] - found.mean[0] == pytest.approx(12.7062, abs=1e-4)


def test_large_offsets_do_not_swallow_the_deviation() -> None:
    found = mean_intervals(1e12 + np.array([0.0, 1.0, 2.0]))
    assert float(found.sd) == pytest.approx(1.0, rel=1e-3)


@given(st.lists(FINITE, min_size=2, max_size=20), FINITE)
def test_intervals_move_with_their_values(values: list[float], shift: float) -> None:
    one, other = mean_intervals(values), mean_intervals(np.array(values) + shift)
    scale = 1e-6 * (1 + abs(shift) + max(map(abs, values)))
    assert float(other.mean) == pytest.approx(float(one.mean) + shift, abs=scale)
    assert float(other.high - other.low) == pytest.approx(float(one.high - one.low), abs=scale)


def test_paired_differences_are_the_paired_t_test_of_scipy() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.normal(100, 10, 12), rng.normal(95, 10, 12)
    found = mean_intervals(first - second)
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (float(found.low), float(found.high)) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_the_bootstrap_agrees_with_scipy_within_its_own_noise() -> None:
    values = np.random.default_rng(3).exponential(10, 25)
    low, high = bootstrap_interval(values, seed=1)
    generator = np.random.default_rng(9)
    expected = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=generator)
    noise = 0.05 * (expected.confidence_interval.high - expected.confidence_interval.low)
    assert float(low) == pytest.approx(expected.confidence_interval.low, abs=noise)
    assert float(high) == pytest.approx(expected.confidence_interval.high, abs=noise)


def test_the_bootstrap_leaves_out_as_much_above_as_below() -> None:
    """Of symmetric values each bound is 1.96 standard errors (of the population) from the mean, give or take 2 % by chance."""
    values = np.arange(30.0)
    half = 1.96 * float(np.std(values)) / np.sqrt(30)
    low, high = bootstrap_interval(values, seed=1, resamples=40_000)
    assert (14.5 - float(low), float(high) - 14.5) == pytest.approx((half, half), rel=0.03)


def test_the_same_seed_draws_the_same_interval_and_another_seed_another() -> None:
    values = np.arange(10.0)
    assert bootstrap_interval(values, 1) == bootstrap_interval(values, 1)
    assert bootstrap_interval(values, 1) != bootstrap_interval(values, 2)


def test_quantities_with_and_without_missing_values_get_what_they_would_get_alone() -> None:
    values = np.random.default_rng(1).normal(size=(8, 3))
    values[2, 1] = np.nan
    low, high = bootstrap_interval(values, seed=4)
    for column in range(3):
        alone = bootstrap_interval(values[~np.isnan(values[:, column]), column], seed=4)
        assert (low[column], high[column]) == pytest.approx(alone)


def test_a_bootstrap_of_fewer_than_two_has_no_bounds() -> None:
    for values in (np.zeros((0, 2)), np.ones((1, 2)), np.full((3, 2), np.nan)):
        assert np.isnan(bootstrap_interval(values, 1)).all()


def test_json_has_null_for_what_is_missing() -> None:
    assert plain(np.array([[1.5, np.nan], [np.inf, 2.0]])) == [[1.5, None], [None, 2.0]]
    assert plain(np.nan) is None
    assert plain(np.int64(3)) == 3
