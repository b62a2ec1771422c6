"""Observations of the last runs on links: facts of hosts, and the network paths between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import func, select

from downlink.domain.campaigns.preflight import Reached
from downlink.domain.fleet.hosts import Found
from downlink.domain.runs.run import Trait, has_trait
from downlink.storage.tables import Campaign, Run, RunFlow, RunHost, outcomes
from downlink.storage.unit import Unit

LOOKED_AT = 20
"""Runs of each link, the last ones first: a preview is asked for at every pause in typing."""


@dataclass(frozen=True)
class LastRuns:
    """found: by agent, the last one first. reached: by sender and receiver."""

    found: dict[str, list[Found]]
    reached: dict[tuple[str, str], Reached]


def last_runs(unit: Unit, links: Iterable[str]) -> LastRuns:
    """Return the observations of runs that were measured here and have ended."""
    runs = sorted(
        (run for link in links for run in _ended_on(unit, link)),
        key=lambda run: run.ended_at or run.state_at,
        reverse=True,
    )
    ids = [run.id for run in runs]
    return LastRuns(_found(unit, runs, ids), _reached(unit, runs, ids))


def _ended_on(unit: Unit, link: str) -> Iterable[Run]:
    freed_at = func.coalesce(Run.released_at, Run.ended_at)
    query = select(Run).join(Campaign, Campaign.id == Run.campaign_id)
    query = query.where(
        Run.link == link, freed_at.is_not(None), Run.ended_at.is_not(None), Campaign.origin == "measured"
    )
    return unit.session.scalars(query.order_by(freed_at.desc()).limit(LOOKED_AT))


def _found(unit: Unit, runs: Collection[Run], ids: Collection[object]) -> dict[str, list[Found]]:
    query = select(RunHost.run_id, RunHost.agent, RunHost.fingerprint)
    told = defaultdict(list)
    for run_id, agent, fingerprint in unit.session.execute(
        query.where(RunHost.run_id.in_(ids), RunHost.fingerprint.is_not(None))
    ):
        told[run_id].append((agent, fingerprint or {}))
    found_by: dict[str, list[Found]] = defaultdict(list)
    for run in runs:
        for agent, fingerprint in told[run.id]:
            found_by[agent].append(Found(run.start_at or run.state_at, run.id, fingerprint))
    return found_by


def _reached(unit: Unit, runs: Collection[Run], ids: Collection[object]) -> dict[tuple[str, str], Reached]:
    """A run says something of a pair where its receiver had a connection, or where it failed for want of one."""
    started = outcomes.started_us(RunFlow.receiver_outcome)  # only whether it is there
    told = defaultdict(list)
    for run_id, sender, receiver, started_us in unit.session.execute(
        select(RunFlow.run_id, RunFlow.sender, RunFlow.receiver, started).where(RunFlow.run_id.in_(ids))
    ):
        told[run_id].append(((sender, receiver), started_us is not None))
    reached: dict[tuple[str, str], Reached] = {}
    for run in runs:
        for pair, has_come in told[run.id]:
            if pair not in reached and (has_come or has_trait(run.reason, Trait.UNREACHED)):
                detail = "" if has_come else run.detail or ""
                reached[pair] = Reached(run.start_at or run.state_at, run.id, has_come, detail)
    return reached
