"""From a campaign to its runs. Pure: times are seconds from launch, chance comes from the campaign's seed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from downlink.domain.campaign import Campaign, Condition, ConditionOrder, FlowPlan, Phases, Probe
from downlink.domain.conflict import Booking, Conflict, find_overlaps
from downlink.domain.control import ControlFault, HostControls
from downlink.domain.link import Link
from downlink.domain.one_host import find_contested

SETUP_S = 5.0
"""Prepare, common go, restore and upload, apart from the round trips they take."""
SETUP_ROUND_TRIPS = 10
WIRE_RATIO = 1500 / 1448
"""Bytes on the link per byte of payload: IPv4, TCP and timestamps in a 1500-byte packet."""
PROBE_WIRE_BYTES = 92
"""A probe of 64 bytes with UDP and IPv4 headers."""
INITIAL_WINDOW_BYTES = 10 * 1448
"""RFC 6928."""


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


@dataclass(frozen=True, slots=True)
class Estimate:
    """bytes: the most that the runs carry over their links. duration_s: from launch to the end of the last run."""

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
        """Whether nothing prevents a launch; what only makes runs wait does not."""
        return bool(self.runs) and not self.blocking()

    def blocking(self, *, even_if_offline: bool = False) -> list[Conflict]:
        """What prevents a launch."""
        return [each for each in self.conflicts if each.is_blocking and not (even_if_offline and each.is_waivable)]


def plan_campaign(
    campaign: Campaign,
    links: Mapping[str, Link],
    bookings: Collection[Booking] = (),
    hosts: Mapping[str, str] | None = None,
    controls: Mapping[str, HostControls] | None = None,
    absent: Mapping[str, Conflict] | None = None,
) -> Plan:
    """The runs of a campaign, what they will take, and what speaks against them.

    links: by name; a link that is not there, or lacks a sender that a condition wants, gets no runs and a conflict.
    bookings: what others have planned, in seconds from this launch. hosts: agent to host (boot id); an agent that is
    not named there is a host of its own. controls: of agents that say what theirs take; others are not judged.
    absent: agents that can take no run now, with the reason; it counts where a condition uses the agent.
    """
    usable = usable_links(campaign, links)
    conditions = {condition.name: condition for condition in campaign.conditions}
    slots = _spaced(campaign, usable) if campaign.timetable.cycles is None else _in_turn(campaign, usable)
    runs = tuple(sorted(slots, key=lambda run: run.due_s))
    own = [_booking(run, links[run.link], conditions[run.condition]) for run in runs]
    volumes = _volumes(runs, links, conditions)
    conflicts = (
        *_missing(campaign, links),
        *_several_receivers(campaign),
        *_overlapping(campaign),
        *_absent(campaign, usable, absent or {}),
        *_unfit(campaign, usable, controls or {}),
        *find_contested(campaign, usable, hosts or {}),
        *_too_long(campaign, usable),
        *_too_much(campaign, links, volumes),
        *find_overlaps(own, bookings, hosts or {}),
    )
    end_s = max((run.due_s + run.duration_s for run in runs), default=0.0)
    return Plan(runs, Estimate(len(runs), sum(volumes.values()), end_s), conflicts)


def cycle_order(campaign: Campaign, link: str, cycle: int) -> list[Condition]:
    """The conditions in the order of one cycle on one link. Another link or cycle does not change it."""
    order = list(campaign.conditions)
    if campaign.timetable.order is ConditionOrder.SHUFFLED:
        Random(f"{campaign.timetable.seed}/{link}/{cycle}").shuffle(order)  # noqa: S311 - repeatable, not secret
    return order


def run_duration_s(condition: Condition, link: Link) -> float:
    """How long one run is expected to hold its link, set-up and upload included."""
    round_trip_s = link.base_rtt_ms / 1000
    overhead_s = SETUP_S + SETUP_ROUND_TRIPS * round_trip_s
    if condition.stop.seconds is not None:
        return condition.stop.seconds + overhead_s
    start_up_s = round_trip_s * _slow_start_rounds(link)
    last_start_s = max(flow.start_s for flow in condition.flows)
    return last_start_s + start_up_s + _run_bytes(condition, link) * 8 / link.nominal_rate_bps + overhead_s


def _slow_start_rounds(link: Link) -> float:
    """Doublings from the initial window to the bandwidth-delay product."""
    bdp_bytes = link.nominal_rate_bps / 8 * link.base_rtt_ms / 1000
    return max(0.0, math.log2(bdp_bytes / INITIAL_WINDOW_BYTES))


def _run_bytes(condition: Condition, link: Link) -> int:
    """What one run carries over the link at most: a full link for seconds, each flow's payload for bytes.

    Probes beside data find room in that; where nothing else is sent, they are all.
    """
    if condition.stop.bytes is None:
        seconds = condition.stop.seconds or 0
        if all(flow.is_probe for flow in condition.flows):
            return round(seconds * sum(map(_probe_bytes_per_s, condition.flows)))
        return round(link.nominal_rate_bps / 8 * seconds)
    return round(condition.stop.bytes * len(condition.flows) * WIRE_RATIO)


def _probe_bytes_per_s(flow: FlowPlan) -> float:
    return PROBE_WIRE_BYTES * 1000 / flow.transport.every_ms if isinstance(flow.transport, Probe) else 0.0


def _slots(campaign: Campaign, link: Link) -> Iterator[tuple[int, int, Condition]]:
    """(cycle, position, condition) of every run of one link, in order."""
    size = len(campaign.conditions)
    for index in range(campaign.timetable.runs_per_link(size)):
        cycle, position = divmod(index, size)
        if position == 0:
            order = cycle_order(campaign, link.name, cycle + 1)
        yield cycle + 1, position + 1, order[position]


def _spaced(campaign: Campaign, links: Sequence[Link]) -> Iterator[PlannedRun]:
    """A run on each link every every_s; the links take turns within that time, since they may share agents."""
    every_s = campaign.timetable.every_s or 0.0
    for turn, link in enumerate(links):
        for index, (cycle, position, condition) in enumerate(_slots(campaign, link)):
            due_s = (index + turn / len(links)) * every_s
            yield PlannedRun(link.name, condition.name, cycle, position, due_s, run_duration_s(condition, link))


def _in_turn(campaign: Campaign, links: Sequence[Link]) -> Iterator[PlannedRun]:
    """One run after the other on each link. Links that share an agent take turns, others go on side by side."""
    free_s: dict[str, float] = {}
    for turns in zip(*(_slots(campaign, link) for link in links), strict=True):
        for link, (cycle, position, condition) in zip(links, turns, strict=True):
            users = (f"link {link.name}", *_agents(link, condition))
            is_new_cycle = position == 1 and cycle > 1
            pause_s = campaign.timetable.pause_s if is_new_cycle else 0.0
            due_s = max(free_s.get(users[0], 0.0) + pause_s, *(free_s.get(user, 0.0) for user in users[1:]))
            run = PlannedRun(link.name, condition.name, cycle, position, due_s, run_duration_s(condition, link))
            free_s.update(dict.fromkeys(users, due_s + run.duration_s))
            yield run


def _agents(link: Link, condition: Condition) -> tuple[str, ...]:
    return (link.receiver, *(link.senders[number - 1] for number in condition.senders))


def _booking(run: PlannedRun, link: Link, condition: Condition) -> Booking:
    return Booking(
        label=f"link {link.name}",
        link=link.name,
        agents=frozenset(_agents(link, condition)),
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
        volumes[run.link] = volumes.get(run.link, 0) + _run_bytes(conditions[run.condition], links[run.link])
    return volumes


def usable_links(campaign: Campaign, links: Mapping[str, Link]) -> list[Link]:
    """The campaign's links that there are, with every sender that a condition wants."""
    return [links[name] for name in campaign.links if name in links and not _missing_senders(campaign, links[name])]


def _missing_senders(campaign: Campaign, link: Link) -> list[int]:
    wanted = {number for condition in campaign.conditions for number in condition.senders}
    return sorted(number for number in wanted if number > len(link.senders))


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


def _several_receivers(campaign: Campaign) -> Iterator[Conflict]:
    asked = [(condition.name, flow) for condition in campaign.conditions for flow in condition.flows]
    if name := next((name for name, flow in asked if flow.receivers != (1,)), None):
        message = f"A flow of {name} has other receivers than its link's one; TCP carries a flow to one receiver."
        yield Conflict("receivers_unfit", message, True)


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
        agent for link in links for condition in campaign.conditions for agent in _agents(link, condition)
    )
    yield from (absent[agent] for agent in used if agent in absent)


def _unfit(campaign: Campaign, links: Sequence[Link], controls: Mapping[str, HostControls]) -> Iterator[Conflict]:
    """Controls that a sender cannot run, or not so: one conflict per sender and fault, with the first condition."""
    asked = [
        (link.senders[flow.sender - 1], condition.name, f"conditions[{number}].flows[{index}].cc", flow)
        for link in links
        for number, condition in enumerate(campaign.conditions)
        for index, flow in enumerate(condition.flows)
    ]
    found: dict[tuple[str, ControlFault], tuple[str, str]] = {}
    for sender, name, place, flow in asked:
        for fault in controls[sender].faults(flow.transport) if sender in controls else ():
            found.setdefault((sender, fault), (name, place))
    for (sender, fault), (name, place) in found.items():
        yield Conflict("control_unfit", f"{name}, on {sender}: {fault.sentence}", fault.is_certain, place=place)


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


def _too_much(campaign: Campaign, links: Mapping[str, Link], volumes: Mapping[str, int]) -> Iterator[Conflict]:
    for name, volume in volumes.items():
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
    return f"{volume / 1e6:,.0f} MB"
