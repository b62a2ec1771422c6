"""A run's life: its states, what may follow what, why it ends, and what is tried again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Flag, StrEnum, auto
from types import MappingProxyType
from typing import Self

LATEST_START_S = 10.0  # an agent begins no run that is so late (agents/internal/agent/trial)
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
    """Return whether a run may change from one state to the other. is_late: it has ended, and its samples came afterwards."""
    return {before, after} <= _LATE if is_late else after in _NEXT[before]


class Trait(Flag):
    """Consequences of a reason for the run that ended by it."""

    NONE = 0
    LASTING = auto()
    """Another try on the same hosts would end the same way."""
    PASSING = auto()
    """Both sides know that it passes by itself: the next attempt waits for it, and it uses none up."""
    GIVEN_UP = auto()
    """The agents were given up on; they may come back with all of their samples."""
    SYMPTOM = auto()
    """One end sees a lost link, or cannot reach its peer; the other end may explain it."""
    CAUSE = auto()
    """A reason that explains the symptom at the other end."""
    UNREACHED = auto()
    """The receiver did not reach the sender's data port."""


class Reason(StrEnum):
    """Reasons for which a run ended (docs/agent-protocol.md section 7)."""

    traits: Trait

    def __new__(cls, code: str, traits: Trait = Trait.NONE) -> Self:
        member = str.__new__(cls, code)
        member._value_ = code
        member.traits = traits
        return member

    AGENT_LOST = "agent_lost", Trait.CAUSE | Trait.GIVEN_UP
    AGENT_RESTARTED = "agent_restarted", Trait.CAUSE
    CC_UNAVAILABLE = "cc_unavailable", Trait.CAUSE | Trait.LASTING
    SETTING_REFUSED = "setting_refused", Trait.LASTING
    SETTING_FAILED = "setting_failed"
    POLICY_REFUSED = "policy_refused", Trait.CAUSE | Trait.LASTING
    OVER_BUDGET = "over_budget", Trait.CAUSE | Trait.LASTING
    PORT_FAILED = "port_failed", Trait.UNREACHED
    CONNECT_FAILED = "connect_failed", Trait.SYMPTOM | Trait.UNREACHED
    LINK_LOST = "link_lost", Trait.SYMPTOM
    NO_SAMPLES = "no_samples"
    THIN_TRACE = "thin_trace"
    DISK_FULL = "disk_full", Trait.CAUSE
    CLOCK_UNSURE = "clock_unsure", Trait.CAUSE | Trait.PASSING
    DEADLINE = "deadline"
    NOT_RESTORED = "not_restored"
    LEASE_EXPIRED = "lease_expired"
    CANCELLED = "cancelled"
    HOST_BUSY = "host_busy", Trait.CAUSE | Trait.PASSING
    OUTSIDE_HOURS = "outside_hours"
    PRECISE_ENOUGH = "precise_enough"
    UPLOAD_TIMEOUT = "upload_timeout", Trait.GIVEN_UP
    RECORDED = "recorded"
    TEST_FAILED = "test_failed"
    UPLOAD_REFUSED = "upload_refused", Trait.GIVEN_UP
    SAMPLES_LOST = "samples_lost"
    LINK_CONTROL_FAILED = "link_control_failed"
    EMULATOR_LATE = "emulator_late"
    RELAY_UNREACHABLE = "relay_unreachable", Trait.CAUSE
    RELAY_REFUSED = "relay_refused", Trait.CAUSE
    CONTENT_WRONG = "content_wrong", Trait.CAUSE
    INTERNAL = "internal"


def has_trait(reason: str | None, trait: Trait) -> bool:
    """Return whether a run's reason has this trait; False without a reason, or with one that is not listed."""
    return any(each == reason and trait in each.traits for each in Reason)


def reasons_with(trait: Trait) -> list[Reason]:
    """Return the reasons that have this trait, in the order of the list."""
    return [reason for reason in Reason if trait in reason.traits]


def is_reopened(reason: str | None) -> bool:
    """Return whether a run that ended for this reason is judged again when the rest of its samples has come."""
    return has_trait(reason, Trait.GIVEN_UP)


class HostPhase(StrEnum):
    """Progress of a host in a run. DONE: restored, nothing to upload. LOST: given up."""

    ASSIGNED = "assigned"
    PREPARING = "preparing"
    READY = "ready"
    FINISHED = "finished"
    RESTORED = "restored"
    UPLOADED = "uploaded"
    DONE = "done"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a run: its state, a reason and a sentence."""

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
    """The view of a run from which `decide` works. state_at: when the run entered its state. is_released: its link is free again.

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
    ending: Ending | None = None
    is_released: bool = False
    unstarted: frozenset[str] = frozenset()

    def in_phase(self, *phases: HostPhase) -> list[str]:
        """Names of the agents in one of these phases."""
        return [host.agent for host in self.hosts if host.phase in phases]


MOST_PASSING = 10
"""Attempts at one place that ended so, at most; from there on they count as others do."""


def is_retried(state: RunState, reason: str | None, attempt: int, attempts: int, passing: int = 0) -> bool:
    """Return whether a run that ended so is tried again. passing: attempts until now, its own included, that ended by a PASSING
    reason."""
    is_lasting = has_trait(reason, Trait.LASTING)
    return state is RunState.FAILED and not is_lasting and attempt - min(passing, MOST_PASSING) < attempts


PATIENCE_S = 3000.0
"""Time that, with a minute's margin and later starts, stays below 3,600 s, which an agent's own policy allows
unless it says more."""


def transfer_deadline_s(
    seconds: float | None, size_bytes: int | None, last_start_s: float, base_rtt_ms: float, rate_bps: int
) -> float:
    """The hard limit of a transfer, from the run's zero.

    By bytes the time is unknown: a receive window of 64 KB per round trip is the slowest that is waited for, though no longer
    than PATIENCE_S unless the link itself, at a quarter of its rate, needs it: agents refuse what may last an hour.
    """
    margin = 30 + MARGIN_RTTS * base_rtt_ms / 1000
    if seconds is not None:
        return seconds + margin
    size_bits = (size_bytes or 0) * 8
    by_window_s = size_bits / (65_536 * 8 / (base_rtt_ms / 1000))
    by_link_s = size_bits / (rate_bps / 4)
    return last_start_s + max(by_link_s, min(by_window_s, PATIENCE_S)) + margin
