"""Thinned samples lose no peak, are samples as they were taken, and do not depend on how a trace is cut into parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downlink.analysis.thinning import Thinning, least_and_greatest

Trace = tuple[NDArray[np.int64], NDArray[np.int64]]


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    values = draw(st.lists(st.integers(-3, 50), max_size=60))
    steps = draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
    return np.cumsum(np.array(steps, np.int64)), np.array(values, np.int64)


def thinned(trace: Trace, cuts: list[int], from_us: int, to_us: int, points: int, unset: frozenset[str]) -> Thinning:
    time_us, values = trace
    found = Thinning(("a",), unset, from_us, to_us, points)
    edges = sorted({0, len(values), *(cut for cut in cuts if cut <= len(values))})
    for first, stop in pairwise(edges):
        found.take([{"elapsed_us": time_us[first:stop], "a": values[first:stop]}])
    return found


@given(
    traces(),
    st.lists(st.integers(0, 60), max_size=4),
    st.integers(0, 200),
    st.integers(0, 200),
    st.sampled_from([2, 4, 10]),
)
def test_a_stretch_keeps_what_a_reader_would_pick_by_hand(
    trace: Trace, cuts: list[int], from_us: int, length_us: int, points: int
) -> None:
    to_us = from_us + length_us
    found = thinned(trace, cuts, from_us, to_us, points, frozenset())
    within = [(int(t), int(v)) for t, v in zip(*trace, strict=True) if from_us <= t <= to_us]
    course = found.courses()["a"]
    shown = list(zip(course.time_us, course.values, strict=True))
    assert found.count == len(within)
    assert found.is_thinned is (len(within) > points)
    if not found.is_thinned:
        assert shown == within
        return
    assert len(shown) <= points
    by_step: dict[int, list[tuple[int, int]]] = {}
    for time, value in within:
        by_step.setdefault((time - from_us) * (points // 2) // (length_us + 1), []).append((time, value))
    picked = {
        pick
        for samples in by_step.values()
        for pick in (
            min(samples, key=lambda each: (each[1], each[0])),
            max(samples, key=lambda each: (each[1], -each[0])),
        )
    }
    assert shown == sorted(picked)


@given(traces(), st.lists(st.integers(0, 60), max_size=4), st.sampled_from([2, 4, 10]))
def test_a_missing_value_is_never_a_peak_and_a_step_of_nothing_else_is_a_gap(
    trace: Trace, cuts: list[int], points: int
) -> None:
    time_us, values = trace
    last = int(time_us[-1]) if len(time_us) else 0
    found = thinned(trace, cuts, 0, last, points, frozenset({"a"}))
    course = found.courses()["a"]
    assert None not in course.values or min(values) < 0
    if found.is_thinned:
        for time, value in zip(course.time_us, course.values, strict=True):
            step = time * (points // 2) // (last + 1)
            of_step = values[time_us * (points // 2) // (last + 1) == step]
            assert value is not None or (of_step < 0).all()
    seen = [value for value in course.values if value is not None]
    real = values[values >= 0]
    assert (not seen and not len(real)) or (min(seen), max(seen)) == (real.min(), real.max())


def test_an_ssthresh_that_was_never_set_has_no_value() -> None:
    found = Thinning(("ssthresh_segments",), frozenset(), 0, 10, 100)
    found.take([{"elapsed_us": np.array([1, 2]), "ssthresh_segments": np.array([2_147_483_647, 20])}])
    assert found.courses()["ssthresh_segments"].values == [None, 20]


def test_of_equal_values_the_first_stays() -> None:
    flat = np.zeros(4, np.int64)
    assert list(least_and_greatest(np.array([0, 0, 1, 1]), flat, flat > 0)) == [0, 2]
