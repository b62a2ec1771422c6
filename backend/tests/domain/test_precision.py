"""Confidence sequences: that they hold at every look, and what is decided of them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from downlink.domain.campaigns.precision import (
    ERROR,
    LEAST_RUNS,
    CycleRun,
    Expected,
    Until,
    Values,
    is_narrow,
    is_precise,
    relative_width,
    unneeded,
)

UNTIL = Until("throughput_bps", "steady", half_width_percent=5.0, most_cycles=100, flow=1)
CAMPAIGNS, CYCLES = 4000, 200
MONTE_CARLO = 3 * math.sqrt(ERROR * (1 - ERROR) / CAMPAIGNS)


def looks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of many campaigns (campaigns, cycles): mean and sample deviation after each cycle, and how many those are."""
    runs = np.arange(1, values.shape[1] + 1)
    mean = values.cumsum(axis=1) / runs
    squares = np.maximum((values**2).cumsum(axis=1) - runs * mean**2, 0)
    return mean, np.sqrt(squares / np.maximum(runs - 1, 1)), runs


def widths(runs: np.ndarray) -> np.ndarray:
    return np.array([relative_width(int(each)) or np.inf for each in runs])


def student(runs: np.ndarray) -> np.ndarray:
    return np.append(np.inf, special.stdtrit(runs[1:] - 1, 1 - ERROR / 2) / np.sqrt(runs[1:]))


@pytest.mark.parametrize("deviation", [0.5, 40.0])
def test_a_sequence_holds_the_truth_at_all_looks_together_and_repeated_t_intervals_do_not(deviation: float) -> None:
    mean, sd, runs = looks(np.random.default_rng(5).normal(10, deviation, (CAMPAIGNS, CYCLES)))

    def ever_missed(relative: np.ndarray) -> float:
        return float((np.abs(mean - 10)[:, 1:] > relative[1:] * sd[:, 1:]).any(axis=1).mean())

    own, plain = ever_missed(widths(runs)), ever_missed(student(runs))
    print(f"ever missed in {CYCLES} looks: sequence {own:.1%}, t interval at each look {plain:.1%}")
    assert 0.01 < own <= ERROR + MONTE_CARLO
    assert plain > 0.35


def test_stopping_at_the_first_narrow_look_leaves_the_coverage_as_it_was() -> None:
    mean, sd, runs = looks(np.random.default_rng(6).normal(1, 0.1, (CAMPAIGNS, CYCLES)))
    campaigns = np.arange(CAMPAIGNS)

    def missed_where_stopped(relative: np.ndarray) -> float:
        half = np.full(sd.shape, np.inf)
        half[:, 2:] = relative[2:] * sd[:, 2:]
        at = (half / mean <= 0.05).argmax(axis=1)
        return float((np.abs(mean - 1) > half)[campaigns, at].mean())

    assert missed_where_stopped(widths(runs)) <= ERROR
    assert missed_where_stopped(student(runs)) > ERROR + MONTE_CARLO


def test_a_width_is_the_edge_of_the_likelihood_ratio() -> None:
    """Computed otherwise: the mixture over the mean's place is integrated, and not taken in closed form."""
    runs, sd = 12, 3.0
    squares = (runs - 1) * sd**2
    half = Values(runs, 0.0, sd).half_width
    assert half is not None
    place = np.linspace(-12, 12, 200_001)
    # Marginal over the scale with measure 1 / sigma, at mean 0 and with the mean at `place` deviations from it.
    scale = np.exp(np.linspace(np.log(0.05), np.log(200), 4_001))
    null = np.trapezoid(scale ** (-runs - 1) * np.exp(-(squares + runs * half**2) / (2 * scale**2)), scale)
    density = np.exp(-(place**2) / 2) / np.sqrt(2 * np.pi)
    exponents = -(squares / scale[:, None] ** 2 + runs * (half / scale[:, None] - place[::100]) ** 2) / 2
    mixed = np.trapezoid(density[::100] * np.exp(exponents), place[::100], axis=1)
    ratio = np.trapezoid(scale ** (-runs - 1) * mixed, scale) / null
    assert ratio == pytest.approx(1 / ERROR, rel=1e-3)


def test_it_is_wider_than_an_interval_of_one_look_and_narrows() -> None:
    runs = np.arange(1, 3000)
    found = widths(runs)
    assert [relative_width(n) for n in (0, 1, 2, 3, 4)] == [None] * 5
    assert (np.diff(found[4:]) < 0).all()
    assert (found[1:] > student(runs)[1:]).all()
    assert found[29] / student(runs)[29] == pytest.approx(1.64, abs=0.01)
    assert found[-1] < 0.08


@pytest.mark.parametrize(
    ("values", "percent"),
    [
        (Values(1, 10.0, None), None),
        (Values(2, 10.0, 1.0), None),
        (Values(4, 10.0, 0.0), None),
        (Values(5, 10.0, 0.0), 0.0),
        (Values(10, 0.0, 1.0), None),
        (Values(10, 0.0, 0.0), None),
        (Values(10, -10.0, 1.0), None),
        (Values(10, 10.0, 1.0), 12.237),
    ],
)
def test_a_width_is_a_percentage_of_a_mean_above_zero(values: Values, percent: float | None) -> None:
    found = values.half_width_percent
    assert found == (None if percent is None else pytest.approx(percent, abs=0.001))
    assert is_narrow(values, UNTIL) == (percent == 0.0)


POSITIVE = st.floats(0.01, 1e12)
VALUES = st.builds(Values, st.integers(1, 500), st.floats(-1e3, 1e12), st.none() | st.floats(0, 1e12))


@given(values=VALUES, asked=st.floats(0.1, 100))
def test_narrow_is_what_was_asked_for_and_never_of_few_runs(values: Values, asked: float) -> None:
    until = Until("rtt_ms", "overall", asked, 50, flow=1)
    if is_narrow(values, until):
        assert values.runs >= LEAST_RUNS
        assert values.half_width is not None
        assert values.half_width <= values.mean * asked / 100 * (1 + 1e-9)


@given(found=st.dictionaries(st.tuples(st.sampled_from("ab"), st.sampled_from("xy")), VALUES))
def test_a_campaign_is_precise_when_each_of_its_sides_is(found: dict[tuple[str, str], Values]) -> None:
    sides = list(product("ab", "xy"))
    assert is_precise(UNTIL, sides, found) == all(is_narrow(found.get(side), UNTIL) for side in sides)
    assert not is_precise(UNTIL, [], found)


def test_a_pilot_says_how_many_cycles_to_expect() -> None:
    pilot = [Values(6, 100.0, 5.0), Values(6, 100.0, 10.0)]
    found = Expected.of(UNTIL, pilot)
    assert found.cycles == 45
    assert found.half_width_percent is not None
    assert found.half_width_percent <= 5.0 < (Values(44, 100.0, 10.0).half_width_percent or 0)
    assert Expected.of(UNTIL, [Values(6, 100.0, 0.0)]) == Expected(5, 0.0)
    wide = Expected.of(UNTIL, [Values(6, 100.0, 50.0)])
    assert (wide.cycles, wide.half_width_percent) == (100, pytest.approx(16.73, abs=0.01))
    assert Expected.of(UNTIL, [Values(6, 0.0, 0.0)]) == Expected(100, None)
    assert Expected.of(UNTIL, []) == Expected(100, None)


@given(mean=POSITIVE, sd=POSITIVE, most=st.integers(1, 400))
def test_one_cycle_less_than_expected_is_not_enough(mean: float, sd: float, most: int) -> None:
    until = Until("throughput_bps", "steady", 5.0, most, flow=1)
    cycles = Expected.of(until, [Values(4, mean, sd)]).cycles
    assert 1 <= cycles <= most
    assert cycles == 1 or not is_narrow(Values(cycles - 1, mean, sd), until)
    assert cycles == most or is_narrow(Values(cycles, mean, sd), until)


PLACES = st.lists(
    st.builds(
        lambda link, cycle, attempt, state: CycleRun(link, cycle, attempt, state == "planned", state == "begun"),
        st.sampled_from("ab"),
        st.integers(1, 4),
        st.integers(1, 2),
        st.sampled_from(["planned", "begun", "cancelled"]),
    ),
    max_size=20,
)


@given(places=PLACES)
def test_only_cycles_that_nothing_has_begun_of_are_cancelled(places: list[CycleRun]) -> None:
    dropped = unneeded(places)
    begun = {(each.link, each.cycle) for each in places if each.has_begun}
    for index, each in enumerate(places):
        is_whole = (each.link, each.cycle) not in begun
        assert (index in dropped) == (each.is_planned and each.attempt == 1 and is_whole)
    left = [
        CycleRun(each.link, each.cycle, each.attempt, each.is_planned and index not in dropped, each.has_begun)
        for index, each in enumerate(places)
    ]
    assert unneeded(left) == []
