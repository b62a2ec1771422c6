"""Due times of a campaign's runs, in seconds from launch. Pure: chance comes from the campaign's seed.

A timetable that follows a clock needs the moment of the launch, and opening hours need each link's time zone. A run is due only
when the whole of it fits into an opening.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from random import Random

from downlink.domain.campaigns.campaign import Campaign, Condition
from downlink.domain.campaigns.conflict import Conflict
from downlink.domain.campaigns.opening import Opening
from downlink.domain.campaigns.run_size import run_duration_s
from downlink.domain.campaigns.timetable import ConditionOrder, Timetable
from downlink.domain.errors import InvalidError
from downlink.domain.links.link import Link
from downlink.domain.zone import check_zone

MOST_DAYS = 732
"""A campaign's last run is due within two years of its launch."""
SLACK_S = 30.0
"""A run is planned so that it may begin this much late and still ends before its opening does."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One condition in one cycle on one link. cycle and position (its place in the cycle) count from 1.

    due_s: from launch. duration_s: how long the link is expected to be held.
    """

    link: str
    condition: str
    cycle: int
    position: int
    due_s: float
    duration_s: float


class Lane:
    """The runs of one link: turns moments into seconds from launch. It remembers the opening in which a run was placed last."""

    def __init__(self, link: Link, timetable: Timetable, launched_at: datetime | None) -> None:
        self.link = link
        self.timetable = timetable
        self.launched_at = launched_at
        self.openings = timetable.openings(link.time_zone)
        self._held: Opening | None = None

    def begins_s(self, repetition: int) -> float:
        """Return when a repetition begins, in seconds from launch. Repetitions count from 0."""
        if self.launched_at is None:
            return 0.0
        return (self.timetable.begins_at(repetition, self.launched_at) - self.launched_at).total_seconds()

    def fit_s(self, due_s: float, duration_s: float) -> float | None:
        """Return when a run that is wanted at due_s can be due, in seconds from launch; None if that is not within two years."""
        if due_s > MOST_DAYS * 86_400:
            return None
        if self.launched_at is None or self.openings is None:
            return due_s
        wanted_at = self.launched_at + timedelta(seconds=due_s)
        length = timedelta(seconds=duration_s + SLACK_S)
        if self._held and self._held.from_at <= wanted_at and wanted_at + length <= self._held.to_at:
            return due_s
        fit_at = self.openings.next_fit(wanted_at, duration_s + SLACK_S)
        self._held = self.openings.opening_at(fit_at) if fit_at else None
        if fit_at is None or fit_at - self.launched_at > timedelta(days=MOST_DAYS):
            return None
        return due_s if fit_at == wanted_at else (fit_at - self.launched_at).total_seconds()


def place_runs(
    campaign: Campaign, links: Sequence[Link], launched_at: datetime | None
) -> tuple[list[PlannedRun], list[Conflict]]:
    """The runs in the order in which they are due, and what the clock has against them.

    launched_at: needed by timetables that follow a clock; others take none.
    """
    timetable = campaign.timetable
    if not timetable.is_clocked:
        launched_at = None
    elif launched_at is None:
        raise ValueError("a timetable that follows a clock needs the moment of its launch")
    conflicts = list(_passed(timetable, launched_at))
    lanes: list[Lane] = []
    for link in links:
        lane = Lane(link, timetable, launched_at)
        conflict = _never_open(campaign, lane)
        if conflict is None:
            lanes.append(lane)
        else:
            conflicts.append(conflict)
    place_queue = _spaced if timetable.cycles is None else _in_turn
    runs = sorted(place_queue(campaign, lanes), key=lambda run: run.due_s)
    if len(runs) < timetable.runs_per_link(len(campaign.conditions)) * len(lanes):
        todo = "start earlier, ask for fewer runs, or widen the opening hours"
        if not timetable.is_clocked:
            todo = "ask for fewer runs, or for shorter pauses"
        message = f"The last run would be due more than {MOST_DAYS} days after the launch: {todo}."
        conflicts.append(Conflict("plan_too_long", message, True, place="timetable"))
    return runs, conflicts


def cycle_order(campaign: Campaign, link: str, cycle: int) -> list[Condition]:
    """The conditions in the order of one cycle on one link. Another link or cycle does not change it."""
    order = list(campaign.conditions)
    if campaign.timetable.order is ConditionOrder.SHUFFLED:
        Random(f"{campaign.timetable.seed}/{link}/{cycle}").shuffle(order)  # noqa: S311 - repeatable, not secret
    return order


def agents_of(link: Link, condition: Condition) -> tuple[str, ...]:
    """Return the agents of a run: first receiver, further receivers, senders, relays."""
    relays = link.relays if condition.passes_relays else ()
    receivers = (link.receivers[number - 1] for number in condition.receivers)
    return (*receivers, *(link.senders[number - 1] for number in condition.senders), *relays)


def _slots(campaign: Campaign, link: Link) -> Iterator[tuple[int, int, int, Condition]]:
    """(repetition from 0, cycle, position, condition) of every run of one link, in order."""
    size = len(campaign.conditions)
    each = campaign.timetable.runs_per_repetition(size)
    for index in range(campaign.timetable.runs_per_link(size)):
        cycle, position = divmod(index, size)
        if position == 0:
            order = cycle_order(campaign, link.name, cycle + 1)
        yield index // each, cycle + 1, position + 1, order[position]


def _spaced(campaign: Campaign, lanes: Sequence[Lane]) -> Iterator[PlannedRun]:
    """A run on each link every every_s; the links take turns within that time, since they may share agents.

    A run that no longer fits into an opening begins with the next one, and the spacing continues from there.
    """
    for turn, lane in enumerate(lanes):
        yield from _spaced_on(campaign, lane, turn / len(lanes))


def _spaced_on(campaign: Campaign, lane: Lane, share: float) -> Iterator[PlannedRun]:
    """share: of the spacing, this link's delay behind the first one; where openings are long enough for that."""
    every_s, link = campaign.timetable.every_s or 0.0, lane.link
    if lane.fit_s(lane.begins_s(0), _longest(campaign, link)[0] + share * every_s) is None:
        share = 0.0
    since_s, steps, last = 0.0, 0, -1
    for repetition, cycle, position, condition in _slots(campaign, link):
        if repetition != last:
            since_s, steps, last = max(lane.begins_s(repetition), since_s + steps * every_s), 0, repetition
        duration_s = run_duration_s(condition, link)
        wanted_s = since_s + steps * every_s
        base_s = lane.fit_s(wanted_s, duration_s + share * every_s)
        if base_s is None:
            return
        if base_s != wanted_s:
            since_s, steps = base_s, 0
        yield PlannedRun(link.name, condition.name, cycle, position, since_s + (steps + share) * every_s, duration_s)
        steps += 1


def _in_turn(campaign: Campaign, lanes: Sequence[Lane]) -> Iterator[PlannedRun]:
    """One run after the other on each link. Links that share an agent take turns, others go on side by side.

    With opening hours, links of other time zones are placed apart: their runs would wait for each other's nights.
    """

    def zone(lane: Lane) -> str:
        return lane.openings.zone if lane.openings else ""

    for _, group in groupby(sorted(lanes, key=zone), zone):
        yield from _in_turn_of(campaign, list(group))


def _in_turn_of(campaign: Campaign, lanes: Sequence[Lane]) -> Iterator[PlannedRun]:
    free_s: dict[str, float] = {}
    for turns in zip(*(_slots(campaign, lane.link) for lane in lanes), strict=True):
        for lane, (repetition, cycle, position, condition) in zip(lanes, turns, strict=True):
            link, duration_s = lane.link, run_duration_s(condition, lane.link)
            users = (f"link {link.name}", *agents_of(link, condition))
            pause_s = campaign.timetable.pause_s if position == 1 and cycle > 1 else 0.0
            wanted_s = max(free_s.get(users[0], 0.0) + pause_s, *(free_s.get(user, 0.0) for user in users[1:]))
            due_s = lane.fit_s(max(wanted_s, lane.begins_s(repetition)), duration_s)
            if due_s is None:
                return
            free_s.update(dict.fromkeys(users, due_s + duration_s))
            yield PlannedRun(link.name, condition.name, cycle, position, due_s, duration_s)


def _longest(campaign: Campaign, link: Link) -> tuple[float, str]:
    """The seconds of the longest run, and its condition."""
    return max((run_duration_s(condition, link), condition.name) for condition in campaign.conditions)


def _passed(timetable: Timetable, launched_at: datetime | None) -> Iterator[Conflict]:
    if timetable.start and launched_at and timetable.start.after_days(0) < launched_at:
        message = (
            f"The campaign is to start at {timetable.start}, which has passed; choose a later time, or leave it out."
        )
        yield Conflict("start_passed", message, True, place="timetable.start_at")


def _never_open(campaign: Campaign, lane: Lane) -> Conflict | None:
    """Return a conflict where opening hours keep a link from having any run."""
    openings, link = lane.openings, lane.link
    if openings is None or lane.launched_at is None:
        return None
    if why := _zone_fault(link):
        return Conflict("time_zone_missing", why, True, place=f"links[{campaign.links.index(link.name)}]")
    longest_s, name = _longest(campaign, link)
    if openings.next_fit(campaign.timetable.begins_at(0, lane.launched_at), longest_s + SLACK_S):
        return None
    message = (
        f"On {link.name} a run of {name} takes about {longest_s:.0f} s, and no opening lasts that long "
        f"({'; '.join(map(str, openings.hours))}): widen the opening hours or shorten the run."
    )
    return Conflict("run_never_fits", message, True, place="timetable.opening_hours")


def _zone_fault(link: Link) -> str | None:
    todo = "Say where its terminal is: on the page Links, or with `downlink links change --time-zone`."
    if link.time_zone is None:
        return f"Link {link.name} has no time zone, by whose clock it would be open. {todo}"
    try:
        check_zone(link.time_zone)
    except InvalidError as error:
        return f"Link {link.name}: {error.message} {todo}"
    return None
