"""Reasons for which a due run waits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from downlink.domain.runs.turn import AGENT, HOST, LINK, AgentView, PlannedTurn, is_taking_runs, state_of


@dataclass(frozen=True, slots=True)
class Holder:
    """The run that holds a link, an agent or a host. is_alone: nobody else may hold it meanwhile."""

    campaign: str
    link: str
    is_alone: bool = True


def resources_of(run: PlannedTurn, agents: Mapping[str, AgentView]) -> list[str]:
    """Return the resources that the run wants: `link:…`, `agent:…`, `host:…`."""
    return [LINK + run.link, *(AGENT + name for name in run.agents), *(HOST + host for host in _hosts(run, agents))]


def waits_for(
    run: PlannedTurn,
    agents: Mapping[str, AgentView],
    held: Mapping[str, Collection[Holder]],
    starts_at: datetime | None,
    now: datetime,
) -> str | None:
    """Explain in sentences why a due run waits; None if it may start at any moment.

    held: by resource. starts_at: when the pause between cycles, or its opening hours, let it begin.
    """
    if holder := _first(held.get(LINK + run.link)):
        return f"A run of campaign {holder.campaign} is under way on {run.link}."
    if starts_at is not None and starts_at > now:
        return f"Its timetable lets it begin at {starts_at:%Y-%m-%d %H:%M:%S} UTC."
    return " ".join([*_by_agent(run, agents, held, now), *_by_host(run, agents, held)]) or None


def _by_agent(
    run: PlannedTurn, agents: Mapping[str, AgentView], held: Mapping[str, Collection[Holder]], now: datetime
) -> Iterator[str]:
    for name in run.agents:
        agent = agents.get(name)
        if holder := _first(held.get(AGENT + name)):
            yield f"{name} is in a run of campaign {holder.campaign} on {holder.link}."
        elif state := state_of(name, agent, now):
            yield state
        elif agent is None or not is_taking_runs(agent, now):
            yield f"{name} is {agent.status if agent else 'unknown'}."


def _by_host(
    run: PlannedTurn, agents: Mapping[str, AgentView], held: Mapping[str, Collection[Holder]]
) -> Iterator[str]:
    """A run that changes a host for all of its runs is alone there."""
    for host in _hosts(run, agents):
        others = [each for each in held.get(HOST + host, ()) if each.is_alone or run.is_host_wide]
        own = {name for name in run.agents if AGENT + name in held}
        if others and not own:
            why = "needs its host for itself" if others[0].is_alone else "uses a host that this run needs for itself"
            yield f"A run of campaign {others[0].campaign} on {others[0].link} {why}."


def _hosts(run: PlannedTurn, agents: Mapping[str, AgentView]) -> list[str]:
    return sorted({agents[name].host for name in run.agents if name in agents})


def _first(holders: Collection[Holder] | None) -> Holder | None:
    return next(iter(holders or ()), None)
