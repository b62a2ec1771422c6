"""An agent that was given up on comes back: what it has of its run is taken, and the run is judged again when all of it is here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from downlink.actions.runs import outcomes, progress
from downlink.domain.errors import ConflictError, UnavailableError
from downlink.domain.runs.run import HostPhase, Reason, RunState, is_reopened
from downlink.storage.notices.events import add_event
from downlink.storage.runs import run_store
from downlink.storage.tables import Run, RunHost
from downlink.storage.traces import uploads
from downlink.storage.unit import Unit

_RISES: Mapping[str, HostPhase] = {
    "finished": HostPhase.FINISHED,
    "restored": HostPhase.RESTORED,
    "uploaded": HostPhase.UPLOADED,
}
_BEFORE: Mapping[str, frozenset[HostPhase]] = {
    "failed": frozenset({HostPhase.LOST}),
    "finished": frozenset({HostPhase.LOST}),
    "restored": frozenset({HostPhase.LOST, HostPhase.FINISHED}),
    "uploaded": frozenset({HostPhase.LOST, HostPhase.RESTORED}),
}


def accept_late(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any], now: datetime) -> None:
    """Note an event of a run that has gone on without this agent. A repeat changes nothing."""
    kind = event["kind"]
    if kind == "restored" and host.is_restored is None:
        outcomes.note_restored(host, event)
    if kind == "failed" and host.is_restored is None and event["reason"] != Reason.NOT_RESTORED:
        host.is_restored = True  # a host is put back before it reports so
    if run.state == RunState.CANCELLED or kind == "ready":
        raise ConflictError("run_over", f"The run has ended ({run.state}); restore and drop it.")
    if run.traces_removed_at is not None:
        raise ConflictError("run_over", "The run's raw traces were removed: what is left of it is not taken; drop it.")
    if kind == "uploaded":
        outcomes.note_missing(host, event)
    if host.phase not in _BEFORE[kind]:
        return
    if not uploads.is_settled(run):
        raise UnavailableError("run_settling", "The run is just being ended; send this again in some seconds.")
    outcomes.note_outcomes(unit, run, host, event)
    if kind != "restored" or run_store.outcomes_of(run_store.flows_of(unit, run.id), host.agent):
        host.phase = _RISES.get(kind) or outcomes.phase_after(event)
    why = f" ({event['reason']}: {event['detail']})" if kind == "failed" else ""
    detail = f"{host.agent}: {kind}, late{why}"
    add_event(unit, now, "host", {"detail": detail, "agent_at": event["at"]}, run.campaign_id, run.id)
    _judge_anew(unit, run)


def _judge_anew(unit: Unit, run: Run) -> None:
    """Seal and analyse once more when every host has said that its upload is done."""
    hosts = run_store.hosts_of(unit, run.id)
    if any(host.phase != HostPhase.UPLOADED for host in hosts):
        return
    run.verdict = None if is_reopened(run.reason) else run.state
    flows = run_store.flows_of(unit, run.id)
    possible = (outcomes.ending_said_by(host.agent, run_store.outcomes_of(flows, host.agent)) for host in hosts)
    # An end that was stopped does not know why; one that saw the reason does.
    endings = sorted((ending for ending in possible if ending), key=lambda ending: ending.reason is Reason.INTERNAL)
    if endings and run.verdict is None:
        run.verdict, run.reason, run.detail = endings[0].state, endings[0].reason, endings[0].detail
    progress.need(unit, run, "seal")
