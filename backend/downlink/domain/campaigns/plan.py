"""The plan of a campaign: its runs, in order. Pure: times are seconds from launch, chance comes from the campaign's seed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from downlink.domain.campaigns.campaign import Campaign, Condition, Phases
from downlink.domain.campaigns.conflict import Booking, Conflict, find_overlaps
from downlink.domain.campaigns.flow_plan import FlowPlan, Split
from downlink.domain.campaigns.placing import PlannedRun, agents_of, place_runs
from downlink.domain.campaigns.precision import relative_width
from downlink.domain.campaigns.run_size import run_bytes, run_duration_s
from downlink.domain.fleet.control import ControlFault, HostControls
from downlink.domain.links.allowance import Allowance, Month, month_of
from downlink.domain.links.link import Link
from downlink.domain.runs.one_host import find_contested


@dataclass(frozen=True, slots=True)
class Estimate:
    # bytes: the most that the runs carry over their links. duration_s: from launch to the end of the last run.
    runs: int
    bytes: int
    duration_s: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs in the order in which they are due."""

    runs: tuple[PlannedRun, ...]
    estimate: Estimate
    conflicts: tuple[Conflict, ...]

    @property
    def is_launchable(self) -> bool:
        """True if nothing prevents a launch; conflicts that only make runs wait do not."""
        return bool(self.runs) and not self.blocking()

    def blocking(self, *, even_if_offline: bool = False) -> list[Conflict]:
        """Return the conflicts that prevent a launch."""
        return [each for each in self.conflicts if each.is_blocking and not (even_if_offline and each.is_waivable)]


def plan_campaign(
    campaign: Campaign,
    links: Mapping[str, Link],
    bookings: Collection[Booking] = (),
    hosts: Mapping[str, str] | None = None,
    controls: Mapping[str, HostControls] | None = None,
    absent: Mapping[str, Conflict] | None = None,
    launched_at: datetime | None = None,
    allowances: Mapping[str, Allowance] | None = None,
) -> Plan:
    """The runs of a campaign, what they will take, and what speaks against them.

    links: by name; a link that is not there, or lacks a sender or receiver that a condition wants, gets no runs and a conflict.
    bookings: what others have planned, in seconds from this launch. hosts: agent to host (boot id); an agent that is
    not named there is a host of its own. controls: of agents that say what theirs take; others are not judged.
    absent: agents that can take no run now, with the reason; it counts where a condition uses the agent.
    launched_at: the moment of the launch, which a timetable that follows a clock needs. allowances: what is left of them
    in the month of the launch; without them a whole plan is held against one month.
    """
    usable = usable_links(campaign, links)
    conditions = {condition.name: condition for condition in campaign.conditions}
    runs, untimely = place_runs(campaign, usable, launched_at)
    own = [_booking(run, links[run.link], conditions[run.condition]) for run in runs]
    volumes = _volumes(runs, links, conditions)
    conflicts = (
        *_missing(campaign, links),
        *_without_relays(campaign, usable),
        *_overlapping(campaign),
        *_absent(campaign, usable, absent or {}),
        *_unfit(campaign, usable, controls or {}),
        *find_contested(campaign, usable, hosts or {}),
        *untimely,
        *_never_fired(campaign, launched_at),
        *_never_narrow(campaign),
        *_too_long(campaign, usable),
        *_left(runs, links, conditions, launched_at, allowances or {}),
        *_too_much(campaign, links, volumes, is_by_month=allowances is not None),
        *find_overlaps(own, bookings, hosts or {}),
    )
    end_s = max((run.due_s + run.duration_s for run in runs), default=0.0)
    return Plan(tuple(runs), Estimate(len(runs), sum(volumes.values()), end_s), conflicts)


def _booking(run: PlannedRun, link: Link, condition: Condition) -> Booking:
    return Booking(
        label=f"link {link.name}",
        link=link.name,
        agents=frozenset(agents_of(link, condition)),
        is_host_wide=condition.is_host_wide,
        start_s=run.due_s,
        end_s=run.due_s + run.duration_s,
    )


def _volumes(
    runs: Sequence[PlannedRun], links: Mapping[str, Link], conditions: Mapping[str, Condition]
) -> dict[str, int]:
    """Bytes per link."""
    volumes: dict[str, int] = {}
    for run in runs:
        volumes[run.link] = volumes.get(run.link, 0) + run_bytes(conditions[run.condition], links[run.link])
    return volumes


def usable_links(campaign: Campaign, links: Mapping[str, Link]) -> list[Link]:
    """The campaign's links that there are, with every sender and receiver that a condition wants."""
    there = [links[name] for name in campaign.links if name in links]
    return [link for link in there if not _missing_senders(campaign, link) and not _missing_receivers(campaign, link)]


def _missing_senders(campaign: Campaign, link: Link) -> list[int]:
    wanted = {number for condition in campaign.conditions for number in condition.senders}
    return sorted(number for number in wanted if number > len(link.senders))


def _missing_receivers(campaign: Campaign, link: Link) -> list[int]:
    wanted = {number for condition in campaign.conditions for number in condition.receivers}
    return sorted(number for number in wanted if number > len(link.receivers))


def _missing(campaign: Campaign, links: Mapping[str, Link]) -> Iterator[Conflict]:
    for index, name in enumerate(campaign.links):
        if name not in links:
            message = f"There is no link called {name}; create it first, or correct the name."
            yield Conflict("unknown_link", message, True, place=f"links[{index}]")
        elif missing := _missing_senders(campaign, links[name]):
            has = len(links[name].senders)
            yield Conflict(
                "unknown_sender", f"Sender {missing[0]} is asked for, but link {name} has {has}.", True, place="links"
            )
        elif missing := _missing_receivers(campaign, links[name]):
            has = len(links[name].receivers)
            yield Conflict(
                "unknown_receiver",
                f"Receiver {missing[0]} is asked for, but link {name} has {has}. Further ones are named with "
                f"`downlink links change {name} --further-receiver AGENT`; an emulated link has those of its profile.",
                True,
                place="links",
            )


def _without_relays(campaign: Campaign, links: Sequence[Link]) -> Iterator[Conflict]:
    """Flows that pass relays, on links that name none: one conflict per link."""
    asked = [
        (condition.name, f"conditions[{number}].flows[{index}].transport", flow.kind)
        for number, condition in enumerate(campaign.conditions)
        for index, flow in enumerate(condition.flows)
        if flow.passes_relays
    ]
    for link in links if asked else ():
        if not link.relays:
            name, position, kind = asked[0]
            yield Conflict(
                "relays_missing",
                f"{name}: {kind} goes over relays, and link {link.name} names none. Name its relays in order from the "
                f"sender to the receiver: on the page Links, or `downlink links change {link.name} --relay AGENT`.",
                True,
                place=position,
            )


def _overlapping(campaign: Campaign) -> Iterator[Conflict]:
    """Steady state that would include start-up; one conflict, of the condition with the shortest run."""
    phases = campaign.phases
    worst = max(campaign.conditions, key=lambda condition: condition.overlap_s(phases))
    run_s = worst.stop.seconds
    if run_s is not None and worst.overlap_s(phases) > 0:
        fitting = Phases.fitting(run_s)
        yield Conflict(
            "phases_overlap",
            f"Runs of {worst.name} last {run_s:g} s, but the phases ask for {phases.startup_s:g} s of start-up and "
            f"{phases.steady_s:g} s of steady state, so that steady state would include start-up. "
            f"Shorten the phases, for example to startup_s: {fitting.startup_s:g} and steady_s: {fitting.steady_s:g}.",
            True,
            place="phases",
        )


def _absent(campaign: Campaign, links: Sequence[Link], absent: Mapping[str, Conflict]) -> Iterator[Conflict]:
    used = dict.fromkeys(
        agent for link in links for condition in campaign.conditions for agent in agents_of(link, condition)
    )
    yield from (absent[agent] for agent in used if agent in absent)


def _unfit(campaign: Campaign, links: Sequence[Link], controls: Mapping[str, HostControls]) -> Iterator[Conflict]:
    """Flows that an agent cannot carry, or not so: one conflict per agent and fault, with the first condition."""
    asked = [
        (agent, part, condition.name, f"conditions[{number}].flows[{index}]", flow)
        for link in links
        for number, condition in enumerate(campaign.conditions)
        for index, flow in enumerate(condition.flows)
        for agent, part in _carriers(link, flow)
    ]
    faults: dict[tuple[str, ControlFault], tuple[str, str]] = {}
    for agent, part, name, position, flow in asked:
        for fault in controls[agent].part_faults(flow, part) if agent in controls else ():
            key = "transport" if fault.is_carrier else _key(flow, part)
            faults.setdefault((agent, fault), (name, f"{position}.{key}"))
    for (agent, fault), (name, position) in faults.items():
        yield Conflict("control_unfit", f"{name}, on {agent}: {fault.sentence}", fault.is_certain, place=position)


def _carriers(link: Link, flow: FlowPlan) -> Iterator[tuple[str, str]]:
    """The agents of a flow, each with its part."""
    yield link.senders[flow.sender - 1], "sender"
    if flow.passes_relays:
        yield from ((relay, "relay") for relay in link.relays)
        yield link.receivers[flow.receiver - 1], "receiver"


def _key(flow: FlowPlan, part: str) -> str:
    """The key of a flow that an agent of this part has something against."""
    if isinstance(flow.transport, Split):
        return {"sender": "cc", "relay": "relay_cc"}.get(part, "transport")
    return "transport" if flow.passes_relays else "cc"


def _never_fired(campaign: Campaign, launched_at: datetime | None) -> Iterator[Conflict]:
    """A trigger whose last day is over before it may fire."""
    trigger, start = campaign.trigger, campaign.timetable.start
    if trigger is None or trigger.ends_at is None:
        return
    if launched_at and trigger.ends_at <= launched_at:
        message = f"The trigger's last day, {trigger.until}, has passed; choose a later one, or leave it out."
    elif start and trigger.ends_at <= start.after_days(0):
        message = f"The trigger's last day, {trigger.until}, is over before the campaign's start at {start}; choose a later one."
    else:
        return
    yield Conflict("trigger_over", message, True, place="trigger.until")


def _never_narrow(campaign: Campaign) -> Iterator[Conflict]:
    """Cycles that end before a width can be known: none of them can be spared."""
    most = campaign.until.most_cycles if campaign.until else None
    if most is not None and relative_width(most) is None:
        least = next(runs for runs in count(most) if relative_width(runs) is not None)
        message = (
            f"How exactly a mean is known can be said from {least} cycles on: of {most} all are run, and their means have no interval. "
            f"Write most_cycles: {least} or more."
        )
        yield Conflict("cycles_too_few", message, place="until.most_cycles")


def _too_long(campaign: Campaign, links: Sequence[Link]) -> Iterator[Conflict]:
    every_s = campaign.timetable.every_s
    if every_s is None:
        return
    for link in links:
        longest_s, name = max((run_duration_s(condition, link), condition.name) for condition in campaign.conditions)
        if longest_s > every_s:
            yield Conflict(
                "run_longer_than_spacing",
                f"On {link.name} a run of {name} takes about {longest_s:.0f} s, but one is due every {every_s:g} s: "
                "raise every_s or shorten the run.",
                True,
                place="timetable.every_s",
            )


def _left(
    runs: Sequence[PlannedRun],
    links: Mapping[str, Link],
    conditions: Mapping[str, Condition],
    launched_at: datetime | None,
    allowances: Mapping[str, Allowance],
) -> Iterator[Conflict]:
    """Yield a conflict for each link with an allowance: the first month in which the runs would carry more than is left."""
    months: dict[tuple[str, Month], int] = {}
    for run in runs:
        link = links[run.link]
        if launched_at and link.name in allowances:
            month = month_of(launched_at + timedelta(seconds=run.due_s), link.reset_day, link.time_zone)
            key = (link.name, month)
            months[key] = months.get(key, 0) + run_bytes(conditions[run.condition], link)
    told: set[str] = set()
    for (name, month), volume in sorted(months.items(), key=lambda each: (each[0][0], each[0][1].from_at)):
        allowance = allowances[name]
        left = allowance.left_bytes if month.to_at <= allowance.resets_at else allowance.limit_bytes
        if volume > left and name not in told:
            told.add(name)
            yield Conflict(
                "allowance_exceeded",
                f"Up to {_megabytes(volume)} would go over {name} until its allowance is reset at "
                f"{month.to_at:%Y-%m-%d %H:%M} UTC, and {_megabytes(left)} are left. Runs that do not fit are missed.",
                place="links",
            )


def _too_much(
    campaign: Campaign, links: Mapping[str, Link], volumes: Mapping[str, int], *, is_by_month: bool
) -> Iterator[Conflict]:
    for name, volume in volumes.items() if not is_by_month else ():
        allowance = links[name].allowance_bytes
        if allowance is not None and volume > allowance:
            yield Conflict(
                "allowance_exceeded",
                f"Up to {_megabytes(volume)} would go over {name}, whose allowance is {_megabytes(allowance)}.",
                place="links",
            )
    total, limit = sum(volumes.values()), campaign.limits.bytes
    if limit is not None and total > limit:
        message = f"Up to {_megabytes(total)} would be sent; the campaign's limit is {_megabytes(limit)}."
        yield Conflict("limit_exceeded", message, place="limits.bytes")


def _megabytes(volume: int) -> str:
    """Less than one in kB or bytes, so that little is not written as nothing."""
    if abs(volume) < 1e6:
        return f"{volume / 1e3:.0f} kB" if abs(volume) >= 1e3 else f"{volume} bytes"
    return f"{volume / 1e6:,.0f} MB"
