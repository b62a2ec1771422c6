"""Triggers, in virtual time: when a condition holds, and when it may fire."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.campaigns.trigger import (
    Called,
    Cause,
    Fired,
    NotYet,
    QuantityHolds,
    Seen,
    SlotBegins,
    Trigger,
    free_at,
    is_over,
    judge_quantity,
    judge_slot,
    refusal,
)

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
WHEN = QuantityHolds("dish.obstruction_ratio", above=0.02, for_s=30, link="leo")


def seen(*values: tuple[float, float], source: str = "dish") -> list[Seen]:
    """(seconds before now, value)."""
    return [Seen(NOW - timedelta(seconds=ago), value, source) for ago, value in values]


def test_it_holds_once_it_has_held_for_so_long() -> None:
    found = judge_quantity(WHEN, seen((50, 0.01), (40, 0.03), (20, 0.05), (5, 0.04)), NOW)
    assert found == Cause(WHEN.name, NOW - timedelta(seconds=5), 0.04, "ratio", "dish")
    early = judge_quantity(WHEN, seen((50, 0.01), (30, 0.03), (5, 0.04)), NOW)
    assert early == NotYet("dish.obstruction_ratio is 0.04, for 25 s of 30 s so far.")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([], "Nobody has said"),
        ([(901, 0.5)], "Nobody has said"),
        ([(900, 0.5)], "for 0 s of 30 s"),
        ([(40, 0.5), (20, 0.02), (5, 0.5)], "for 0 s of 30 s"),  # exactly the bound is not above it
        ([(40, 0.5), (5, 0.0)], "is 0 by dish"),
        ([(1000, 0.5), (10, 0.5)], "for 0 s of 30 s"),  # nobody knows what was between
        ([(40, 0.5), (-5, 0.0)], "for 0 s of 30 s"),  # what is later than now says nothing
    ],
)
def test_why_it_does_not_hold(values: list[tuple[float, float]], why: str) -> None:
    found = judge_quantity(WHEN, seen(*values), NOW)
    assert isinstance(found, NotYet)
    assert why in found.why


def test_a_source_that_says_otherwise_keeps_it_from_holding_unless_another_one_is_named() -> None:
    said = [*seen((40, 0.5), (5, 0.5)), *seen((10, 0.0), source="other")]
    assert isinstance(judge_quantity(WHEN, sorted(said, key=lambda each: each.at), NOW), NotYet)
    named = QuantityHolds("dish.obstruction_ratio", above=0.02, for_s=30, link="leo", source="dish")
    assert isinstance(judge_quantity(named, said, NOW), Cause)


def test_below_a_value_and_at_once() -> None:
    when = QuantityHolds("weather.temperature_c", below=-5, link="leo")
    assert isinstance(judge_quantity(when, seen((60, -6)), NOW), Cause)
    assert isinstance(judge_quantity(when, seen((60, -5)), NOW), NotYet)


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.floats(0, 0.1)), max_size=30, unique_by=lambda each: each[0]),
    st.floats(0, 300),
)
def test_it_never_holds_unless_each_value_of_the_stretch_does(values: list[tuple[float, float]], for_s: float) -> None:
    when = QuantityHolds("dish.obstruction_ratio", above=0.02, for_s=for_s, link="leo")
    said = sorted(seen(*values), key=lambda each: each.at)
    found = judge_quantity(when, said, NOW)
    if isinstance(found, Cause):
        since = found.at - timedelta(seconds=for_s)
        stretch = [each for each in said if each.at >= since]
        assert all(each.value > 0.02 for each in stretch)
        assert said[-1].at == found.at
    elif said and all(each.value > 0.02 for each in said):
        fresh = [each for each in said if (NOW - each.at).total_seconds() <= 900]
        gaps = [(b.at - a.at).total_seconds() for a, b in pairwise(said)]
        assert not fresh or max(gaps, default=0) > 900 or (said[-1].at - said[0].at).total_seconds() < for_s


def test_a_slot_begins_by_the_clock() -> None:
    slots = SlotBegins(15, 12)
    begins = [
        at
        for second in range(120)
        if isinstance(judge_slot(slots, at := NOW + timedelta(seconds=second)), Cause) and slots.last_begin(at) == at
    ]
    assert [at.second for at in begins] == [12, 27, 42, 57] * 2
    late = judge_slot(slots, NOW + timedelta(seconds=28.5))
    assert late == Cause(slots.name, NOW + timedelta(seconds=27), 1.5, "s")
    assert judge_slot(slots, NOW + timedelta(seconds=30)) == NotYet("The next slot begins in 12 s.")


TRIGGER = Trigger(Called(), pause_s=600, most_per_day=3, most=5, until=date(2026, 3, 1))


@pytest.mark.parametrize(
    ("fired", "now", "why"),
    [
        (Fired(), NOW, None),
        (Fired(1, 1, NOW - timedelta(seconds=600), NOW - timedelta(seconds=600)), NOW, None),
        (Fired(1, 1, NOW - timedelta(seconds=599), NOW), NOW, "The pause of 600 s"),
        (Fired(4, 3, NOW - timedelta(hours=1), NOW - timedelta(hours=9)), NOW, "3 times in 24 hours"),
        (Fired(5, 0, NOW - timedelta(days=1)), NOW, "5 times, as often as it may"),
        (Fired(), NOW + timedelta(hours=12), "Its last day was 2026-03-01"),
        (Fired(), NOW + timedelta(hours=12, seconds=-1), None),
    ],
)
def test_when_it_may_fire(fired: Fired, now: datetime, why: str | None) -> None:
    found = refusal(TRIGGER, fired, now)
    assert (found is None) is (why is None)
    assert why is None or why in str(found)


def test_what_is_over_never_fires_again() -> None:
    assert is_over(TRIGGER, Fired(5), NOW)
    assert is_over(TRIGGER, Fired(), NOW + timedelta(hours=12))
    assert not is_over(TRIGGER, Fired(4, 3), NOW)
    full = Fired(4, 3, NOW - timedelta(hours=1), NOW - timedelta(hours=9))
    assert free_at(TRIGGER, full) == NOW + timedelta(hours=15)
    assert free_at(TRIGGER, Fired()) is None
