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
UPLOAD_STALL_S = 300.0  # one chunk of 4 MiB at SLOWEST_UPLOAD_BPS, and some
UPLOAD_MARGIN_S = 300.0
UPLOAD_MOST_S = 6 * 3600.0
SLOWEST_UPLOAD_BPS = 128_000
SAMPLE_BYTES = 100  # packed; a sample of every field takes less
MAX_UPLOAD_ORDERS = 100  # without a chunk: agents that fail at once ask twice a second
AGENT_PAUSE_S = 30.0  # the longest between two tries of an agent (agents/internal/uplink)
START_MARGIN_S = 1.5
LATEST_START_S = 10.0  # after its moment, an agent does not begin any more (agents/internal/trial)
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


# A run that was given up on, once its samples are there after all.
_LATE = frozenset({RunState.COMPLETE, RunState.INCOMPLETE, RunState.FAILED})


def may_follow(before: RunState, after: RunState, *, is_late: bool = False) -> bool:
    """Whether a run may go from one state to the other. is_late: it has ended, and its samples came afterwards."""
    return {before, after} <= _LATE if is_late else after in _NEXT[before]


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


# How a run ends whose agents were given up on; they may come back with all of their samples.
_GIVEN_UP = frozenset({Reason.AGENT_LOST, Reason.UPLOAD_TIMEOUT, Reason.UPLOAD_REFUSED})


def is_reopened(reason: str | None) -> bool:
    """Whether a run that ended for this reason is judged anew when the rest of its samples has come."""
    return reason in _GIVEN_UP


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
    """heard_at: the last sign of life, a poll, an event or a chunk. stored_at: when its last chunk was stored.

    samples: how many it has announced. upload_orders: how often it was told to upload since its last chunk.
    """

    agent: str
    phase: HostPhase
    heard_at: datetime | None
    stored_at: datetime | None = None
    samples: int = 0
    upload_orders: int = 0


@dataclass(frozen=True, slots=True)
class RunView:
    """What decide needs to know. state_at: when the run came into its state. is_released: its link is free again.

    unstarted: agents that still wait for the start, too late to begin.
    watched_since: since when agents could be heard and somebody looked (domain/watch.py); earlier silence is not theirs.
    """

    state: RunState
    state_at: datetime
    hosts: tuple[HostView, ...]
    base_rtt_ms: float
    deadline_s: float
    watched_since: datetime
    start_at: datetime | None = None
    verdict: Verdict | None = None
    is_released: bool = False
    unstarted: frozenset[str] = frozenset()

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
        if run.state is RunState.LEASED:
            return Move(RunState.PREPARING)
        if all(host.heard_at and host.heard_at >= run.watched_since for host in run.hosts):
            return Start(now + start_margin(run.base_rtt_ms))  # each end holds a poll, and hears of it at once
    if run.state is RunState.LEASED and run.in_phase(*_ENGAGED):
        return Move(RunState.PREPARING)
    if _is_over(run, run.state_at, PREPARE_LIMIT_S, now):
        late = run.in_phase(HostPhase.ASSIGNED, HostPhase.PREPARING)
        return Condemn(_lost(late, "did not get ready", PREPARE_LIMIT_S))
    return None


def _decide_running(run: RunView, now: datetime) -> Step | None:
    unfinished = run.in_phase(*_ENGAGED)
    if run.verdict or not unfinished:
        return Move(RunState.RESTORING)
    if all(host.agent in run.unstarted for host in run.hosts):
        return Start(now + start_margin(run.base_rtt_ms))  # nobody got the first one: the server went away with it
    # Receivers are silent by design, and a sender may be cut off for a while: only the deadline tells.
    end = (run.start_at or run.state_at) + timedelta(seconds=run.deadline_s)
    if _is_over(run, end, FINISH_MARGIN_S, now):
        return Condemn(_lost(unfinished, "did not report the end of its transfer", run.deadline_s + FINISH_MARGIN_S))
    return None


def _decide_restoring(run: RunView, now: datetime) -> Step | None:
    unsettled = run.in_phase(*_UNSETTLED)
    if unsettled and _is_over(run, run.state_at, RESTORE_LIMIT_S, now):
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
    faults = {host.agent: why for host in run.hosts if (why := _upload_fault(host, run, now))}
    if faults:
        detail = " ".join(f"{agent} did not upload its samples: {why}." for agent, why in faults.items())
        return Condemn(run.verdict or Verdict(RunState.INCOMPLETE, Reason.UPLOAD_TIMEOUT, detail), tuple(faults))
    return None


def _upload_fault(host: HostView, run: RunView, now: datetime) -> str | None:
    """Why this host's upload is no longer waited for: it is silent, stands still, fails again and again, or takes too long."""
    if host.phase is not HostPhase.RESTORED:
        return None
    if _is_over(run, max(run.state_at, host.heard_at or run.state_at), UPLOAD_SILENCE_S, now):
        return f"not heard for {UPLOAD_SILENCE_S:g} s"
    if _is_over(run, max(run.state_at, host.stored_at or run.state_at), UPLOAD_STALL_S, now):
        return f"no chunk came for {UPLOAD_STALL_S:g} s"
    if host.upload_orders > MAX_UPLOAD_ORDERS:
        return f"told {MAX_UPLOAD_ORDERS} times, it sent no chunk"
    longest_s = upload_limit_s(host.samples)
    if _is_over(run, run.state_at, longest_s, now):
        return f"not done within {longest_s:g} s"
    return None


def upload_limit_s(samples: int) -> float:
    """How long an upload of so many samples may hold its link, at the slowest rate that is waited for."""
    return min(UPLOAD_MOST_S, UPLOAD_MARGIN_S + samples * SAMPLE_BYTES * 8 / SLOWEST_UPLOAD_BPS)


def _is_over(run: RunView, since: datetime, seconds: float, now: datetime) -> bool:
    """Whether more than the limit has gone by since then, all of it watched; after a break agents come back one by one."""
    counted_from = max(since, run.watched_since + timedelta(seconds=AGENT_PAUSE_S))
    return now > counted_from + timedelta(seconds=seconds + MARGIN_RTTS * run.base_rtt_ms / 1000)


def start_margin(base_rtt_ms: float) -> timedelta:
    """From the decision to start to the run's zero: every end must hold its `go` by then, over a path as slow as the link."""
    return timedelta(seconds=START_MARGIN_S + 4 * base_rtt_ms / 1000)


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
