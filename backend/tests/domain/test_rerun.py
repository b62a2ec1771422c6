"""Runs that are run again by hand: when they are due, and that each of them gets its turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.campaigns.rerun import OPEN_TO_RERUNS, REPEATABLE, UNWANTED, due_moments
from downlink.domain.campaigns.timetable import Timetable
from downlink.domain.runs.next_step import Wait
from downlink.domain.runs.run import RunState
from downlink.domain.runs.turn import Lease, decide_turn
from tests.domain.test_turn import CYCLES, FREE, RUN, SPACED, ZERO, after, agent

EVERY = timedelta(seconds=60)


def test_in_cycles_all_are_due_now_and_wait_for_the_link_in_the_order_of_the_plan() -> None:
    assert due_moments([30] * 3, CYCLES.timetable, after(500), ZERO) == [ZERO] * 3


@pytest.mark.parametrize(("last_due_s", "first_s"), [(None, 0), (-100, 0), (-60, 0), (-59, 1), (600, 660)])
def test_at_even_spacing_they_come_behind_the_plan_one_spacing_apart(last_due_s: int | None, first_s: int) -> None:
    last = None if last_due_s is None else after(last_due_s)
    assert due_moments([30] * 2, SPACED.timetable, last, ZERO) == [after(first_s), after(first_s + 60)]


def test_what_somebody_cancelled_is_repeated_only_when_it_is_named_and_what_is_complete_never() -> None:
    assert {RunState.CANCELLED} == REPEATABLE - UNWANTED
    assert RunState.COMPLETE not in REPEATABLE
    assert {str(state) for state in OPEN_TO_RERUNS} == {"running", "paused", "complete"}


@given(
    st.integers(1, 20),
    st.sampled_from([CYCLES, SPACED]),
    st.none() | st.integers(-10_000, 10_000).map(after),
    st.integers(-5000, 5000).map(after),
)
def test_each_gets_its_turn_on_a_free_link_and_none_makes_a_planned_run_late(
    count: int, campaign: object, last_due_at: datetime | None, now: datetime
) -> None:
    timetable: Timetable = campaign.timetable  # type: ignore[attr-defined]
    moments = due_moments([30] * count, timetable, last_due_at, now)
    assert moments == sorted(moments)
    free = replace(FREE, watched_since=now, agents={"client": agent("x", seen_at=moments[-1]), "server": agent("y")})
    for number, due_at in enumerate(moments):
        assert due_at >= now
        if timetable.every_s:
            assert last_due_at is None or due_at >= last_due_at + EVERY
            assert number == 0 or due_at - moments[number - 1] == EVERY
        run = replace(RUN, due_at=due_at)
        assert isinstance(decide_turn(run, campaign, free, due_at), Lease)  # type: ignore[arg-type]
        waits = decide_turn(run, campaign, replace(free, held={"link:geo": True}), due_at)  # type: ignore[arg-type]
        assert isinstance(waits, Wait)
