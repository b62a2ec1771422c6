"""Reports of an agent, and the order that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import ip_address
from types import MappingProxyType
from uuid import UUID

from downlink.domain.errors import ConflictError
from downlink.domain.runs.run import FINAL, HostPhase, RunState

ONLINE_S = 60.0  # two long polls of 25 s and some slack

PROTOCOL = 2
"""The version of the agent protocol that is spoken here (docs/agent-protocol.md)."""


class AgentStatus(StrEnum):
    IDLE = "idle"
    PREPARING = "preparing"
    READY = "ready"
    RUNNING = "running"
    RESTORING = "restoring"
    RESTORED = "restored"
    UPLOADING = "uploading"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class Spooled(StrEnum):
    """Fate of an attempt's chunks at an agent. ASKED: they are wanted now, although their run has ended."""

    KEPT = "kept"
    ASKED = "asked"
    FORGOTTEN = "forgotten"


class OrderKind(StrEnum):
    PREPARE = "prepare"
    GO = "go"
    ABORT = "abort"
    UPLOAD = "upload"
    DISCARD = "discard"


EMPTY: Mapping[UUID, Spooled] = MappingProxyType({})
_WORKING = frozenset({AgentStatus.PREPARING, AgentStatus.READY, AgentStatus.RUNNING})
SILENT = frozenset({AgentStatus.READY, AgentStatus.RUNNING, AgentStatus.RESTORING})
"""An agent says nothing while its run is on the link."""
_HOLDING = frozenset({AgentStatus.RESTORED, AgentStatus.UPLOADING})
_FREE = frozenset({AgentStatus.IDLE, AgentStatus.RESTORED})


@dataclass(frozen=True, slots=True)
class Pause:
    """Somebody's word on this server that an agent begins no run. until: None for as long as nobody resumes it.

    The owner's pause on the host itself is another one: the agent reports it as blocked, and nobody lifts it from afar.
    """

    by: str
    until: datetime | None
    why: str | None

    @classmethod
    def of(cls, by: str | None, until: datetime | None, why: str | None) -> Pause | None:
        """by: None where nobody paused the agent."""
        return None if by is None else cls(by, until, why)

    def holds(self, now: datetime) -> bool:
        return self.until is None or now < self.until

    def __str__(self) -> str:
        until = f" until {self.until:%Y-%m-%d %H:%M} UTC" if self.until else ""
        return f"paused on the agents page by {self.by}{until}" + (f" ({self.why})" if self.why else "")


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The report in a poll. spool: runs with unacknowledged chunks."""

    status: AgentStatus
    run_id: UUID | None
    spool: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """The run that an agent is leased to, and how far the agent is with it. is_start_past: it would begin too late now."""

    run_id: UUID
    state: RunState
    phase: HostPhase
    is_condemned: bool = False
    is_start_past: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    kind: OrderKind
    run_id: UUID


def decide_order(
    report: AgentReport, assignment: Assignment | None, spooled: Mapping[UUID, Spooled] = EMPTY
) -> Order | None:
    """Return the agent's next order, or None. spooled: fate of every run that the report names; a run that is missing there is kept.

    Follows from state alone, so that asking twice gives the same order and every order is safe to receive twice.
    """
    own = assignment.run_id if assignment else None
    if report.run_id is not None and report.run_id != own:
        if report.status in _WORKING:
            return Order(OrderKind.ABORT, report.run_id)
        if report.status not in _HOLDING:
            return None
        if spooled.get(report.run_id) is Spooled.FORGOTTEN:
            return Order(OrderKind.DISCARD, report.run_id)
    order = _order_of(report, assignment, spooled) if assignment else None
    return order or _order_for_spool(report, own, spooled)


def _order_for_spool(report: AgentReport, own: UUID | None, spooled: Mapping[UUID, Spooled]) -> Order | None:
    """Chunks of runs that have ended: forgotten where nobody can want them, and asked for while the agent has no run."""
    if report.status not in _FREE:
        return None
    others = [run_id for run_id in report.spool if run_id != own]
    for run_id in others:
        if spooled.get(run_id) is Spooled.FORGOTTEN:
            return Order(OrderKind.DISCARD, run_id)
    asked = next((run_id for run_id in others if own is None and spooled.get(run_id) is Spooled.ASKED), None)
    return Order(OrderKind.UPLOAD, asked) if asked else None


def _order_of(report: AgentReport, run: Assignment, spooled: Mapping[UUID, Spooled]) -> Order | None:
    is_own = report.run_id == run.run_id
    is_over = run.phase in (HostPhase.DONE, HostPhase.LOST) or run.state in FINAL
    if (run.is_condemned and run.phase in (HostPhase.PREPARING, HostPhase.READY)) or is_over:
        if is_own and report.status in _WORKING:
            return Order(OrderKind.ABORT, run.run_id)
        is_forgotten = is_own and report.status in _HOLDING and spooled.get(run.run_id) is Spooled.FORGOTTEN
        return Order(OrderKind.DISCARD, run.run_id) if is_forgotten else None
    # What it still holds of another run keeps an agent from nothing.
    status = AgentStatus.IDLE if report.status in _HOLDING and not is_own else report.status
    match run.state, status:
        case ((RunState.LEASED | RunState.PREPARING), AgentStatus.IDLE) if run.phase in (
            HostPhase.ASSIGNED,
            HostPhase.PREPARING,
        ):
            return Order(OrderKind.PREPARE, run.run_id)
        case RunState.RUNNING, AgentStatus.READY if not run.is_start_past:
            return Order(OrderKind.GO, run.run_id)
        case RunState.UPLOADING, (AgentStatus.RESTORED | AgentStatus.IDLE) if run.phase is HostPhase.RESTORED:
            return Order(OrderKind.UPLOAD, run.run_id)
    return None


def phase_after_restart(report: AgentReport, run: Assignment) -> HostPhase | None:
    """The phase of a host whose agent has forgotten the run: it was restarted, and restored its host before it polled.

    None when the report does not show that. A repeated `prepare` heals a restart before `ready`.
    """
    if report.status is not AgentStatus.IDLE or report.run_id is not None:
        return None
    if run.phase is HostPhase.FINISHED:
        return HostPhase.RESTORED
    if run.phase is HostPhase.READY or (run.phase is HostPhase.PREPARING and run.is_condemned):
        return HostPhase.DONE
    return None


def why_not_served(protocol: int) -> ConflictError | None:
    """Return the error for an agent of an unsupported protocol version; None for a supported one."""
    versions = f"This server speaks version {PROTOCOL} of the agent protocol, and this agent version {protocol}"
    if protocol < PROTOCOL:
        todo = (
            "Install the downlink-agent of the server's release on this host and restart it; "
            "what it has not uploaded stays on its disk and is taken then."
        )
        return ConflictError("agent_too_old", f"{versions}. {todo}")
    if protocol > PROTOCOL:
        todo = "Upgrade the server, or install the downlink-agent of the server's release on this host."
        return ConflictError("agent_too_new", f"{versions}. {todo}")
    return None


def is_own_address(address: str, data_host: str) -> bool:
    """Return whether a data port's address, host:port, is at an agent's data host."""
    return _host(address.rpartition(":")[0].strip("[]")) == _host(data_host)


def _host(text: str) -> str:
    """The one way to write a host."""
    try:
        return str(ip_address(text))
    except ValueError:
        return text.lower()


def is_online(last_seen_at: datetime | None, now: datetime) -> bool:
    return last_seen_at is not None and now - last_seen_at < timedelta(seconds=ONLINE_S)


def is_present(status: AgentStatus, last_seen_at: datetime | None, is_in_run: bool, now: datetime) -> bool:
    """Heard lately, or measuring and silent by design.

    is_in_run: the run that the agent named last holds its lease. One that has ended explains no silence.
    """
    return is_online(last_seen_at, now) or (status in SILENT and is_in_run)


def is_free(status: AgentStatus, last_seen_at: datetime | None, now: datetime) -> bool:
    """Return whether an agent that no run holds may be given one: late chunks wait, measurements do not."""
    return status in (AgentStatus.IDLE, *_HOLDING) and is_online(last_seen_at, now)
