import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from downlink.analysis.compare import compare_distributions, flag_outliers, holm

RNG = np.random.default_rng(6)
SAME, LIKE, LARGER = RNG.normal(0, 1, 30), RNG.normal(0, 1, 25), RNG.normal(2, 1, 30)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_a_single_question_has_the_p_values_of_scipy() -> None:
    (found,) = compare_distributions([(SAME, LARGER)])
    assert found.shape_p == stats.ks_2samp(SAME, LARGER).pvalue
    assert found.location_p == stats.mannwhitneyu(SAME, LARGER).pvalue
    assert found.ks_distance == stats.ks_2samp(SAME, LARGER).statistic
    assert found.n == (30, 30)


def test_asking_more_often_needs_more_evidence() -> None:
    alone = compare_distributions([(SAME, LARGER)])[0]
    among = compare_distributions([(SAME, LARGER), (SAME, LIKE), (LIKE, SAME)])
    assert among[0].shape_p == pytest.approx(3 * alone.shape_p)
    assert among[0].location_p < 0.01 < among[1].location_p


def test_a_sample_that_is_too_small_is_no_part_of_the_family() -> None:
    found = compare_distributions([(SAME, LARGER), (SAME, [1.0, np.nan, 2.0])])
    assert found[0].shape_p == compare_distributions([(SAME, LARGER)])[0].shape_p
    assert np.isnan(found[1].shape_p)
    assert found[1].n == (30, 2)
    assert compare_distributions([]) == []


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


@given(P_VALUES)
def test_holm_lies_between_the_raw_values_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    raw = np.array(p_values)
    assert (adjusted >= raw - 1e-12).all()
    assert (adjusted <= np.minimum(raw * len(raw), 1) + 1e-12).all()
    assert (np.diff(adjusted[np.argsort(raw, kind="stable")]) >= 0).all(), "the order of the evidence stays"


def test_a_run_far_from_the_others_is_flagged_and_kept() -> None:
    values = [100.0, 102, 98, 101, 99, 100, 30, np.nan]
    assert flag_outliers(values).tolist() == [False] * 6 + [True, False]


def test_the_score_is_the_published_one() -> None:
    """By hand: median 5, absolute deviations 4 2 0 2 x, their median 2; 3.5 * 2 / 0.6745 = 10.378."""
    assert flag_outliers([1, 3, 5, 7, 15.37]).tolist() == [False] * 5
    assert flag_outliers([1, 3, 5, 7, 15.38]).tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("values", [[], [1.0, 9e9], [1.0, 1.1, 9e9], [5.0, 5.0, 5.0, 5.0, 9.0]])
def test_where_nothing_can_be_said_nothing_is_flagged(values: list[float]) -> None:
    assert not flag_outliers(values).any()


@given(st.lists(st.integers(-1000, 1000), min_size=3, max_size=20), st.integers(-1000, 1000))
def test_flags_do_not_depend_on_where_zero_lies(values: list[int], shift: int) -> None:
    assert (flag_outliers(values) == flag_outliers(np.array(values) + shift)).all()
