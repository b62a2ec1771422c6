"""Reports of agents: they are stored, and answered with the order that follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from downlink.actions.people.secrets import TICKET, is_secret
from downlink.actions.runs import progress as runs
from downlink.domain.campaigns.campaign import BEST_EFFORT, Sampling
from downlink.domain.fleet.agent import (
    AgentReport,
    AgentStatus,
    Assignment,
    Order,
    OrderKind,
    Spooled,
    decide_order,
    is_free,
    phase_after_restart,
)
from downlink.domain.runs.budget import Budget, Ends, read_budget, share_of
from downlink.domain.runs.live import left_flows, live_flows, shown
from downlink.domain.runs.run import ACTIVE, LATEST_START_S, Ending, HostPhase, Reason, RunState
from downlink.storage.campaigns.campaign_store import campaign_of
from downlink.storage.fleet.agent_store import agents_by_name
from downlink.storage.notices.events import add_event
from downlink.storage.runs import active_runs, leases, run_store
from downlink.storage.runs.planned import wake_links_of
from downlink.storage.tables import Agent, Campaign, Run, RunFlow, RunHost
from downlink.storage.traces import uploads
from downlink.storage.unit import Unit

LEFT = (AgentStatus.RESTORING, AgentStatus.RESTORED, AgentStatus.UPLOADING)
"""States of an agent that has left a run's transfer."""
ASK_AGAIN = timedelta(minutes=1)  # for the chunks of a run that has ended


@dataclass(frozen=True)
class OrderFacts:
    """An order with the rows that its message is made of; run is None for runs that are no longer known."""

    order: Order
    attempt: int
    reason: str
    run: Run | None = None
    host: RunHost | None = None
    flows: Sequence[RunFlow] = ()
    addresses: dict[str, str | None] = field(default_factory=dict)
    data_hosts: dict[str, str] = field(default_factory=dict)
    sampling: Sampling = Sampling.POLLED
    keeps_deliveries: bool = False
    is_best_effort: bool = False
    budget: Budget | None = None


def is_noted(agent: Agent, report: AgentReport, detail: str | None) -> bool:
    """Return whether the agent's row matches its poll."""
    return (agent.status, agent.run_id, agent.detail) == (report.status, report.run_id, detail)


def hear(unit: Unit, agent: Agent, report: AgentReport, poll: dict[str, Any], now: datetime) -> bool:
    """Note a poll: status, progress, host facts; whether the agent is in a run.

    poll: detail, progress, spool, host, protocol as the agent sent them.
    """
    if poll["host"] is not None:
        agent.host, agent.boot_id = _facts_of_host(unit, agent, poll["host"]), poll["host"]["boot_id"]
    if not is_noted(agent, report, poll["detail"]):
        data = {"agent": agent.name, "agent_status": report.status, "detail": poll["detail"]}
        add_event(unit, now, "agent", data)
    if is_free(report.status, now, now) and not is_free(AgentStatus(agent.status), agent.last_seen_at, now):
        wake_links_of(unit, [agent.name])
    agent.status, agent.run_id, agent.detail = report.status, report.run_id, poll["detail"]
    # What flows do is the run's: an agent's row has plain numbers.
    agent.progress = poll["progress"] and {key: poll["progress"][key] for key in poll["progress"] if key != "flows"}
    agent.spool, agent.last_seen_at = poll["spool"], now
    agent.protocol = poll["protocol"]
    locked = locked_run(unit, agent)
    if locked:
        _hear_of_run(unit, *locked, report, poll, now)
    return locked is not None


def _facts_of_host(unit: Unit, agent: Agent, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the host's facts in a poll. The data address stays as it was while the agent holds a run: others were told it."""
    known = agent.host.get("data_host")
    if facts["data_host"] == known or known is None or active_runs.run_of_agent(unit, agent.name) is None:
        return facts
    return {**facts, "data_host": known}


def locked_run(unit: Unit, agent: Agent) -> tuple[Run, RunHost] | None:
    unit.session.flush()
    current = active_runs.run_of_agent(unit, agent.name)
    if current is None:
        return None
    run = run_store.get_run(unit, current[0].id, is_locked=True)
    host = run_store.find_host(unit, run.id, agent.name)
    return (run, host) if host and run.state in ACTIVE and run.released_at is None else None


def _hear_of_run(unit: Unit, run: Run, host: RunHost, report: AgentReport, poll: dict[str, Any], now: datetime) -> None:
    host.heard_at = now
    phase = phase_after_restart(report, _assignment(run, host, now))
    if phase is not None:
        host.phase = phase
        if phase is HostPhase.DONE:
            detail = f"The agent {host.agent} was restarted during the run; it has restored its host.{_unannounced(run, poll)}"
            runs.condemn(unit, run, Ending(RunState.FAILED, Reason.AGENT_RESTARTED, detail))
    elif report.status is AgentStatus.PREPARING and report.run_id == run.id and host.phase == HostPhase.ASSIGNED:
        host.phase = HostPhase.PREPARING
    if poll.get("reason") == Reason.UPLOAD_REFUSED and report.run_id == run.id and run.state == RunState.UPLOADING:
        detail = f"{host.agent} could not upload its samples: {poll['detail']}."
        runs.condemn(unit, run, Ending(RunState.INCOMPLETE, Reason.UPLOAD_REFUSED, detail), (host.agent,))
    if (progress := poll["progress"]) and report.run_id == run.id:
        _note_progress(unit, run, host, report, progress, now)
    if report.status in LEFT and report.run_id == run.id and run.state == RunState.RUNNING:
        _note_leaving(unit, run, host)
    runs.advance(unit, run, now)


def _unannounced(run: Run, poll: dict[str, Any]) -> str:
    """Describe samples that an agent had on disk when it was killed: nobody knows how many there should be."""
    chunks = sum(each["chunks"] for each in poll["spool"] if each["run_id"] == str(run.id))
    counted = "1 chunk" if chunks == 1 else f"{chunks} chunks"
    return f" It keeps {counted} of samples aside, for `downlink-agent spool` on its host." if chunks else ""


def _note_progress(
    unit: Unit, run: Run, host: RunHost, report: AgentReport, progress: dict[str, Any], now: datetime
) -> None:
    """Live figures: a run's bytes are the sum over its senders, as each was heard last."""
    data: dict[str, Any] = {"agent": host.agent, **progress}
    if report.status is AgentStatus.RUNNING and "bytes" in progress:
        by_agent = {**(run.live or {}).get("by_agent", {}), host.agent: progress["bytes"]}
        flows = (run.live or {}).get("flows", {})
        looks = progress.get("flows", [])
        if flows or looks:
            flows = live_flows(flows, progress["elapsed_s"], looks, _sent_by(unit, run, host))
        run.live = {
            "elapsed_s": progress["elapsed_s"],
            "bytes": sum(by_agent.values()),
            "by_agent": by_agent,
            "flows": flows,
        }
        data = {"elapsed_s": run.live["elapsed_s"], "bytes": run.live["bytes"], "flows": shown(flows) or None}
    add_event(unit, now, "progress", data, run.campaign_id, run.id)


def _note_leaving(unit: Unit, run: Run, host: RunHost) -> None:
    """Other senders may go on for minutes."""
    if run.live and (flows := run.live.get("flows")):
        run.live = {**run.live, "flows": left_flows(flows, _sent_by(unit, run, host))}


def _sent_by(unit: Unit, run: Run, host: RunHost) -> frozenset[int]:
    return frozenset(flow.flow for flow in run_store.flows_of(unit, run.id) if flow.sender == host.agent)


def next_order(unit: Unit, agent: Agent, report: AgentReport, now: datetime) -> OrderFacts | None:
    """The order that follows from the agent's report and its run's state. Cheap: asked again while a poll is held."""
    current = active_runs.run_of_agent(unit, agent.name)
    assignment = _assignment(*current, now) if current else None
    order = decide_order(report, assignment, _spooled(unit, agent, report, now))
    if order is None or (order.kind is OrderKind.PREPARE and not _has_tickets(unit, agent, order.run_id, now)):
        return None
    return _facts(unit, agent, order, now)


def holds_upload(unit: Unit, agent: Agent, report: AgentReport) -> bool:
    """Return whether the agent uploads chunks of a run that is over while another run holds a link that they cross, or its host."""
    if report.status is not AgentStatus.UPLOADING or report.run_id is None:
        return False
    own = active_runs.run_of_agent(unit, agent.name)
    if own and own[0].id == report.run_id:
        return False  # the run itself holds them, and waits for its samples
    run = unit.session.get(Run, report.run_id)
    return run is not None and leases.is_in_use(unit, run.link, agent.name)


def holds_observations(unit: Unit, agent: Agent) -> bool:
    """Return whether a run holds a link that they would cross, or the agent's host."""
    return leases.is_in_use(unit, None, agent.name)


def _spooled(unit: Unit, agent: Agent, report: AgentReport, now: datetime) -> dict[UUID, Spooled]:
    """Return the fate of the chunks of each run that the report names."""
    named = {*report.spool, *([report.run_id] if report.run_id else [])}
    if not named:
        return {}
    known = active_runs.runs_at_agent(unit, agent.name, named)
    return {run_id: _fate(unit, *known[run_id], now) if run_id in known else Spooled.FORGOTTEN for run_id in named}


def _fate(unit: Unit, run: Run, host: RunHost, now: datetime) -> Spooled:
    """Return the fate of a run's chunks. They are forgotten only if they are stored here, if the agent gave them up, or if a person
    cancelled the run.

    While another run holds the link or the agent's host, such as the next attempt, nothing late is asked for: an upload would
    cross the link, or load the host, under it.
    """
    is_cancelled = RunState.CANCELLED in (run.state, run.verdict)
    if is_cancelled or host.phase in (HostPhase.UPLOADED, HostPhase.DONE):
        return Spooled.FORGOTTEN
    is_due = host.upload_asked_at is None or now - host.upload_asked_at >= ASK_AGAIN
    is_wanted = (
        is_due
        and uploads.takes_late(run, host)
        and run_store.outcomes_of(run_store.flows_of(unit, run.id), agent=host.agent)
    )
    return Spooled.ASKED if is_wanted and not leases.is_in_use(unit, run.link, host.agent) else Spooled.KEPT


def _has_tickets(unit: Unit, agent: Agent, run_id: UUID, now: datetime) -> bool:
    """False ends the run: with an empty ticket a data port would let everybody in, and no agent takes one."""
    if all(is_secret(TICKET, flow.ticket) for flow in run_store.flows_of(unit, run_id)):
        return True
    if locked := locked_run(unit, agent):
        detail = "The run has no tickets for its data ports; launch the campaign again."
        runs.condemn(unit, locked[0], Ending(RunState.FAILED, Reason.INTERNAL, detail))
        runs.advance(unit, locked[0], now)
    return False


def _facts(unit: Unit, agent: Agent, order: Order, now: datetime) -> OrderFacts:
    run = unit.session.get(Run, order.run_id)
    if run is None:
        return OrderFacts(order, _spooled_attempt(agent, order.run_id), Reason.LEASE_EXPIRED)
    reason = run.reason or Reason.LEASE_EXPIRED
    host = run_store.find_host(unit, run.id, agent.name)
    if order.kind is OrderKind.PREPARE and host and host.phase == HostPhase.ASSIGNED:
        locked = locked_run(unit, agent)
        if locked:
            locked[1].phase, locked[1].heard_at = HostPhase.PREPARING, now
            runs.advance(unit, locked[0], now)
    if order.kind is OrderKind.UPLOAD and host:
        host.upload_asked_at, host.upload_orders = now, host.upload_orders + 1
    of_run = run_store.flows_of(unit, run.id)
    flows = [flow for flow in of_run if flow.point_of(agent.name)]
    addresses = {peer.agent: peer.data_address for peer in run_store.hosts_of(unit, run.id)}
    data_hosts, asked = _data_hosts(unit, addresses), _recording(unit, run)
    budget = _budget_of(run, of_run, agent.name)
    return OrderFacts(order, run.attempt, reason, run, host, flows, addresses, data_hosts, *asked, budget)


def _budget_of(run: Run, flows: Sequence[RunFlow], agent: str) -> Budget | None:
    budget = read_budget(run.budget)
    ends = [Ends(flow.sender, flow.receiver, flow.content or flow.flow) for flow in flows]
    return share_of(budget, ends, agent) if budget else None


def _recording(unit: Unit, run: Run) -> tuple[Sampling, bool, bool]:
    """Return how senders record a flow, whether every flow keeps a delivery table, and whether settings that cannot be made are left."""
    row = unit.session.get(Campaign, run.campaign_id)
    campaign = campaign_of(row) if row else None
    if campaign is None:
        return Sampling.POLLED, False, False
    return campaign.sampling, campaign.deliveries, campaign.settings == BEST_EFFORT


def _data_hosts(unit: Unit, names: Iterable[str]) -> dict[str, str]:
    """Agent to the host of its data path: a receiver dials no other, and route settings need its address."""
    return {name: agent.host["data_host"] for name, agent in agents_by_name(unit, names).items()}


def _spooled_attempt(agent: Agent, run_id: UUID) -> int:
    return next((entry["attempt"] for entry in agent.spool if entry["run_id"] == str(run_id)), 1)


def _assignment(run: Run, host: RunHost, now: datetime) -> Assignment:
    is_past = run.start_at is not None and now > run.start_at + timedelta(seconds=LATEST_START_S)
    return Assignment(run.id, RunState(run.state), HostPhase(host.phase), run.verdict is not None, is_past)
