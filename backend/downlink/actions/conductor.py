"""The tick: once a second, whatever is due is done. It keeps nothing in memory; PostgreSQL says what is due."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog

from downlink.actions import reanalysis, runs, sweeps
from downlink.actions.campaigns import complete_campaign
from downlink.domain.agent import AgentStatus, is_free, is_online
from downlink.domain.errors import UnavailableError
from downlink.domain.run import ACTIVE, Reason, RunState
from downlink.domain.watch import CONDUCTOR
from downlink.storage import agents, campaigns, heartbeats, leases, retention
from downlink.storage import runs as rows
from downlink.storage.leases import Claim
from downlink.storage.links import LINK_RESOURCE
from downlink.storage.reanalysis import JOB as REANALYSE
from downlink.storage.tables import Agent, Campaign, Run, RunHost
from downlink.storage.unit import Unit, UnitFactory, try_lock

RESEND = timedelta(seconds=30)
MAX_TRIES = 5
PATIENCE = timedelta(hours=1)
SERVER_AWAY = "This server was away until the run's time had gone by."
REPORT_PATIENCE = timedelta(minutes=15)  # a campaign that cannot be reported must end all the same
log = structlog.get_logger()


def tick(units: UnitFactory, now: datetime) -> None:
    """One pass. Each step is a transaction of its own: a run that cannot go on does not stop the others."""
    with units() as unit:
        heartbeats.beat(unit, CONDUCTOR, now)
        ids = rows.active_run_ids(unit)
    for run_id in ids:
        _guarded(units, partial(advance_run, run_id=run_id, now=now))
    for step in (lease_due, resend_lost, sweeps.send_due, retention.prune):
        _guarded(units, partial(step, now=now))


def _guarded(units: UnitFactory, step: Callable[[Unit], None]) -> None:
    """One step. UnavailableError when the database has gone, and with it this process's turn."""
    try:
        with units() as unit:
            step(unit)
    except UnavailableError as error:
        if error.code == "database_away":
            raise
        log.warning("tick_step_skipped", code=error.code)
    except Exception:
        log.exception("tick_step_failed")


def advance_run(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Let time pass for one run: deadlines and silences."""
    run = rows.get_run(unit, run_id, is_locked=True)
    if run.state in ACTIVE and run.released_at is None:
        runs.advance(unit, run, now)


def lease_due(unit: Unit, now: datetime) -> None:
    """Lease, per campaign and link, the next due run whose link, agents and hosts are free; mark what has missed its time."""
    if not try_lock(unit, leases.LOCK):
        return
    held, since = leases.held_resources(unit), heartbeats.find_watched_since(unit, now)
    seen: set[tuple[UUID, str]] = set()
    for run in rows.due_runs(unit, now):
        place = (run.campaign_id, run.link)
        if place in seen:
            continue
        if not _miss(unit, run, held, since, now):
            seen.add(place)
            if _lease(unit, run, held, now):
                held = leases.held_resources(unit)


def _lease(unit: Unit, run: Run, held: set[str], now: datetime) -> bool:
    hosts = rows.hosts_of(unit, run.id)
    wanted = {LINK_RESOURCE + run.link, *(f"agent:{host.agent}" for host in hosts)}
    if wanted & held or _not_before(unit, run) > now:
        return False
    found = agents.agents_by_name(unit, [host.agent for host in hosts])
    if not all(host.agent in found and _is_free(found[host.agent], now) for host in hosts):
        return False
    if not leases.take(unit, run.id, _claims(run, found)):
        return False
    runs.set_state(unit, run, RunState.LEASED, now)
    return True


def _is_free(agent: Agent, now: datetime) -> bool:
    return is_free(AgentStatus(agent.status), agent.last_seen_at, now)


def _claims(run: Run, found: Mapping[str, Agent]) -> list[Claim]:
    """Link and agents for this run alone; hosts shared, unless the run changes what their other runs would feel."""
    hosts = {agent.boot_id for agent in found.values()}
    return [
        Claim(LINK_RESOURCE + run.link, is_exclusive=True),
        *(Claim(f"agent:{name}", is_exclusive=True) for name in found),
        *(Claim(f"host:{boot_id}", is_exclusive=run.is_host_wide) for boot_id in hosts),
    ]


def _not_before(unit: Unit, run: Run) -> datetime:
    """Not before its time, nor before the pause after the last cycle is over, however long that took."""
    before = rows.end_of_earlier_cycles(unit, run)
    if before is None:
        return run.due_at
    pause_s = campaigns.campaign_of(campaigns.find_campaign(unit, run.campaign_id)).timetable.pause_s
    return max(run.due_at, before + timedelta(seconds=pause_s))


def _miss(unit: Unit, run: Run, held: set[str], since: datetime, now: datetime) -> bool:
    """End a run whose time has gone by, or that the campaign's data volume no longer allows."""
    campaign = campaigns.find_campaign(unit, run.campaign_id)
    limit = campaigns.campaign_of(campaign).limits.bytes
    if limit is not None and rows.bytes_used(unit, campaign.id) >= limit:
        detail = f"The campaign's data volume of {limit} bytes is used up."
        runs.finish(unit, run, RunState.MISSED, now, Reason.POLICY_REFUSED, detail)
        return True
    latest = _latest(unit, run, campaign, since)
    if now <= latest:
        return False
    reason, detail = (Reason.INTERNAL, SERVER_AWAY) if since > latest else _obstacle(unit, run, held, now)
    runs.finish(unit, run, RunState.MISSED, now, reason, detail)
    return True


def _latest(unit: Unit, run: Run, campaign: Campaign, since: datetime) -> datetime:
    """A run at even spacing has until the next one's time; a run in cycles waits its turn, and then an hour with a server."""
    every_s = campaigns.campaign_of(campaign).timetable.every_s
    if every_s:
        return run.due_at + timedelta(seconds=every_s)
    if rows.is_link_busy(unit, run):
        return datetime.max.replace(tzinfo=run.due_at.tzinfo)
    turn_at = max(
        moment for moment in (run.due_at, rows.last_end_on_link(unit, run.link), campaign.resumed_at, since) if moment
    )
    return turn_at + PATIENCE


def _obstacle(unit: Unit, run: Run, held: set[str], now: datetime) -> tuple[Reason, str]:
    """What kept a run from starting in time, in a sentence."""
    if LINK_RESOURCE + run.link in held:
        return Reason.HOST_BUSY, f"Another run held {run.link} until this one's time had gone by."
    hosts = rows.hosts_of(unit, run.id)
    found = agents.agents_by_name(unit, [host.agent for host in hosts])
    away = [_state_of(host, found.get(host.agent), now) for host in hosts]
    said = " ".join(state for state in away if state)
    return (
        (Reason.AGENT_LOST, said)
        if said
        else (Reason.HOST_BUSY, "Its hosts were in other runs until its time had gone by.")
    )


def _state_of(host: RunHost, agent: Agent | None, now: datetime) -> str | None:
    if agent is None or not is_online(agent.last_seen_at, now):
        return f"{host.agent} was not heard from."
    if agent.status == AgentStatus.BLOCKED:
        return f"{host.agent} takes no run: {agent.detail or 'its host does not match its journal'}."
    return None


def resend_lost(unit: Unit, now: datetime) -> None:
    """Send the jobs that are due and were lost or never sent; end a run whose job fails again and again."""
    for run in rows.lost_jobs(unit, now, RESEND):
        if run.tries >= MAX_TRIES and run.needs == REANALYSE:
            log.error("reanalysis_given_up", run_id=str(run.id))  # its older numbers stay, and say by which version
            reanalysis.done(unit, [run])
        elif run.tries >= MAX_TRIES:
            state = RunState(run.verdict) if run.verdict else RunState.INCOMPLETE
            detail = f"Its samples are stored, but `{run.needs}` failed {MAX_TRIES} times; the worker's log says why."
            runs.finish(unit, run, state, now, run.reason or Reason.INTERNAL, run.detail or detail)
        else:
            run.needs_sent_at = now
            unit.enqueue(str(run.needs), run.id)
    for campaign in campaigns.stale_reports(unit, now, RESEND):
        campaign.report_sent_at = now
        unit.enqueue("report", campaign.id)
        ended_at = rows.last_end_in_campaign(unit, campaign.id)
        if ended_at and ended_at < now - REPORT_PATIENCE:
            log.error("report_overdue", campaign_id=str(campaign.id))
            complete_campaign(unit, campaign.id, now)
