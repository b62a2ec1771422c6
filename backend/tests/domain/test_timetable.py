"""Runs that follow a clock: where they are placed, and that decide_turn keeps them there whatever the server's clock does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.opening import Openings
from downlink.domain.campaigns.placing import SLACK_S
from downlink.domain.campaigns.plan import Plan, plan_campaign
from downlink.domain.campaigns.rerun import due_moments, dues_after_pause
from downlink.domain.campaigns.timetable import Start
from downlink.domain.errors import InvalidError
from downlink.domain.runs.next_step import Wait
from downlink.domain.runs.run import Reason
from downlink.domain.runs.turn import PATIENCE, Lease, LinkState, Miss, PlannedTurn, decide_turn
from tests.domain.test_opening import Hours, hours, near_changes
from tests.domain.test_plan import make_campaign, make_link
from tests.domain.test_turn import agent

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
NIGHTS = "weekdays 18:00-06:00"
HOUR = timedelta(hours=1)


def placed(timetable: dict[str, Any], zone: str | None = "Europe/Madrid", now: datetime = NOW, size: int = 2) -> Plan:
    campaign = make_campaign(size, timetable=timetable)
    return plan_campaign(campaign, {"geo": make_link(time_zone=zone)}, launched_at=now)


def moments(found: Plan, now: datetime = NOW) -> list[datetime]:
    return [now + timedelta(seconds=run.due_s) for run in found.runs]


def codes(found: Plan) -> list[str]:
    return [each.code for each in found.conflicts]


def test_a_day_of_runs_goes_on_in_the_next_night_and_keeps_its_spacing_in_each() -> None:
    found = placed({"duration_h": 24, "every_s": 405, "opening_hours": [NIGHTS]})
    local = [at.astimezone(ZoneInfo("Europe/Madrid")) for at in moments(found)]
    assert (len(local), codes(found)) == (213, [])
    assert [f"{at:%a %H:%M:%S}" for at in local if at.hour == 18 and at.minute == 0] == [
        "Mon 18:00:00", "Tue 18:00:00",
    ]  # fmt: skip
    assert (local[1] - local[0]).total_seconds() == 405
    assert [run.cycle for run in found.runs[:4]] == [1, 1, 2, 2]


def test_repetitions_begin_at_the_same_time_by_the_clock_and_go_on_with_the_cycles() -> None:
    timetable = {
        "cycles": 1,
        "start_at": "2027-03-27 18:00 Europe/Madrid",
        "repeat": {"every": "day", "until": "2027-03-29"},
    }
    found = placed(timetable)
    assert [f"{at:%d %H:%M}" for at in moments(found)[::2]] == ["27 17:00", "28 16:00", "29 16:00"]
    assert [run.cycle for run in found.runs] == [1, 1, 2, 2, 3, 3]
    weekly = {**timetable, "repeat": {"every": "week", "until": "2027-04-16"}}
    assert [f"{at:%m-%d}" for at in moments(placed(weekly))[::2]] == ["03-27", "04-03", "04-10"]


def test_a_repetition_at_even_spacing_completes_the_cycle_before_it_and_waits_for_its_end() -> None:
    spaced = {"duration_h": 24, "every_s": 28_800, "start_at": "2027-03-27 18:00 Europe/Madrid"}
    found = placed({**spaced, "repeat": {"every": "day", "until": "2027-03-28"}})
    assert [(run.cycle, run.position) for run in found.runs] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]
    # The night of 23 hours: the second day's first run would be due an hour before the spacing is over.
    assert [f"{at:%d %H}" for at in moments(found)] == ["27 17", "28 01", "28 09", "28 17", "29 01", "29 09"]


def test_the_29th_of_february_is_a_day_of_a_daily_campaign() -> None:
    timetable = {"cycles": 1, "start_at": "2028-02-28 10:00 UTC", "repeat": {"every": "day", "until": "2028-03-01"}}
    now = datetime(2028, 2, 1, tzinfo=UTC)
    assert [f"{at:%m-%d %H}" for at in moments(placed(timetable, now=now), now)[::2]] == [
        "02-28 10",
        "02-29 10",
        "03-01 10",
    ]


def test_a_trigger_whose_last_day_is_over_first_is_not_launched() -> None:
    def conflicts(until: str, start: str | None = None) -> list[tuple[str, bool]]:
        timetable = {"cycles": 1, **({"start_at": start} if start else {})}
        campaign = make_campaign(1, timetable=timetable, trigger={"when": {"call": True}, "until": until})
        found = plan_campaign(campaign, {"geo": make_link()}, launched_at=NOW)
        return [(each.code, each.is_blocking) for each in found.conflicts]

    day = f"{NOW:%Y-%m-%d}"
    assert conflicts(f"{NOW - timedelta(days=1):%Y-%m-%d}") == [("trigger_over", True)]
    assert conflicts(day) == []
    assert conflicts(day, f"{NOW + timedelta(days=1):%Y-%m-%d} 00:00 UTC") == [("trigger_over", True)]
    assert conflicts(day, f"{day} 23:59 UTC") == []


@pytest.mark.parametrize(("cycles", "wanted"), [(732, []), (733, ["plan_too_long"]), (1000, ["plan_too_long"])])
def test_a_campaign_that_follows_no_clock_is_no_longer_than_another(cycles: int, wanted: list[str]) -> None:
    found = placed({"cycles": cycles, "pause_s": 86_400}, size=1)
    assert codes(found) == wanted
    assert found.is_launchable == (not wanted)
    messages = [(each.place, each.message) for each in found.conflicts]
    todo = "ask for fewer runs, or for shorter pauses"
    said = f"The last run would be due more than 732 days after the launch: {todo}."
    assert messages == [("timetable", said)] * len(wanted)


@pytest.mark.parametrize(("most", "wanted"), [(4, [("cycles_too_few", False)]), (5, [])])
def test_a_preview_says_when_cycles_end_before_a_width_is_known(most: int, wanted: list[tuple[str, bool]]) -> None:
    until = {"metric": "throughput_bps", "half_width_percent": 5, "most_cycles": most}
    found = plan_campaign(make_campaign(1, timetable={}, until=until), {"geo": make_link()}, launched_at=NOW)
    assert [(each.code, each.is_blocking) for each in found.conflicts] == wanted
    assert all("from 5 cycles on: of 4 all" in each.message for each in found.conflicts)


def test_what_the_clock_has_against_a_launch() -> None:
    assert codes(placed({"cycles": 1, "start_at": "2026-11-23 12:59 Europe/Madrid"})) == ["start_passed"]
    assert codes(placed({"cycles": 1, "opening_hours": [NIGHTS]}, zone=None)) == ["time_zone_missing"]
    assert codes(placed({"cycles": 1, "opening_hours": [NIGHTS]}, zone="Mars/Olympus")) == ["time_zone_missing"]
    assert codes(placed({"cycles": 1, "opening_hours": ["daily 02:00-02:01"]})) == ["run_never_fits"]
    assert codes(placed({"cycles": 2000, "opening_hours": ["sun 02:00-02:02"]})) == ["plan_too_long"]
    for timetable in (
        {"cycles": 1, "start_at": "2026-11-23 13:00 Europe/Madrid"},
        {"cycles": 1, "opening_hours": [NIGHTS]},
    ):
        assert placed(timetable).is_launchable


@pytest.mark.parametrize(
    ("timetable", "place"),
    [
        ({"cycles": 1, "repeat": {"every": "day", "until": "2026-12-31"}}, "timetable.repeat"),
        ({"cycles": 1, "start_at": "2026-12-02 10:00 UTC", "repeat": {"every": "day", "until": "2026-12-01"}}, "timetable.repeat"),
        ({"cycles": 1, "start_at": "2026-12-02 10:00 Mars/Olympus"}, "timetable.start_at"),
        ({"cycles": 1, "start_at": "2026-02-29 10:00 UTC"}, "timetable.start_at"),
        ({"cycles": 1, "start_at": "1926-02-28 10:00 UTC"}, "timetable.start_at"),
        ({"cycles": 1, "start_at": 20261202}, "timetable.start_at"),
        ({"cycles": 1, "opening_hours": ["sat", "sun 00:00-24:00"]}, "timetable.opening_hours[0]"),
        ({"cycles": 1, "opening_hours": []}, "timetable.opening_hours"),
        (
            {"duration_h": 25, "every_s": 60, "start_at": "2026-12-02 10:00 UTC", "repeat": {"every": "day", "until": "2026-12-09"}},
            "timetable.duration_h",
        ),
        ({"cycles": 1000, "start_at": "2026-12-02 10:00 UTC", "repeat": {"every": "day", "until": "2099-12-09"}}, "timetable"),
    ],
)  # fmt: skip
def test_what_no_timetable_can_be_is_refused_at_its_place(timetable: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidError) as caught:
        make_campaign(timetable=timetable)
    assert [each["place"] for each in caught.value.details["problems"]] == [place]


def test_a_timetable_is_stored_and_read_again() -> None:
    campaign = make_campaign(timetable={
        "cycles": 1, "start_at": "2026-12-01  18:00 Europe/Berlin", "opening_hours": [NIGHTS, "sat,sun 00:00-24:00"],
        "repeat": {"every": "week", "until": "2026-12-31"},
    })  # fmt: skip
    assert Campaign.from_dict(campaign.to_dict()) == campaign
    assert campaign.to_dict()["timetable"]["start_at"] == "2026-12-01 18:00 Europe/Berlin"
    assert campaign.timetable.repeat
    assert campaign.timetable.repeat.until == date(2026, 12, 31)


def test_links_of_other_zones_have_their_own_nights_and_do_not_wait_for_each_other() -> None:
    campaign = make_campaign(links=("geo", "leo"), timetable={"cycles": 3, "opening_hours": ["daily 01:00-02:00"]})
    shared = {"receiver": "one", "senders": ("server", "other")}
    links = {
        "geo": make_link(time_zone="Europe/Madrid", **shared),
        "leo": make_link("leo", time_zone="Asia/Tokyo", **shared),
    }
    found = plan_campaign(campaign, links, launched_at=NOW)
    assert {(run.link, f"{at:%d %H}") for run, at in zip(found.runs, moments(found), strict=True)} == {
        ("geo", "24 00"), ("leo", "23 16"),
    }  # fmt: skip


@given(near_changes(), st.lists(hours, min_size=1, max_size=2), st.booleans(), st.integers(1, 12))
def test_every_planned_run_lies_within_an_opening_and_none_is_left_out(
    where: tuple[str, datetime], some: list[Hours], is_spaced: bool, count: int
) -> None:
    zone, now = where
    spaced = {"duration_h": count * 0.25, "every_s": 900}
    timetable = {**(spaced if is_spaced else {"cycles": count}), "opening_hours": [*map(str, some)]}
    found = placed(timetable, zone, now, size=1)
    openings = Openings(tuple(some), zone)
    if codes(found) == ["run_never_fits"]:
        assert openings.next_fit(now, found_length_s() + SLACK_S) is None
        return
    assert (len(found.runs), codes(found)) == (count, [])
    dues = moments(found, now)
    for due_at, run in zip(dues, found.runs, strict=True):
        assert openings.next_fit(due_at, run.duration_s) == due_at
    least_s = 900 if is_spaced else found_length_s()
    gaps_s = [(later - earlier).total_seconds() for earlier, later in pairwise(dues)]
    assert all(gap_s >= least_s - 1e-3 for gap_s in gaps_s)


def found_length_s() -> float:
    return placed({"cycles": 1}, size=1).runs[0].duration_s


LENGTH_S = 60.0
steps = st.lists(st.sampled_from([0, 1, 1, 1, 20, 300, 1800, 3600, -3600, 7200]), max_size=60)


@given(
    near_changes(), st.lists(hours, min_size=1, max_size=2), st.booleans(), steps, st.lists(st.booleans(), min_size=1)
)
def test_no_run_starts_outside_its_opening_and_none_is_lost_whatever_the_clock_does(
    where: tuple[str, datetime], some: list[Hours], is_spaced: bool, jumps: list[int], is_busy: list[bool]
) -> None:
    """The server's clock goes on by ticks, and is set by an hour forward and back; the link is held now and then."""
    zone, now = where
    shape = {"duration_h": 1, "every_s": 600} if is_spaced else {"cycles": 1}
    campaign = make_campaign(1, timetable={**shape, "opening_hours": [*map(str, some)]})
    openings = Openings(tuple(some), zone)
    due_at = openings.next_fit(now, LENGTH_S + SLACK_S)
    if due_at is None:
        return
    run = PlannedTurn("geo", due_at, ("client", "server"), is_host_wide=False, expected_s=LENGTH_S)
    clock, watched_since = due_at - HOUR, due_at - 2 * HOUR
    for step, jump in enumerate([*jumps, *[0] * 50]):
        if abs(jump) >= 1800:
            watched_since = clock + timedelta(seconds=jump)  # domain/watch.py: a clock that was set is a break
        clock += timedelta(seconds=jump)
        held = {"link:geo": True} if step < len(jumps) and is_busy[step % len(is_busy)] else {}
        agents = {"client": agent("x", seen_at=clock), "server": agent("y", seen_at=clock)}
        link = LinkState(held, agents, watched_since, resumed_at=now, openings=openings)
        turn = decide_turn(run, campaign, link, clock)
        if isinstance(turn, Lease):
            assert clock >= due_at
            assert openings.next_fit(clock, LENGTH_S) == clock
            return
        if isinstance(turn, Miss):
            assert is_spaced
            assert clock > due_at
            assert turn.detail
            return
        assert turn.until is not None
        assert turn.until > clock or held
        if step >= len(jumps):
            clock = turn.until
    pytest.fail("the run neither started nor was missed")


CYCLES: Campaign = campaign_from_dict(make_campaign_data := {
    "name": "x", "links": ["geo"], "stop": {"seconds": 60}, "conditions": [{"name": "a"}],
    "timetable": {"cycles": 3, "opening_hours": [NIGHTS]},
})  # fmt: skip
SPACED = campaign_from_dict(
    {**make_campaign_data, "timetable": {"duration_h": 1, "every_s": 600, "opening_hours": [NIGHTS]}}
)
OPENINGS = Openings(CYCLES.timetable.hours, "UTC")
SEEN = datetime(2027, 1, 1, tzinfo=UTC)
CLOSING = datetime(2026, 11, 24, 6, tzinfo=UTC)
RUN = PlannedTurn("geo", CLOSING - timedelta(minutes=5), ("client", "server"), is_host_wide=False, expected_s=70)
BOTH = {"client": agent("x", seen_at=SEEN), "server": agent("y", seen_at=SEEN)}
OPEN = LinkState({}, BOTH, CLOSING - timedelta(days=1), resumed_at=NOW, openings=OPENINGS)


def test_a_run_in_cycles_that_comes_too_late_waits_for_the_next_opening_and_has_its_hour_there() -> None:
    late = CLOSING - timedelta(seconds=69)
    opens = datetime(2026, 11, 24, 18, tzinfo=UTC)
    assert isinstance(decide_turn(RUN, CYCLES, OPEN, CLOSING - timedelta(seconds=70)), Lease)
    assert decide_turn(RUN, CYCLES, OPEN, late) == Wait(opens)
    assert isinstance(decide_turn(RUN, CYCLES, OPEN, opens), Lease)
    away = replace(OPEN, agents={"client": agent("x", seen_at=SEEN)})
    assert decide_turn(RUN, CYCLES, away, opens + PATIENCE) == Wait(opens + PATIENCE)
    missed = decide_turn(RUN, CYCLES, away, opens + PATIENCE + timedelta(seconds=1))
    assert missed == Miss(Reason.AGENT_LOST, "server was not heard from.")


def test_a_run_at_even_spacing_that_comes_too_late_is_missed_and_says_why() -> None:
    late = CLOSING - timedelta(seconds=69)
    detail = "It would not have ended within the opening hours any more (weekdays 18:00-06:00, UTC)."
    assert decide_turn(RUN, SPACED, OPEN, late) == Miss(Reason.OUTSIDE_HOURS, detail)
    held = decide_turn(RUN, SPACED, replace(OPEN, held={"link:geo": True}), late)
    assert held == Miss(Reason.OUTSIDE_HOURS, f"{detail} Another run held geo until this one's time had passed.")


def test_one_at_even_spacing_waits_for_an_opening_that_comes_before_the_next_ones_time() -> None:
    campaign = replace(SPACED, timetable=replace(SPACED.timetable, every_s=14 * 3600.0))
    assert decide_turn(RUN, campaign, OPEN, CLOSING) == Wait(CLOSING + 12 * HOUR)


def test_a_pause_of_hours_between_cycles_that_are_late_misses_no_run() -> None:
    paused = replace(CYCLES, timetable=replace(CYCLES.timetable, pause_s=3 * 3600.0, hours=()))
    ended_at = RUN.due_at + 5 * HOUR
    link = replace(OPEN, openings=None, last_end_at=ended_at, earlier_cycles_end_at=ended_at)
    assert decide_turn(RUN, paused, link, ended_at + 2 * HOUR) == Wait(ended_at + 3 * HOUR)
    assert isinstance(decide_turn(RUN, paused, link, ended_at + 3 * HOUR), Lease)


def test_after_a_pause_runs_keep_their_times_by_the_clock_and_those_of_the_pause_are_pushed_on() -> None:
    opens = datetime(2026, 11, 24, 18, tzinfo=UTC)
    dues = [opens - 14 * HOUR, opens - 13 * HOUR, opens + HOUR, opens + 5 * HOUR]
    spaced = replace(SPACED.timetable, every_s=3600.0)
    moved = dues_after_pause([(at, 70) for at in dues], spaced, OPENINGS, opens - 15 * HOUR, opens - 11 * HOUR)
    assert moved == [opens, opens + HOUR, opens + 2 * HOUR, opens + 5 * HOUR]


def test_reruns_are_due_within_the_opening_hours() -> None:
    last = CLOSING - timedelta(minutes=15)
    opens = CLOSING + 12 * HOUR
    assert due_moments([70, 70], SPACED.timetable, last, NOW, OPENINGS) == [CLOSING - timedelta(minutes=5), opens]
    assert due_moments([70, 70], CYCLES.timetable, last, CLOSING, OPENINGS) == [opens, opens]


@given(near_changes(), st.integers(0, 400))
def test_a_start_keeps_its_time_of_day_wherever_the_clock_shows_it(where: tuple[str, datetime], days: int) -> None:
    local = where[1].astimezone(ZoneInfo(where[0])).replace(tzinfo=None, fold=0)
    start = Start.parse(f"{local:%Y-%m-%d %H:%M} {where[0]}")
    shown = start.after_days(days).astimezone(ZoneInfo(where[0])).replace(tzinfo=None, fold=0)
    wanted = local + timedelta(days=days)
    assert shown >= wanted
    assert shown - wanted <= HOUR
