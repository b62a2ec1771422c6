"""The next step of a run under way.

`decide` looks at a run, its hosts and the time, and says the next step; `decide_order` (domain/agent.py) says what an agent
should do. Both are asked again and again, so that a lost answer or a restarted process needs no case of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from downlink.domain.runs.run import MARGIN_RTTS, Ending, HostPhase, HostView, Reason, RunState, RunView

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
AGENT_PAUSE_S = 30.0  # the longest between two tries of an agent (agents/internal/server/uplink)
START_MARGIN_S = 1.5
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_ENGAGED = frozenset({HostPhase.PREPARING, HostPhase.READY})
_UNSETTLED = _ENGAGED | {HostPhase.ASSIGNED, HostPhase.FINISHED}


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

    ending: Ending
    given_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """Nothing more is on its way: free link and hosts, seal the traces."""


@dataclass(frozen=True, slots=True)
class Finish:
    """End now, without data."""

    ending: Ending


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before something is heard, or this moment has gone by; None where no time would change anything."""

    until: datetime | None


Step = Move | Start | Condemn | Release | Finish


def decide(run: RunView, now: datetime) -> Step | Wait:
    """The next step of an active run; apply it and ask again. After Wait(until), ask again then, or when something was heard."""
    match run.state:
        case RunState.LEASED | RunState.PREPARING:
            return _decide_preparing(run, now)
        case RunState.RUNNING:
            return _decide_running(run, now)
        case RunState.RESTORING:
            return _decide_restoring(run, now)
        case RunState.UPLOADING:
            return _decide_uploading(run, now)
    return Wait(None)


def _decide_preparing(run: RunView, now: datetime) -> Step | Wait:
    if run.ending:
        return Move(RunState.RESTORING)
    if not run.in_phase(*(frozenset(HostPhase) - {HostPhase.READY})):
        if run.state is RunState.LEASED:
            return Move(RunState.PREPARING)
        if all(host.heard_at and host.heard_at >= run.watched_since for host in run.hosts):
            return Start(now + start_margin(run.base_rtt_ms))  # each end holds a poll, and hears of it at once
    if run.state is RunState.LEASED and run.in_phase(*_ENGAGED):
        return Move(RunState.PREPARING)
    limit = _limit(run, run.state_at, PREPARE_LIMIT_S)
    if now > limit:
        late = run.in_phase(HostPhase.ASSIGNED, HostPhase.PREPARING)
        return Condemn(_lost(late, "did not get ready", PREPARE_LIMIT_S))
    return Wait(limit)


def _decide_running(run: RunView, now: datetime) -> Step | Wait:
    unfinished = run.in_phase(*_ENGAGED)
    if run.ending or not unfinished:
        return Move(RunState.RESTORING)
    if all(host.agent in run.unstarted for host in run.hosts):
        return Start(now + start_margin(run.base_rtt_ms))  # nobody got the first one: the server went away with it
    # Receivers are silent by design, and a sender may be cut off for a while: only the deadline tells.
    end = (run.start_at or run.state_at) + timedelta(seconds=run.deadline_s)
    limit = _limit(run, end, FINISH_MARGIN_S)
    if now > limit:
        return Condemn(_lost(unfinished, "did not report the end of its transfer", run.deadline_s + FINISH_MARGIN_S))
    return Wait(limit)


def _decide_restoring(run: RunView, now: datetime) -> Step | Wait:
    unsettled, limit = run.in_phase(*_UNSETTLED), _limit(run, run.state_at, RESTORE_LIMIT_S)
    if unsettled and now > limit:
        return Condemn(
            run.ending or _lost(unsettled, "did not report that its host is restored", RESTORE_LIMIT_S),
            tuple(unsettled),
        )
    if unsettled:
        return Wait(limit)
    if run.ending and (run.ending.state is RunState.CANCELLED or not run.in_phase(HostPhase.RESTORED)):
        return Finish(run.ending)
    return Move(RunState.UPLOADING)


def _decide_uploading(run: RunView, now: datetime) -> Step | Wait:
    if run.is_released:
        return Wait(None)
    if run.ending and run.ending.state is RunState.CANCELLED:
        return Finish(run.ending)
    if not run.in_phase(HostPhase.RESTORED):
        return Release()
    limits = {host.agent: _upload_limits(host, run) for host in run.hosts if host.phase is HostPhase.RESTORED}
    faults = {agent: next((why for at, why in of_agent if now > at), None) for agent, of_agent in limits.items()}
    lost = {agent: why for agent, why in faults.items() if why}
    if lost:
        detail = " ".join(f"{agent} did not upload its samples: {why}." for agent, why in lost.items())
        return Condemn(run.ending or Ending(RunState.INCOMPLETE, Reason.UPLOAD_TIMEOUT, detail), tuple(lost))
    return Wait(min(at for of_agent in limits.values() for at, _ in of_agent))


def _upload_limits(host: HostView, run: RunView) -> list[tuple[datetime, str]]:
    """Return when this host's upload is given up, and why: it is silent, stands still, fails again and again, or takes too long."""
    silent = _limit(run, max(run.state_at, host.heard_at or run.state_at), UPLOAD_SILENCE_S)
    stalled = _limit(run, max(run.state_at, host.stored_at or run.state_at), UPLOAD_STALL_S)
    is_hopeless = host.upload_orders > MAX_UPLOAD_ORDERS
    longest_s = upload_limit_s(host.samples)
    return [
        (silent, f"not heard for {UPLOAD_SILENCE_S:g} s"),
        (stalled, f"no chunk came for {UPLOAD_STALL_S:g} s"),
        *([(_LONG_AGO, f"no chunk came after {MAX_UPLOAD_ORDERS} orders to upload")] if is_hopeless else []),
        (_limit(run, run.state_at, longest_s), f"not done within {longest_s:g} s"),
    ]


def upload_limit_s(samples: int) -> float:
    """Return for how many seconds an upload of so many samples may hold its link, at the slowest rate that is accepted."""
    return min(UPLOAD_MOST_S, UPLOAD_MARGIN_S + samples * SAMPLE_BYTES * 8 / SLOWEST_UPLOAD_BPS)


def _limit(run: RunView, since: datetime, seconds: float) -> datetime:
    """Return when the limit has passed since then, all of it watched; after a break agents come back one by one."""
    counted_from = max(since, run.watched_since + timedelta(seconds=AGENT_PAUSE_S))
    return counted_from + timedelta(seconds=seconds + MARGIN_RTTS * run.base_rtt_ms / 1000)


def start_margin(base_rtt_ms: float) -> timedelta:
    """Return the time from the decision to start to the run's zero: by then every end must hold its `go`, over a path as slow as the
    link."""
    return timedelta(seconds=START_MARGIN_S + 4 * base_rtt_ms / 1000)


def _lost(agents: list[str], what: str, seconds: float) -> Ending:
    return Ending(RunState.FAILED, Reason.AGENT_LOST, f"{_names(agents)} {what} within {seconds:g} s.")


def _names(agents: list[str]) -> str:
    return " and ".join(agents) or "no agent"
