"""What agents report of their runs. A repeat changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.actions import runs
from downlink.domain.agent import is_own_address
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.run import ACTIVE, HostPhase, Reason, RunState, Verdict
from downlink.storage import runs as rows
from downlink.storage.agents import agents_by_name
from downlink.storage.events import add_event
from downlink.storage.tables import Agent, Run, RunFlow, RunHost
from downlink.storage.unit import Unit

# Phases only ever rise along this order: a late or repeated event cannot take a host back.
_ORDER = (
    HostPhase.ASSIGNED,
    HostPhase.PREPARING,
    HostPhase.READY,
    HostPhase.FINISHED,
    HostPhase.RESTORED,
    HostPhase.UPLOADED,
)
_BAD_ENDS: Mapping[tuple[str, str], tuple[Reason, str]] = {
    ("sender", "link_lost"): (Reason.LINK_LOST, "the link was lost"),
    ("receiver", "link_lost"): (Reason.LINK_LOST, "the link was lost"),
    # Both ends say `stop_rule` of a transfer that ended as it should.
    ("sender", "peer_closed"): (Reason.LINK_LOST, "the receiver closed the connection before the stop rule"),
    ("receiver", "peer_closed"): (Reason.LINK_LOST, "the sender closed the connection before the stop rule"),
    ("sender", "deadline"): (Reason.DEADLINE, "the transfer did not end before its deadline"),
    ("receiver", "deadline"): (Reason.DEADLINE, "the transfer did not end before its deadline"),
    ("sender", "aborted"): (Reason.INTERNAL, "the agent stopped the transfer"),
    ("receiver", "aborted"): (Reason.INTERNAL, "the agent stopped the transfer"),
}


def accept_event(unit: Unit, agent: Agent, run_id: UUID, event: Mapping[str, Any], now: datetime) -> None:
    """Note an event (agent-protocol.md section 5) and let the run go on. ConflictError: the agent restores and drops the run."""
    run, host = _own_run(unit, agent, run_id, event["attempt"])
    if run.state not in ACTIVE or run.released_at is not None:
        _accept_late(run, host, event)
        return
    host.heard_at = agent.last_seen_at = now
    if _ACCEPT[event["kind"]](unit, run, host, event):
        detail = f"{agent.name}: {event['kind']}"
        add_event(unit, now, "host", {"detail": detail, "agent_at": event["at"]}, run.campaign_id, run.id)
    runs.advance(unit, run, now)


def _own_run(unit: Unit, agent: Agent, run_id: UUID, attempt: int) -> tuple[Run, RunHost]:
    if rows.find_host(unit, run_id, agent.name) is None:
        raise ConflictError("not_your_run", f"Run {run_id} is not leased to {agent.name}; restore and drop it.")
    run = rows.get_run(unit, run_id, is_locked=True)
    host = rows.find_host(unit, run_id, agent.name)  # read again: it may have changed before the lock
    if host is None or run.attempt != attempt or run.state == RunState.PLANNED:
        raise ConflictError(
            "not_your_run", f"Attempt {attempt} of run {run_id} is not leased to {agent.name}; restore and drop it."
        )
    return run, host


def _accept_late(run: Run, host: RunHost, event: Mapping[str, Any]) -> None:
    """The run has gone on without this agent; that its host is restored is still worth noting."""
    if event["kind"] == "restored" and host.is_restored is None:
        _note_restored(host, event)
    elif event["kind"] == "ready" or (event["kind"] == "finished" and host.phase == HostPhase.LOST):
        raise ConflictError("run_over", f"The run has ended ({run.state}); restore and drop it.")


def _ready(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    address = event["data_address"]
    if "sender" in host.roles and not address:
        raise InvalidError("data_address_missing", "A sender's `ready` must say its data_address.")
    if not _raise(host, HostPhase.READY):
        return False
    for key in ("settings_before", "settings_during", "fingerprint"):
        setattr(host, key, event[key])
    data_host = agents_by_name(unit, [host.agent])[host.agent].host["data_host"]
    if address and not is_own_address(address, data_host):
        detail = f"{host.agent} says that its data port is at {address}, and its data host is {data_host}; nothing is sent there."
        runs.condemn(unit, run, Verdict(RunState.FAILED, Reason.PORT_FAILED, detail))
    else:
        host.data_address = address
    return True


def _failed(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    if host.phase not in (HostPhase.ASSIGNED, HostPhase.PREPARING, HostPhase.READY, HostPhase.FINISHED):
        return False
    host.phase = HostPhase.DONE
    runs.condemn(unit, run, Verdict(RunState.FAILED, Reason(event["reason"]), f"{host.agent}: {event['detail']}"))
    return True


def _finished(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    flows = {flow.flow: flow for flow in rows.flows_of(unit, run.id)}
    for outcome in event["flows"]:
        _check_end(flows, outcome, host.agent)
    if not _raise(host, HostPhase.FINISHED):
        return False
    for outcome in event["flows"]:
        setattr(flows[outcome["flow"]], f"{outcome['end']}_outcome", outcome)
    if verdict := _verdict(host.agent, event["flows"]):
        runs.condemn(unit, run, verdict)
    return True


def _check_end(flows: Mapping[int, RunFlow], outcome: Mapping[str, Any], agent: str) -> None:
    flow = flows.get(outcome["flow"])
    if flow is None or getattr(flow, outcome["end"]) != agent:
        raise InvalidError(
            "flow_unknown", f"{agent} is not the {outcome['end']} of flow {outcome['flow']} in this run."
        )


def _verdict(agent: str, outcomes: Sequence[Mapping[str, Any]]) -> Verdict | None:
    """What these outcomes condemn the run to, by the first flow that ended badly."""
    for outcome in outcomes:
        where = f"{agent}, flow {outcome['flow']}"
        if bad := _BAD_ENDS.get((outcome["end"], outcome["ended"])):
            said = f" ({outcome['detail']})" if outcome["detail"] else ""
            return Verdict(RunState.FAILED, bad[0], f"{where}: {bad[1]}{said}.")
        if outcome["samples"] == 0:
            return Verdict(RunState.FAILED, Reason.NO_SAMPLES, f"{where}: not one sample was taken.")
    return None


def _restored(_unit: Unit, _run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    if host.phase not in (HostPhase.PREPARING, HostPhase.READY, HostPhase.FINISHED):
        return False
    host.phase = HostPhase.RESTORED if host.phase == HostPhase.FINISHED else HostPhase.DONE
    _note_restored(host, event)
    return True


def _note_restored(host: RunHost, event: Mapping[str, Any]) -> None:
    for key in ("settings_after", "is_restored", "differences"):
        setattr(host, key, event[key])


def _uploaded(_unit: Unit, _run: Run, host: RunHost, _event: Mapping[str, Any]) -> bool:
    return host.phase == HostPhase.RESTORED and _raise(host, HostPhase.UPLOADED)


def _raise(host: RunHost, phase: HostPhase) -> bool:
    """Move the host forward; False for a repeat, or after it was settled otherwise."""
    if host.phase not in _ORDER or _ORDER.index(HostPhase(host.phase)) >= _ORDER.index(phase):
        return False
    host.phase = phase
    return True


_ACCEPT = {"ready": _ready, "failed": _failed, "finished": _finished, "restored": _restored, "uploaded": _uploaded}
