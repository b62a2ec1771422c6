"""Conditions against the first: what one row says, and that it says one thing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from downlink.analysis.comparison import Comparison, Side, compare_sides, places
from downlink.analysis.power import power_of_paired_t
from downlink.domain.results.metric import PHASES

PLACES = places(PHASES)
PLACE = ("steady", "rtt_ms")
COLUMN = PLACES.index(PLACE)
SEED = 7
ON = [50.0, 52.0, 49.0, 51.0, 50.5, 90.0]
OFF = [40.0, 44.0, 41.0, 40.5, 43.0, 42.0]


def side(condition: str, numbers: list[float], cycles: list[int] | None = None) -> Side:
    values = np.full((len(numbers), len(PLACES)), np.nan)
    values[:, COLUMN] = numbers
    return Side("geo", 1, condition, cycles or list(range(len(numbers))), values)


def compare(own: Side, base: Side, *others: Side, primary: bool = True) -> Comparison:
    found = compare_sides([base, own, *others], base.condition, PLACES, [PLACE] if primary else [], SEED)
    return next(each for each in found if (each.phase, each.metric, each.condition) == (*PLACE, own.condition))


def told(own: list[float], base: list[float], *, primary: bool = True) -> dict[str, Any]:
    return compare(side("own", own), side("base", base), primary=primary).to_dict()


def test_a_comparison_is_the_paired_t_interval() -> None:
    interval = stats.ttest_rel(ON, OFF).confidence_interval(0.95)
    found = told(ON, OFF)["difference"]
    assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high))


def test_the_ratio_of_pairs_is_the_t_interval_of_their_logarithms() -> None:
    logs = np.log(np.array(ON) / np.array(OFF))
    interval = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    found, inverse = told(ON, OFF)["paired_ratio"], told(OFF, ON)["paired_ratio"]
    assert (found["low"], found["high"]) == pytest.approx((np.exp(interval.low), np.exp(interval.high)))
    assert found["mean"] == pytest.approx(stats.gmean(np.array(ON) / np.array(OFF)))
    assert (inverse["mean"], inverse["low"]) == pytest.approx((1 / found["mean"], 1 / found["high"]))


def test_a_cycle_in_which_one_side_got_nothing_has_no_ratio() -> None:
    found = told([2.0, 4.0, 5.0], [1.0, 2.0, 0.0])["paired_ratio"]
    assert (found["mean"], found["n"]) == (pytest.approx(2.0), 2)


def test_a_baseline_chosen_over_the_results_asks_every_pair() -> None:
    """Four conditions are three questions to the first, and six pairs: each p value is Holm's over the six, whichever is the base."""
    cycles = 8
    sides = [
        side(name, [10.0 * place + 0.1 * cycle * place for cycle in range(cycles)]) for place, name in enumerate("abcd")
    ]
    declared = compare_sides(sides, "a", PLACES, [PLACE], SEED)
    chosen = {
        base: [each for each in compare_sides(sides, base, PLACES, [PLACE], SEED, is_declared=False) if each.tested]
        for base in "abcd"
    }
    least = 2.0 ** (1 - cycles)
    assert {each.tested.level_p for each in declared if each.tested} == {3 * least}
    tested = [each.tested for found in chosen.values() for each in found if each.tested]
    assert len(tested) == 12
    assert {(each.family, each.level_p, each.cycles_for_test) for each in tested} == {(6, 6 * least, 8)}


def test_with_two_conditions_the_other_baseline_is_the_same_question() -> None:
    (one,), (other,) = (
        [
            each
            for each in compare_sides(
                [side("a", ON), side("b", OFF)], base, PLACES, [PLACE], SEED, is_declared=base == "a"
            )
            if each.tested
        ]
        for base in "ab"
    )
    assert one.tested == other.tested
    assert (other.difference.mean, other.difference.low) == (-one.difference.mean, -one.difference.high)
    assert other.paired_ratio.mean == pytest.approx(1 / one.paired_ratio.mean)


def test_the_bootstrap_interval_is_that_of_the_paired_differences() -> None:
    differences = np.array(ON) - np.array(OFF)
    expected = stats.bootstrap((differences,), np.mean, method="percentile", rng=np.random.default_rng(1))
    found = told(ON, OFF)
    assert found["bootstrap_low"] == pytest.approx(expected.confidence_interval.low, rel=0.05)
    assert found["bootstrap_high"] == pytest.approx(expected.confidence_interval.high, rel=0.05)


def test_only_cycles_that_both_have_are_compared_whatever_their_order() -> None:
    found = compare(side("own", [12.0, 11.0, 19.0], [3, 2, 9]), side("base", [1.0, 2.0, 3.0], [1, 2, 3]))
    assert sorted(found.differences) == [9.0, 9.0]


def test_a_difference_that_all_cycles_have_is_told_once_there_are_enough() -> None:
    """Ten times as much in each cycle: 5 cycles cannot show it, 6 can, and no row says both."""
    for n, reading in ((5, "too_few"), (6, "higher")):
        own, base = [10.0 * each for each in OFF[:n]], OFF[:n]
        found = told(own, base)
        assert (found["reading"], found["cycles_higher"], found["cycles_for_test"]) == (reading, n, 6)
        assert found["ratio"] == pytest.approx(10)
        assert (found["level_p"] is None) == (reading == "too_few")
        assert told(base, own)["reading"] == {"higher": "lower"}.get(reading, reading)


def test_cycles_are_counted_on_either_side_and_equal_ones_on_neither() -> None:
    found = told([3.0, 3.0, 3.0, 1.0, 2.0, 2.0], [2.0] * 6)
    assert (found["cycles_higher"], found["cycles_lower"]) == (3, 1)


def test_a_small_difference_is_not_shown() -> None:
    found = told([41.0, 43.0, 41.5, 40.0, 43.5, 41.0], OFF)
    assert found["reading"] == "no_difference"
    assert found["level_p"] > 0.05
    assert (found["cycles_needed"], found["cycles_missing"]) == (None, None), "its interval holds 0"


def test_what_was_not_declared_is_not_tested() -> None:
    found = told(ON, OFF, primary=False)
    assert found["reading"] == "exploratory"
    assert not found["is_primary"]
    assert {found[name] for name in ("family", "cycles_for_test", "level_p", "shape_p", "ks_distance")} == {None}


def test_a_family_are_the_comparisons_of_one_metric() -> None:
    others = [side(f"other {each}", ON) for each in range(6)]
    assert compare(side("own", ON), side("base", OFF), *others).to_dict()["family"] == 7
    assert compare(side("own", ON), side("base", OFF)).to_dict()["family"] == 1


def test_power_is_told_for_the_near_end_of_the_interval() -> None:
    found = told(ON[:5], OFF[:5])
    near, sd = found["difference"]["low"], found["difference"]["sd"]
    needed = found["cycles_needed"]
    assert near > 0
    assert needed == 6, "the test itself needs six"
    exploratory = told([42.0, 44.5, 43.0, 41.0, 44.0, 44.2], OFF, primary=False)
    near, sd, needed = exploratory["difference"]["low"], exploratory["difference"]["sd"], exploratory["cycles_needed"]
    assert power_of_paired_t(near / sd, needed) >= 0.8 > power_of_paired_t(near / sd, needed - 1)
    assert exploratory["cycles_missing"] == max(0, needed - 6)
    assert power_of_paired_t(exploratory["detectable_difference"] / sd, 6) == pytest.approx(0.8)


def test_what_too_few_cycles_cannot_say_is_missing() -> None:
    found = told([2.0, np.nan], [1.0, 1.0])
    assert found["difference"] == {"mean": 1, "low": None, "high": None, "n": 1, "sd": None}
    assert [found[name] for name in ("detectable_difference", "cycles_needed", "shape_p", "level_p")] == [None] * 4
    assert found["reading"] == "too_few"
    assert compare_sides([side("own", ON)], "base", PLACES, [PLACE], SEED) == ()


@pytest.mark.parametrize(("base", "ratio"), [([1.0, 3.0], 2.0), ([0.0, 0.0], None), ([-1.0, 0.5], None)])
def test_a_ratio_needs_a_base_above_zero(base: list[float], ratio: float | None) -> None:
    assert told([4.0, 4.0], base)["ratio"] == ratio


def test_a_difference_of_percentages_stays_between_all_and_nothing() -> None:
    column = PLACES.index(("overall", "retransmission_percent"))
    sides = [side("base", [0.0] * 3), side("own", [0.0] * 3)]
    sides[0].values[:, column], sides[1].values[:, column] = [0.1, 0.2, 60.0], [99.0, 90.0, 95.0]
    found = next(
        each
        for each in compare_sides(sides, "base", PLACES, [], SEED)
        if each.metric == "retransmission_percent" and each.phase == "overall"
    )
    assert -100 < float(found.difference.low) < float(found.difference.high) < 100
