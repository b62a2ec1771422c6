"""Readings of mean curves."""

from __future__ import annotations

import numpy as np
import pytest

from downlink.analysis.fairness import jain_index
from study.pages.readings import (
    bands_meet_s,
    curves_meet_s,
    first_reach_s,
    moving_means,
    ratio_of_jain,
    repaired_s,
)


def test_the_ratio_of_an_index_has_that_index() -> None:
    for ratio in (1, 2, 5, 16.6, 100):
        assert ratio_of_jain(float(jain_index([1, ratio]))) == pytest.approx(ratio)


def test_moving_means_lie_where_they_begin() -> None:
    assert moving_means(np.array([1.0, 2, 3, 10]), 3).tolist() == [2, 5]


def test_bands_meet_before_their_curves() -> None:
    falling = np.linspace(100, 0, 101)
    ahead = np.array([falling + spread for spread in (-10, 0, 10)])
    behind = np.full((3, 101), 20.0)
    assert curves_meet_s(ahead, behind, 1, 0) == 80
    met = bands_meet_s(ahead, behind, 1, 0)
    # t(0.975, 2) x 10 / sqrt(3) is 24.8
    assert met == 56
    assert bands_meet_s(ahead, behind, 1, 70) == 70
    assert np.isnan(bands_meet_s(ahead + 1000, behind, 1, 0))


def test_reaching_a_level_once_is_enough() -> None:
    rate = np.array([0.0] * 10 + [100.0] * 10 + [0.0] * 10)
    assert first_reach_s(rate, 100) == 12
    assert np.isnan(first_reach_s(rate, 200))
    assert np.isnan(first_reach_s(rate[:3], 100))


def test_slow_starts_losses_are_repaired_when_nothing_is_repeated_any_more() -> None:
    assert repaired_s(np.array([0.0, 0.5, 30, 80, 0, 50, 0])) == 4
    assert np.isnan(repaired_s(np.array([0.0, 0.5, 0])))
