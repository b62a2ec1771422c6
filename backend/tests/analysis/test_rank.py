"""Rank correlation: known values, and an interval that holds the truth as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from downlink.analysis.rank import LEAST_PAIRS, rank_correlation


def test_a_textbook_example() -> None:
    """Ten pairs without ties: 1 - 6 sum(d^2) / (n (n^2 - 1)) with sum(d^2) of 194."""
    iq = [106, 86, 100, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 0, 27, 50, 28, 29, 20, 12, 6, 17]
    found = rank_correlation(iq, hours)
    assert found.rho == pytest.approx(1 - 6 * 194 / (10 * 99))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.rho < found.high


def test_ties_share_their_ranks_and_any_rising_scale_gives_the_same() -> None:
    x, y = [1, 1, 2, 3, 3, 4, 9], [2.0, 1.0, 3.0, 3.0, 8.0, 5.0, 6.0]
    assert rank_correlation(x, y) == rank_correlation([each**3 for each in x], [np.exp(each) for each in y])


def test_what_cannot_be_said_is_not_said() -> None:
    few = rank_correlation([1.0] * (LEAST_PAIRS - 1), [2.0] * (LEAST_PAIRS - 1))
    assert (few.rho, few.low) == (None, None)
    assert "5 are needed" in few.why
    assert rank_correlation([1] * 9, range(9)).rho is None
    perfect = rank_correlation(range(9), [-each for each in range(9)])
    assert (perfect.rho, perfect.low, perfect.high) == (-1, None, None)


def test_the_interval_holds_the_truth_in_95_of_100() -> None:
    """Normal pairs of correlation r have a rank correlation of 6/pi asin(r/2)."""
    draws, r = np.random.default_rng(7), 0.6
    truth, held = 6 / np.pi * np.arcsin(r / 2), 0
    for _ in range(1000):
        x, noise = draws.standard_normal((2, 40))
        found = rank_correlation(x, r * x + np.sqrt(1 - r * r) * noise)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 930 <= held <= 970
