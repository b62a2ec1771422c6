import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from downlink.analysis.compare import (
    cycles_for_test,
    equivalence_p,
    flag_outliers,
    holm,
    judge_family,
    least_shape_p,
    least_sign_flip_p,
    sign_flip_p,
)

RNG = np.random.default_rng(6)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
SEED = 1


def test_the_sign_flip_test_by_hand() -> None:
    """Of the 8 patterns of signs of 1, 2, 4 the mean is as far from 0 as 7 / 3 in 2, and as 5 / 3 (1 opposite) in 4."""
    assert sign_flip_p(np.array([1.0, 2.0, 4.0]), SEED) == 2 / 8
    assert sign_flip_p(np.array([-1.0, 2.0, 4.0]), SEED) == 4 / 8
    assert sign_flip_p(np.array([1.0, -1.0]), SEED) == 1


@pytest.mark.parametrize(("n", "p"), [(1, 1.0), (2, 0.5), (5, 0.0625), (6, 0.03125), (10, 2 / 1024)])
def test_no_difference_is_clearer_than_all_signs_alike(n: int, p: float) -> None:
    assert sign_flip_p(np.arange(1.0, n + 1), SEED) == p == least_sign_flip_p(n)


def test_beyond_fourteen_cycles_patterns_are_drawn_and_the_seed_decides() -> None:
    differences = RNG.normal(0.2, 1, 15)
    drawn = [sign_flip_p(differences, seed) for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    assert drawn[0] == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.03)
    exact = RNG.normal(0.5, 1, 14)
    assert sign_flip_p(exact, 1) == sign_flip_p(exact, 2)


@pytest.mark.parametrize("differences", [[], [0.0, 0.0, 0.0]])
def test_without_a_difference_there_is_nothing_to_show(differences: list[float]) -> None:
    assert sign_flip_p(np.array(differences), SEED) == 1


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 0.6), (-0.2, 0.25), (0.4, 9.0)])
def test_equivalence_is_two_one_sided_tests_and_the_90_percent_interval(low: float, high: float) -> None:
    values = RNG.normal(0.3, 0.4, 12)
    above = stats.ttest_1samp(values, low, alternative="greater").pvalue
    below = stats.ttest_1samp(values, high, alternative="less").pvalue
    p = equivalence_p(values, low, high)
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert p == pytest.approx(max(above, below))
    assert (p < 0.05) == (low < interval.low and interval.high < high)


def test_equivalence_takes_two_values_and_leaves_missing_ones_out() -> None:
    assert np.isnan(equivalence_p([1.0, np.nan], 0, 2))
    assert equivalence_p([1.0, 1.0], 0, 2) == 0
    assert equivalence_p([3.0, 3.0, np.nan], 0, 2) == 1


@pytest.mark.parametrize(("family", "cycles"), [(0, 6), (1, 6), (2, 7), (3, 7), (4, 8), (7, 9), (200, 13)])
def test_a_larger_family_needs_more_cycles(family: int, cycles: int) -> None:
    assert cycles_for_test(family) == cycles
    assert least_sign_flip_p(cycles) * max(1, family) <= 0.05 < least_sign_flip_p(cycles - 1) * max(1, family)


def test_the_least_of_kolmogorov_and_smirnov_is_one_order_of_the_values_of_all() -> None:
    """Two-sided: 2 of the C(2n, n) orders have all of one side first."""
    assert [least_shape_p(n) for n in (3, 4)] == pytest.approx([2 / 20, 2 / 70])
    assert least_shape_p(0) == 1


def sides(n: int, factor: float = 1.0) -> tuple[list[float], list[float]]:
    base = RNG.lognormal(0, 0.1, n)
    return list(factor * base * RNG.lognormal(0, 0.1, n)), list(base)


def test_ten_cycles_show_a_tenfold_difference_among_eight_conditions() -> None:
    found = judge_family([sides(10, 10.0), *(sides(10) for _ in range(6))], SEED)
    assert found[0].level_p == pytest.approx(7 * 2 / 1024)
    assert found[0].shape_p < 0.05
    assert all(each.can_show_level and each.can_show_shape for each in found)


def test_five_cycles_cannot_and_say_how_many_can() -> None:
    found = judge_family([sides(5, 10.0), *(sides(5) for _ in range(6))], SEED)
    assert not any(each.can_show_level for each in found)
    assert {(each.family, each.cycles_for_test) for each in found} == {(7, 9)}


@pytest.mark.parametrize(
    ("n", "level", "shape"), [(3, False, False), (4, False, True), (5, False, True), (6, True, True)]
)
def test_what_so_few_cycles_can_show_alone(n: int, level: bool, shape: bool) -> None:
    (found,) = judge_family([sides(n, 10.0)], SEED)
    assert (found.can_show_level, found.can_show_shape) == (level, shape)


def test_level_and_shape_are_families_of_their_own() -> None:
    pairs = [sides(8, 3.0), sides(8)]
    alone, among = judge_family(pairs[:1], SEED)[0], judge_family(pairs, SEED)[0]
    assert among.level_p == pytest.approx(2 * alone.level_p)
    assert among.shape_p == pytest.approx(2 * alone.shape_p)


def test_cycles_that_one_side_lacks_are_left_out() -> None:
    own, base = sides(8, 3.0)
    (whole,) = judge_family([(own[1:], base[1:])], SEED)
    (lacking,) = judge_family([([np.nan, *own[1:]], base)], SEED)
    assert lacking == whole
    assert judge_family([], SEED) == []
    (nothing,) = judge_family([([np.nan], [1.0])], SEED)
    assert not nothing.can_show_level


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


@pytest.mark.parametrize("n", [15, 40, 172])
def test_drawn_signs_are_scipys(n: int) -> None:
    rng = np.random.default_rng(n)
    for shift in (0.0, 0.15, 0.5):
        differences = rng.normal(shift, 1, n)
        found = stats.permutation_test(
            (differences,),
            lambda each, axis: np.mean(each, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=2**14,
            rng=np.random.default_rng(3),
        )
        assert sign_flip_p(differences, 3) == found.pvalue
