"""Opening hours by the clock of a zone, held against what zoneinfo says of every minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.campaigns.opening import DAYS, Hours, Openings
from downlink.domain.zone import moment_of

ZONES = (
    "Europe/Madrid", "Europe/Dublin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Africa/Cairo",
    "Africa/Casablanca", "Asia/Beirut", "Asia/Tokyo", "Pacific/Chatham", "Asia/Kathmandu", "America/Havana", "UTC",
)  # fmt: skip
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
SUMMER, WINTER = datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)
"""When clocks of Madrid change: 02:00 to 03:00, and 03:00 back to 02:00."""

moments = st.integers(0, 13 * 366 * 24 * 60).map(lambda step: datetime(2024, 1, 1, tzinfo=UTC) + step * MINUTE)
minutes = st.integers(0, 95).map(lambda quarter: quarter * 15)
hours = st.builds(
    Hours,
    st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days))),
    minutes,
    minutes.map(lambda at: at + 15),
).filter(lambda each: each.opens != each.closes)


@st.composite
def near_changes(draw: st.DrawFn) -> tuple[str, datetime]:
    """A zone, and a moment within two days of a change of its clock, where there is one."""
    name, moment = draw(st.sampled_from(ZONES)), draw(moments)
    zone = ZoneInfo(name)
    for day in range(370):
        at = moment + day * DAY
        if at.astimezone(zone).utcoffset() != (at + DAY).astimezone(zone).utcoffset():
            return name, at - DAY
    return name, moment


def is_ambiguous(local: datetime) -> bool:
    return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()


def shows(each: Hours, local: datetime) -> bool:
    """Whether a wall clock shows one of the hours."""
    minute, weekday = local.hour * 60 + local.minute, local.weekday()
    if each.closes > each.opens:
        return weekday in each.days and each.opens <= minute < each.closes
    is_evening = weekday in each.days and minute >= each.opens
    return is_evening or ((weekday - 1) % 7 in each.days and minute < each.closes)


@given(near_changes() | st.tuples(st.sampled_from(ZONES), moments), st.lists(hours, min_size=1, max_size=3))
def test_every_minute_is_open_when_the_clock_says_so(where: tuple[str, datetime], some: list[Hours]) -> None:
    name, since = where
    openings = Openings(tuple(some), name)
    found = list(openings.after(since))
    for step in range(0, 3 * 24 * 60, 5):
        at = since + step * MINUTE
        local = at.astimezone(ZoneInfo(name))
        is_open = any(each.from_at <= at < each.to_at for each in found)
        shown = any(shows(each, local) for each in some)
        if not is_ambiguous(local):
            assert is_open == shown, local
        elif shown:  # of an hour that comes twice both are open where the clock says so, and the time between them
            assert is_open, local


@given(near_changes(), st.lists(hours, min_size=1, max_size=3))
def test_openings_rise_and_never_touch(where: tuple[str, datetime], some: list[Hours]) -> None:
    found = list(Openings(tuple(some), where[0]).after(where[1]))
    assert all(each.from_at < each.to_at for each in found)
    assert all(one.to_at < other.from_at for one, other in pairwise(found))


@given(near_changes(), st.lists(hours, min_size=1, max_size=3), st.integers(1, 14 * 60).map(lambda minute: minute * 60))
def test_the_next_fit_is_the_first_moment_at_which_the_whole_run_fits(
    where: tuple[str, datetime], some: list[Hours], length_s: int
) -> None:
    name, moment = where
    openings, length = Openings(tuple(some), name), timedelta(seconds=length_s)
    found = openings.next_fit(moment, length_s)
    starts = [max(each.from_at, moment) for each in openings.after(moment)
              if max(each.from_at, moment) + length <= each.to_at]  # fmt: skip
    assert found == (starts[0] if starts else found)
    if found is not None:
        assert openings.next_fit(found, length_s) == found


@given(near_changes(), st.integers(0, 3 * 24 * 60))
def test_a_local_time_is_the_moment_at_which_the_clock_shows_it(where: tuple[str, datetime], ahead: int) -> None:
    zone = ZoneInfo(where[0])
    local = (where[1].astimezone(zone).replace(tzinfo=None) + ahead * MINUTE).replace(fold=0)
    first, last = moment_of(zone, local), moment_of(zone, local, is_last=True)
    if first.astimezone(zone).replace(tzinfo=None) == local:
        assert last.astimezone(zone).replace(tzinfo=None, fold=0) == local
        assert (first < last) == is_ambiguous(local.replace(tzinfo=zone))
    else:  # left out: the clock jumps over it at this very moment
        assert first == last
        before = (first - timedelta(seconds=1)).astimezone(zone).replace(tzinfo=None)
        assert before < local < first.astimezone(zone).replace(tzinfo=None)


def spans(text: str, day: datetime, zone: str = "Europe/Madrid") -> list[tuple[str, str]]:
    """The openings of two days from a noon before on, by the clock of UTC."""
    since = day - timedelta(hours=12)
    found = Openings((Hours.parse(text),), zone).after(since)
    return [(f"{one.from_at:%d %H:%M}", f"{one.to_at:%d %H:%M}") for one in found if one.from_at < since + DAY]


def test_hours_in_the_night_of_a_change_last_from_the_first_to_the_last_moment() -> None:
    assert spans("daily 02:30-05:00", SUMMER) == [("29 01:00", "29 03:00")]
    assert spans("daily 01:00-02:30", SUMMER) == [("29 00:00", "29 01:00")]
    assert spans("daily 02:10-02:50", SUMMER) == []
    assert spans("daily 02:30-02:45", WINTER) == [("25 00:30", "25 01:45")]
    assert spans("sat 22:00-06:00", WINTER) == [("24 20:00", "25 05:00")]


def test_a_leap_day_is_a_day_like_any_other() -> None:
    assert spans("tue 01:00-02:00", datetime(2028, 2, 29, tzinfo=UTC), "UTC") == [("29 01:00", "29 02:00")]


def test_hours_are_read_and_written() -> None:
    for text in ("weekdays 18:00-06:00", "daily 00:00-24:00", "weekends 10:30-11:00", "mon,thu 01:00-05:00"):
        assert str(Hours.parse(text)) == text
    assert str(Hours.parse("Sun,SAT  00:00-24:00")) == "weekends 00:00-24:00"
    assert Hours.parse("daily 00:00-24:00").days == tuple(range(len(DAYS)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("weekdays", "must be days and hours"),
        ("weekdays 6-7", "must be days and hours"),
        ("monday 01:00-02:00", "'monday' is no day"),
        ("mon, 01:00-02:00", "'' is no day"),
        ("daily 24:00-02:00", "24:00 is no time"),
        ("daily 01:60-02:00", "01:60 is no time"),
        ("daily 01:00-24:01", "24:01 is no time"),
        ("daily 06:00-06:00", "opens and closes at the same time"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Hours.parse(text)
