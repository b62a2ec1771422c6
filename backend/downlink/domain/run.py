"""A run's life: its states, what may follow what, and the pure deciders of what happens next.

`decide` looks at a run, its hosts and the time, and says the next step; `decide_order` says what an agent should do.
Both are asked again and again, so that a lost answer or a restarted process needs no case of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

PREPARE_LIMIT_S = 60.0
FINISH_MARGIN_S = 30.0
RESTORE_LIMIT_S = 60.0
UPLOAD_SILENCE_S = 120.0
START_MARGIN_S = 1.5
MARGIN_RTTS = 20


class RunState(StrEnum):
    PLANNED = "planned"
    LEASED = "leased"
    PREPARING = "preparing"
    RUNNING = "running"
    RESTORING = "restoring"
    UPLOADING = "uploading"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"
    MISSED = "missed"


FINAL = frozenset({RunState.COMPLETE, RunState.INCOMPLETE, RunState.FAILED, RunState.CANCELLED, RunState.MISSED})
ACTIVE = frozenset(RunState) - FINAL - {RunState.PLANNED}

_NEXT: Mapping[RunState, frozenset[RunState]] = MappingProxyType(
    {
        RunState.PLANNED: frozenset({RunState.LEASED, RunState.CANCELLED, RunState.MISSED}),
        RunState.LEASED: frozenset({RunState.PREPARING, RunState.RESTORING}),
        RunState.PREPARING: frozenset({RunState.RUNNING, RunState.RESTORING}),
        RunState.RUNNING: frozenset({RunState.RESTORING}),
        RunState.RESTORING: frozenset({RunState.UPLOADING, RunState.FAILED, RunState.CANCELLED}),
        RunState.UPLOADING: FINAL - {RunState.MISSED},
        **dict.fromkeys(FINAL, frozenset()),
    }
)


def may_follow(before: RunState, after: RunState) -> bool:
    """Whether a run may go from one state to the other."""
    return after in _NEXT[before]


class Reason(StrEnum):
    """Why a run ended as it did (docs/agent-protocol.md section 7)."""

    AGENT_LOST = "agent_lost"
    AGENT_RESTARTED = "agent_restarted"
    CC_UNAVAILABLE = "cc_unavailable"
    SETTING_REFUSED = "setting_refused"
    SETTING_FAILED = "setting_failed"
    POLICY_REFUSED = "policy_refused"
    PORT_FAILED = "port_failed"
    CONNECT_FAILED = "connect_failed"
    LINK_LOST = "link_lost"
    NO_SAMPLES = "no_samples"
    THIN_TRACE = "thin_trace"
    DISK_FULL = "disk_full"
    CLOCK_UNSURE = "clock_unsure"
    DEADLINE = "deadline"
    NOT_RESTORED = "not_restored"
    LEASE_EXPIRED = "lease_expired"
    CANCELLED = "cancelled"
    HOST_BUSY = "host_busy"
    UPLOAD_TIMEOUT = "upload_timeout"
    TEST_FAILED = "test_failed"
    UPLOAD_REFUSED = "upload_refused"
    INTERNAL = "internal"


# Another try on the same hosts would end the same way.
_LASTING = frozenset({Reason.CC_UNAVAILABLE, Reason.SETTING_REFUSED, Reason.POLICY_REFUSED})


class HostPhase(StrEnum):
    """How far a host is with a run. DONE: restored, nothing to upload. LOST: given up on."""

    ASSIGNED = "assigned"
    PREPARING = "preparing"
    READY = "ready"
    FINISHED = "finished"
    RESTORED = "restored"
    UPLOADED = "uploaded"
    DONE = "done"
    LOST = "lost"


_ENGAGED = frozenset({HostPhase.PREPARING, HostPhase.READY})
_UNSETTLED = _ENGAGED | {HostPhase.ASSIGNED, HostPhase.FINISHED}


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run will end, with a code and a sentence."""

    state: RunState
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class HostView:
    """heard_at: the last sign of life, a poll, an event or a chunk."""

    agent: str
    phase: HostPhase
    heard_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunView:
    """What decide needs to know. state_at: when the run came into its state. is_released: its link is free again."""

    state: RunState
    state_at: datetime
    hosts: tuple[HostView, ...]
    base_rtt_ms: float
    deadline_s: float
    start_at: datetime | None = None
    verdict: Verdict | None = None
    is_released: bool = False

    def in_phase(self, *phases: HostPhase) -> list[str]:
        """Names of the agents in one of these phases."""
        return [host.agent for host in self.hosts if host.phase in phases]


@dataclass(frozen=True, slots=True)
class Move:
    """Go to this state, which is not final."""

    state: RunState


@dataclass(frozen=True, slots=True)
class Start:
    """Both ends are ready: the run's zero is at this moment."""

    start_at: datetime


@dataclass(frozen=True, slots=True)
class Condemn:
    """The run will end so; hosts that have begun are told to stop and restore. GIVE_UP names agents no longer waited for."""

    verdict: Verdict
    given_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """Nothing more is on its way: free link and hosts, seal the traces."""


@dataclass(frozen=True, slots=True)
class Finish:
    """End now, without data."""

    verdict: Verdict


Step = Move | Start | Condemn | Release | Finish


def decide(run: RunView, now: datetime) -> Step | None:
    """The next step of an active run, or None while there is nothing to do but wait. Apply it and ask again."""
    match run.state:
        case RunState.LEASED | RunState.PREPARING:
            return _decide_preparing(run, now)
        case RunState.RUNNING:
            return _decide_running(run, now)
        case RunState.RESTORING:
            return _decide_restoring(run, now)
        case RunState.UPLOADING:
            return _decide_uploading(run, now)
    return None


def _decide_preparing(run: RunView, now: datetime) -> Step | None:
    if run.verdict:
        return Move(RunState.RESTORING)
    if not run.in_phase(*(frozenset(HostPhase) - {HostPhase.READY})):
        return (
            Start(now + start_margin(run.base_rtt_ms)) if run.state is RunState.PREPARING else Move(RunState.PREPARING)
        )
    if run.state is RunState.LEASED and run.in_phase(*_ENGAGED):
        return Move(RunState.PREPARING)
    if now > run.state_at + _limit(PREPARE_LIMIT_S, run):
        late = run.in_phase(HostPhase.ASSIGNED, HostPhase.PREPARING)
        return Condemn(_lost(late, "did not get ready", PREPARE_LIMIT_S))
    return None


def _decide_running(run: RunView, now: datetime) -> Step | None:
    unfinished = run.in_phase(*_ENGAGED)
    if run.verdict or not unfinished:
        return Move(RunState.RESTORING)
    # Receivers are silent by design, and a sender may be cut off for a while: only the deadline tells.
    end = (run.start_at or run.state_at) + timedelta(seconds=run.deadline_s) + _limit(FINISH_MARGIN_S, run)
    if now > end:
        return Condemn(_lost(unfinished, "did not report the end of its transfer", run.deadline_s + FINISH_MARGIN_S))
    return None


def _decide_restoring(run: RunView, now: datetime) -> Step | None:
    unsettled = run.in_phase(*_UNSETTLED)
    if unsettled and now > run.state_at + _limit(RESTORE_LIMIT_S, run):
        return Condemn(
            run.verdict or _lost(unsettled, "did not report that its host is restored", RESTORE_LIMIT_S),
            tuple(unsettled),
        )
    if unsettled:
        return None
    if run.verdict and (run.verdict.state is RunState.CANCELLED or not run.in_phase(HostPhase.RESTORED)):
        return Finish(run.verdict)
    return Move(RunState.UPLOADING)


def _decide_uploading(run: RunView, now: datetime) -> Step | None:
    if run.is_released:
        return None
    if run.verdict and run.verdict.state is RunState.CANCELLED:
        return Finish(run.verdict)
    if not run.in_phase(HostPhase.RESTORED):
        return Release()
    silent = [host.agent for host in run.hosts if host.phase is HostPhase.RESTORED and _is_silent(host, run, now)]
    if silent:
        detail = f"{_names(silent)} did not upload its samples: not heard for {UPLOAD_SILENCE_S:g} s."
        return Condemn(run.verdict or Verdict(RunState.INCOMPLETE, Reason.UPLOAD_TIMEOUT, detail), tuple(silent))
    return None


def _is_silent(host: HostView, run: RunView, now: datetime) -> bool:
    heard_at = max(run.state_at, host.heard_at or run.state_at)
    return now > heard_at + _limit(UPLOAD_SILENCE_S, run)


def start_margin(base_rtt_ms: float) -> timedelta:
    """From the decision to start to the run's zero: every end must hold its `go` by then, over a path as slow as the link."""
    return timedelta(seconds=START_MARGIN_S + 4 * base_rtt_ms / 1000)


def _limit(seconds: float, run: RunView) -> timedelta:
    return timedelta(seconds=seconds + MARGIN_RTTS * run.base_rtt_ms / 1000)


def _lost(agents: list[str], what: str, seconds: float) -> Verdict:
    return Verdict(RunState.FAILED, Reason.AGENT_LOST, f"{_names(agents)} {what} within {seconds:g} s.")


def _names(agents: list[str]) -> str:
    return " and ".join(agents) or "no agent"


def is_retried(state: RunState, reason: str | None, attempt: int, attempts: int) -> bool:
    """Whether a run that ended so is tried again."""
    return state is RunState.FAILED and reason not in _LASTING and attempt < attempts


def transfer_deadline_s(
    seconds: float | None, size_bytes: int | None, last_start_s: float, base_rtt_ms: float, rate_bps: int
) -> float:
    """The hard limit of a transfer, from the run's zero.

    By bytes the time is unknown: a receive window of 64 KB per round trip is the slowest that is waited for.
    """
    margin = 30 + MARGIN_RTTS * base_rtt_ms / 1000
    if seconds is not None:
        return seconds + margin
    slowest_bps = min(rate_bps / 4, 65_536 * 8 / (base_rtt_ms / 1000))
    return last_start_s + (size_bytes or 0) * 8 / slowest_bps + margin
