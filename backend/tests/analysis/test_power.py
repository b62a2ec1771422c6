import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from downlink.analysis.power import cycles_needed, detectable_difference, power_of_paired_t


@pytest.mark.parametrize(("effect", "cycles"), [(0.5, 34), (0.8, 15), (1.0, 10)])
def test_cycles_needed_are_those_of_the_published_tables(effect: float, cycles: int) -> None:
    """Two-sided paired t test, 5 %, power 80 %: Cohen's sample sizes for these effects."""
    assert cycles_needed(sd=1.0, difference=effect) == cycles


def test_the_power_is_what_scipy_test_finds_in_simulated_campaigns() -> None:
    differences = np.random.default_rng(4).normal(1.2, 1.0, (20_000, 6))
    seen = (stats.ttest_1samp(differences, 0.0, axis=1).pvalue < 0.05).mean()
    assert power_of_paired_t(1.2, 6) == pytest.approx(seen, abs=0.01)


def test_without_a_difference_the_power_is_the_rate_of_false_alarms_on_one_side() -> None:
    assert power_of_paired_t(0.0, 8) == pytest.approx(0.025)


@given(st.integers(2, 200), st.floats(0.01, 1e9))
def test_a_detectable_difference_is_seen_with_the_stated_power(n: int, sd: float) -> None:
    difference = detectable_difference(sd, n)
    assert power_of_paired_t(difference / sd, n) == pytest.approx(0.8, abs=1e-6)


@given(st.floats(0.05, 50))
def test_one_cycle_less_would_not_do(effect: float) -> None:
    cycles = cycles_needed(1.0, effect)
    assert cycles is not None
    assert detectable_difference(1.0, cycles) <= effect
    assert cycles == 2 or detectable_difference(1.0, cycles - 1) > effect


def test_what_cannot_be_said_is_not_said() -> None:
    assert np.isnan(detectable_difference(1.0, 1))
    assert np.isnan(detectable_difference(np.nan, 5))
    assert cycles_needed(1.0, 0.0) is None
    assert cycles_needed(np.nan, 1.0) is None
    assert cycles_needed(1.0, 1e-4) is None, "more than ten thousand cycles"
