"""Sketches of distributions: how exact they are, and that pooling loses nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

from downlink.analysis.sketch import GROWTH, LEAST_MS, MOST_BINS, pool, quantiles, sketch
from downlink.codec.sketches import pack_counts, unpack_counts

MOST_OFF = (GROWTH - 1) / (GROWTH + 1) + 1e-9
SHARES = [0, 0.01, 0.05, 0.5, 0.9, 0.95, 1]
MS = drawn.arrays(np.float64, st.integers(1, 300), elements=st.floats(1e-2, 6e8))


def ones(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.ones(len(values), np.int64)


@given(MS)
def test_a_quantile_is_within_half_a_percent_of_a_value(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    found = quantiles(sketch(values, ones(values)), SHARES)
    np.testing.assert_allclose(found, np.quantile(values, SHARES, method="inverted_cdf"), rtol=MOST_OFF)


@given(st.lists(MS, min_size=1, max_size=6))
def test_pooled_sketches_are_the_sketch_of_all_values(
    parts: list[np.ndarray[tuple[int], np.dtype[np.float64]]],
) -> None:
    every = np.concatenate(parts)
    pooled, whole = pool([sketch(part, ones(part)) for part in parts]), sketch(every, ones(every))
    assert (pooled.first, pooled.counts.tolist()) == (whole.first, whole.counts.tolist())
    assert pooled.total == len(every)


def test_a_weight_is_so_many_values() -> None:
    values, weights = np.array([10.0, 20.0, 30.0]), np.array([1, 4, 2])
    again = np.repeat(values, weights)
    assert sketch(values, weights).counts.tolist() == sketch(again, ones(again)).counts.tolist()


def test_what_has_no_values_has_no_quantiles() -> None:
    nothing = pool([])
    assert (nothing.total, np.isnan(quantiles(nothing, SHARES)).all()) == (0, True)


def test_values_below_zero_count_as_zero() -> None:
    found = sketch(np.array([-3.0, 0.0, LEAST_MS]), np.array([1, 1, 1]))
    assert (found.first, found.counts.tolist(), quantiles(found, [0.5])[0]) == (0, [3], 0)


def test_the_size_is_bounded() -> None:
    """A week is the most that a moment of a run may be."""
    widest = sketch(np.array([0.0, 604_800e3]), np.array([1, 1]))
    assert len(widest.counts) <= MOST_BINS
    assert quantiles(widest, [1])[0] == pytest.approx(604_800e3, rel=MOST_OFF)


def test_counts_are_stored_and_read() -> None:
    first, counts = unpack_counts(pack_counts(7, np.array([1, 0, 2**40])))
    assert (first, counts.tolist()) == (7, [1, 0, 2**40])
