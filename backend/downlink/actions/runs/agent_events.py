"""Events that agents report of their runs. A repeat changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.actions.runs import outcomes, progress
from downlink.actions.runs.late_uploads import accept_late
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.fleet.agent import is_own_address
from downlink.domain.runs.run import ACTIVE, Ending, HostPhase, Reason, RunState
from downlink.storage.fleet.agent_store import agents_by_name
from downlink.storage.notices.events import add_event
from downlink.storage.runs import run_store
from downlink.storage.tables import Agent, Run, RunHost
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


def accept_event(unit: Unit, agent: Agent, run_id: UUID, event: Mapping[str, Any], now: datetime) -> None:
    """Note an event (agent-protocol.md section 5) and let the run go on. ConflictError: the agent restores and drops the run."""
    run, host = _own_run(unit, agent, run_id, event)
    if run.state not in ACTIVE or run.released_at is not None:
        accept_late(unit, run, host, event, now)
        return
    host.heard_at = agent.last_seen_at = now
    if _ACCEPT[event["kind"]](unit, run, host, event):
        detail = f"{agent.name}: {event['kind']}"
        add_event(unit, now, "host", {"detail": detail, "agent_at": event["at"]}, run.campaign_id, run.id)
    progress.advance(unit, run, now)


def _own_run(unit: Unit, agent: Agent, run_id: UUID, event: Mapping[str, Any]) -> tuple[Run, RunHost]:
    """An event of another lease is of what a server did from which this one was restored."""
    attempt, lease = event["attempt"], event.get("lease")
    if run_store.find_host(unit, run_id, agent.name) is None:
        raise ConflictError("not_your_run", f"Run {run_id} is not leased to {agent.name}; restore and drop it.")
    run = run_store.get_run(unit, run_id, is_locked=True)
    host = run_store.find_host(unit, run_id, agent.name)  # read again: it may have changed before the lock
    is_of_another = lease is not None and run.lease is not None and lease != run.lease
    if host is None or run.attempt != attempt or run.state == RunState.PLANNED or is_of_another:
        raise ConflictError(
            "not_your_run", f"Attempt {attempt} of run {run_id} is not leased to {agent.name}; restore and drop it."
        )
    return run, host


def _ready(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    address = event["data_address"]
    if {"sender", "relay"} & set(host.roles) and not address:
        raise InvalidError("data_address_missing", "A sender's or relay's `ready` must say its data_address.")
    if not _raise(host, HostPhase.READY):
        return False
    for key in ("settings_before", "settings_during", "fingerprint"):
        setattr(host, key, event[key])
    data_host = agents_by_name(unit, [host.agent])[host.agent].host["data_host"]
    if address and not is_own_address(address, data_host):
        detail = f"{host.agent} says that its data port is at {address}, and its data host is {data_host}; nothing is sent there."
        progress.condemn(unit, run, Ending(RunState.FAILED, Reason.PORT_FAILED, detail))
    else:
        host.data_address = address
    return True


def _failed(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    if host.phase not in (HostPhase.ASSIGNED, HostPhase.PREPARING, HostPhase.READY, HostPhase.FINISHED):
        return False
    host.phase = outcomes.phase_after(event)
    outcomes.note_outcomes(unit, run, host, event)
    progress.condemn(unit, run, Ending(RunState.FAILED, Reason(event["reason"]), f"{host.agent}: {event['detail']}"))
    return True


def _finished(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    is_new = host.phase in _ORDER and _ORDER.index(HostPhase(host.phase)) < _ORDER.index(HostPhase.FINISHED)
    outcomes.note_outcomes(unit, run, host, event, is_new=is_new)
    if not _raise(host, HostPhase.FINISHED):
        return False
    if ending := outcomes.ending_said_by(host.agent, outcomes.flow_outcomes(event)):
        progress.condemn(unit, run, ending)
    return True


def _restored(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    if host.phase not in (HostPhase.PREPARING, HostPhase.READY, HostPhase.FINISHED):
        return False
    host.phase = HostPhase.RESTORED if host.phase == HostPhase.FINISHED else outcomes.phase_after(event)
    outcomes.note_outcomes(unit, run, host, event)
    outcomes.note_restored(host, event)
    return True


def _uploaded(_unit: Unit, _run: Run, host: RunHost, event: Mapping[str, Any]) -> bool:
    outcomes.note_missing(host, event)
    return host.phase == HostPhase.RESTORED and _raise(host, HostPhase.UPLOADED)


def _raise(host: RunHost, phase: HostPhase) -> bool:
    """Move the host forward; False for a repeat, or after it was settled otherwise."""
    if host.phase not in _ORDER or _ORDER.index(HostPhase(host.phase)) >= _ORDER.index(phase):
        return False
    host.phase = phase
    return True


_ACCEPT = {"ready": _ready, "failed": _failed, "finished": _finished, "restored": _restored, "uploaded": _uploaded}
