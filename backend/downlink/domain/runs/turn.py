"""The turn of a planned run: it starts now, has missed its time, or waits until a moment.

`decide_turn` looks at the first planned run of a campaign on a link. `decide` (domain/next_step.py) follows it from there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.opening import Openings
from downlink.domain.fleet.agent import AgentStatus, Pause, is_free, is_online
from downlink.domain.links.allowance import Allowance
from downlink.domain.runs.budget import DOES_NOT_HOLD, Budget, budget_of
from downlink.domain.runs.next_step import Wait
from downlink.domain.runs.run import Reason

LINK, AGENT, HOST = "link:", "agent:", "host:"
PATIENCE = timedelta(hours=1)
LOOK_AGAIN = timedelta(seconds=30)
"""Time until the next look where nobody tells when an obstacle ends."""
SERVER_AWAY = "This server was unavailable until the run's time had passed."


@dataclass(frozen=True, slots=True)
class Claim:
    """resource: `link:…`, `agent:…` or `host:…`."""

    resource: str
    is_exclusive: bool


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """A planned run as far as its start goes. is_host_wide: it changes what other runs on its hosts would feel.

    expected_s: how long it should hold its link. most_bytes: what it may carry at most, as far as that is known before.
    """

    link: str
    due_at: datetime
    agents: tuple[str, ...]
    is_host_wide: bool
    expected_s: float
    most_bytes: int = 0


@dataclass(frozen=True, slots=True)
class AgentView:
    """host: the boot id. holds_budget: it ends a run that has moved what its order's budget allows."""

    host: str
    status: AgentStatus
    last_seen_at: datetime | None
    detail: str | None
    pause: Pause | None = None
    holds_budget: bool = True


@dataclass(frozen=True, slots=True)
class LinkState:
    """The view of a run's link. held: resources that runs hold, and whether one holds them exclusively.

    agents: those that exist and are not revoked. last_end_at: when a run last gave the link back; earlier_cycles_end_at: the
    last one of this campaign's earlier cycles, needed where the campaign pauses between cycles. used_bytes: what the campaign
    has carried, needed where it is limited; open_bytes: what its runs under way may add; beside: by link what a run of it is
    expected to take there, where one could start meanwhile. allowance: the link's, where it has one.
    watched_since: domain/watch.py. openings: when the campaign may run on this link,
    None for always.
    """

    held: Mapping[str, bool]
    agents: Mapping[str, AgentView]
    watched_since: datetime
    resumed_at: datetime | None = None
    last_end_at: datetime | None = None
    earlier_cycles_end_at: datetime | None = None
    used_bytes: int = 0
    open_bytes: int = 0
    beside: Mapping[str, int] = field(default_factory=dict)
    allowance: Allowance | None = None
    openings: Openings | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """Start now, with these claims. budget: what it may carry; None where nothing limits it."""

    claims: tuple[Claim, ...]
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """The run never starts, for this reason."""

    reason: Reason
    detail: str


Turn = Lease | Miss | Wait


def decide_turn(run: PlannedTurn, campaign: Campaign, link: LinkState, now: datetime) -> Turn:
    """Decide on a planned run now. After Wait(until), ask again at that moment, or when the link state has changed."""
    if now < run.due_at:
        return Wait(run.due_at)
    starts_from = max(now, _not_before(run, campaign, link))
    latest = _latest(run, campaign, link, starts_from)
    if miss := _too_late(run, campaign, link, latest, now):
        return miss
    starts_at = starts_from if link.openings is None else link.openings.next_fit(starts_from, run.expected_s)
    if starts_at is None or (campaign.timetable.every_s and starts_at > latest):
        return _closed(run, campaign, link, now)
    if now < starts_at:
        return Wait(starts_at)
    claims = _claims(run, link.agents)
    budget = _budget(run, campaign, link)
    if (
        not _waits_for_others(run, campaign, link)
        and _is_startable(run, claims, link, now)
        and not (budget and _without_budget(run, link))
    ):
        return Lease(claims, budget)
    return Wait(min(now + LOOK_AGAIN, latest))


def _too_late(run: PlannedTurn, campaign: Campaign, link: LinkState, latest: datetime, now: datetime) -> Miss | None:
    if detail := _over_budget(run, campaign, link):
        return Miss(Reason.OVER_BUDGET, detail)
    if now <= latest:
        return None
    return Miss(Reason.INTERNAL, SERVER_AWAY) if link.watched_since > latest else _obstacle(run, campaign, link, now)


def _over_budget(run: PlannedTurn, campaign: Campaign, link: LinkState) -> str | None:
    """Name the budget that the run might break, in a sentence; None if there is none."""
    limit, allowance = campaign.limits.bytes, link.allowance
    if limit is not None and (link.used_bytes >= limit or link.used_bytes + run.most_bytes > limit):
        left = max(0, limit - link.used_bytes)
        return f"The campaign may carry {limit} bytes; {left} are left, and this run may take {run.most_bytes}."
    if allowance is not None and (allowance.left_bytes == 0 or run.most_bytes > allowance.left_bytes):
        return (
            f"{run.link} may carry {allowance.limit_bytes} bytes a month; {allowance.left_bytes} are left until "
            f"{allowance.resets_at:%Y-%m-%d %H:%M} UTC, and this run may take {run.most_bytes}."
        )
    return None


def _waits_for_others(run: PlannedTurn, campaign: Campaign, link: LinkState) -> bool:
    """Return whether the run fits only if the campaign's runs under way take less than they may."""
    limit = campaign.limits.bytes
    return limit is not None and link.used_bytes + link.open_bytes + run.most_bytes > limit


def _budget(run: PlannedTurn, campaign: Campaign, link: LinkState) -> Budget | None:
    limit, allowance = campaign.limits.bytes, link.allowance
    left = None if limit is None else limit - link.used_bytes - link.open_bytes
    beside = [expected for name, expected in link.beside.items() if name != run.link]
    return budget_of(run.most_bytes, left, beside, allowance.left_bytes if allowance else None)


def _without_budget(run: PlannedTurn, link: LinkState) -> list[str]:
    """Agents that would go on when what is left for the run is used up."""
    return [name for name in run.agents if name in link.agents and not link.agents[name].holds_budget]


def is_claimable(claims: Collection[Claim], held: Mapping[str, bool]) -> bool:
    """Return whether no other run holds a wanted resource in a way that excludes this one."""
    return not any(claim.resource in held and (claim.is_exclusive or held[claim.resource]) for claim in claims)


def _is_startable(run: PlannedTurn, claims: Collection[Claim], link: LinkState, now: datetime) -> bool:
    agents = [link.agents.get(name) for name in run.agents]
    return all(agent and is_taking_runs(agent, now) for agent in agents) and is_claimable(claims, link.held)


def is_taking_runs(agent: AgentView, now: datetime) -> bool:
    return is_free(agent.status, agent.last_seen_at, now) and not (agent.pause and agent.pause.holds(now))


def _claims(run: PlannedTurn, agents: Mapping[str, AgentView]) -> tuple[Claim, ...]:
    """Link and agents for this run alone; hosts shared, unless the run changes what their other runs would feel."""
    hosts = sorted({agents[name].host for name in run.agents if name in agents})
    return (
        Claim(LINK + run.link, is_exclusive=True),
        *(Claim(AGENT + name, is_exclusive=True) for name in run.agents),
        *(Claim(HOST + host, is_exclusive=run.is_host_wide) for host in hosts),
    )


def _not_before(run: PlannedTurn, campaign: Campaign, link: LinkState) -> datetime:
    """Return the earliest start: the run's time, or the end of the pause after the last cycle, whichever is later."""
    if link.earlier_cycles_end_at is None:
        return run.due_at
    return max(run.due_at, link.earlier_cycles_end_at + timedelta(seconds=campaign.timetable.pause_s))


def _latest(run: PlannedTurn, campaign: Campaign, link: LinkState, moment: datetime) -> datetime:
    """A run at even spacing has until the next one's time; a run in cycles waits its turn, and then an hour with a server.

    moment: from when on it could start as far as its campaign goes. The hour does not pass while the link is not open for it.
    """
    if campaign.timetable.every_s:
        return run.due_at + timedelta(seconds=campaign.timetable.every_s)
    if LINK + run.link in link.held:
        return datetime.max.replace(tzinfo=run.due_at.tzinfo)
    moments = [run.due_at, link.last_end_at, link.resumed_at, link.watched_since, _not_before(run, campaign, link)]
    if link.openings and (fit_at := link.openings.next_fit(moment, run.expected_s)):
        opening = link.openings.opening_at(fit_at)
        moments.append(opening.from_at if opening else fit_at)
    return max(each for each in moments if each) + PATIENCE


def _obstacle(run: PlannedTurn, campaign: Campaign, link: LinkState, now: datetime) -> Miss:
    """Return the obstacle that kept a run from starting in time, in a sentence."""
    return _hindrance(run, campaign, link, now) or Miss(
        Reason.HOST_BUSY, "Its hosts were in other runs until its time had passed."
    )


def _hindrance(run: PlannedTurn, campaign: Campaign, link: LinkState, now: datetime) -> Miss | None:
    """Return the obstacle that is still there, if any."""
    if LINK + run.link in link.held:
        return Miss(Reason.HOST_BUSY, f"Another run held {run.link} until this one's time had passed.")
    states = [state_of(name, link.agents.get(name), now) for name in run.agents]
    away = " ".join(state for state in states if state)
    if away:
        return Miss(Reason.AGENT_LOST, away)
    if _budget(run, campaign, link) and (old := _without_budget(run, link)):
        return Miss(Reason.OVER_BUDGET, " ".join(f"{name} {DOES_NOT_HOLD}" for name in old))
    return None


def _closed(run: PlannedTurn, campaign: Campaign, link: LinkState, now: datetime) -> Miss:
    """Its time has come, but not all of it would lie within the opening hours."""
    hours = f"{'; '.join(map(str, link.openings.hours))}, {link.openings.zone}" if link.openings else ""
    hindrance = _hindrance(run, campaign, link, now)
    why = f" {hindrance.detail}" if hindrance else ""
    return Miss(Reason.OUTSIDE_HOURS, f"It would not have ended within the opening hours any more ({hours}).{why}")


def state_of(name: str, agent: AgentView | None, now: datetime) -> str | None:
    """Explain in a sentence why the agent takes no run; None if it does."""
    if agent is None or not is_online(agent.last_seen_at, now):
        return f"{name} was not heard from."
    if agent.status == AgentStatus.BLOCKED:
        return f"{name} takes no run: {agent.detail or 'its host does not match its journal'}."
    if agent.pause and agent.pause.holds(now):
        return f"{name} takes no run: {agent.pause}."
    return None
