"""Notifications outside of the dashboard: facts become notices, each of them once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Any, Literal
from uuid import UUID

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.expectation import Check, sentence
from downlink.domain.runs.run import Reason, RunState

VOLUME_SHARE = 0.8
LONGEST_SILENCE = timedelta(days=7)
"""An agent that was silent for longer when somebody looked first is nobody's news."""
FAILED = frozenset({RunState.FAILED, RunState.MISSED})
NOT_COUNTED = Reason.OUTSIDE_HOURS
"""Reason of a missed run that is no failure."""
FAILURES_IN_ROW = 3
GONE_AFTER_MIN = 5
"""Defaults of a channel."""
MOST_CHANNELS = 20
"""Channels of one account at most."""


class Topic(StrEnum):
    """Topics that a channel may select."""

    CAMPAIGN_ENDED = "campaign_ended"
    FAILURES = "failures"
    AGENT_GONE = "agent_gone"
    VOLUME = "volume"
    UNEXPECTED = "unexpected"


TEST: Literal["test"] = "test"
ChannelKind = Literal["webhook", "chat", "email"]
"""chat: an incoming webhook of Slack, Mattermost, Rocket.Chat or a Matrix bridge, which all take `{"text": …}`."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The selection of one channel. owner_id: the account to whose campaigns and links it is limited, if is_own_only.

    failures_in_row: from how many on. gone_after_min: how long an agent must be silent.
    """

    topics: frozenset[Topic]
    failures_in_row: int = FAILURES_IN_ROW
    gone_after_min: int = GONE_AFTER_MIN
    is_own_only: bool = False
    owner_id: UUID | None = None

    def asks(self, topic: Topic, owner_id: UUID | None) -> bool:
        """Return whether the channel wants this topic of things of this owner. Things without an owner belong to nobody's selection."""
        return topic in self.topics and (not self.is_own_only or (owner_id is not None and owner_id == self.owner_id))


@dataclass(frozen=True, slots=True)
class Notice:
    """key: the same for the same fact, so that a channel has it once. path: its page. agent: whose coming and going it is about."""

    key: str
    topic: Topic | Literal["test"]
    type: str
    at: datetime
    title: str
    text: str
    path: str
    data: Mapping[str, Any] = field(default_factory=dict)
    agent: UUID | None = None


@dataclass(frozen=True, slots=True)
class CampaignEnd:
    """event: its number in the log; a campaign may end twice. runs: how many ended in which state."""

    event: int
    campaign_id: UUID
    campaign: str
    owner_id: UUID | None
    state: CampaignState
    at: datetime
    runs: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunEnd:
    run_id: UUID
    campaign_id: UUID
    campaign: str
    owner_id: UUID | None
    link: str
    state: RunState
    reason: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class AgentSight:
    """is_online: heard lately. is_present: that, or silent because it measures. let_go_at: when the run of which it spoke last ended."""

    id: UUID
    name: str
    last_seen_at: datetime
    is_online: bool
    is_present: bool
    let_go_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Volume:
    """The used part of a limit.

    month: until when, of a link's allowance or of what a host's owner allows, such as 2026-12-01; None for a campaign's limit.
    """

    kind: Literal["campaign", "link", "agent"]
    id: UUID
    name: str
    owner_id: UUID | None
    used_bytes: int
    limit_bytes: int
    month: str | None = None

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.id}:volume:{self.limit_bytes}:{self.month or ''}"


@dataclass(frozen=True, slots=True)
class Departure:
    """A run whose numbers lie outside one of its campaign's expectations (its place in the list, from 1).

    outside: those numbers, one at least. in_row: the runs around it, itself included, that lie outside with none inside between them.
    """

    run_id: UUID
    campaign_id: UUID
    campaign: str
    owner_id: UUID | None
    link: str
    condition: str
    cycle: int
    at: datetime
    expectation: int
    outside: Sequence[Check]
    in_row: Sequence[UUID]

    def key_of(self, run_id: UUID) -> str:
        """Return the key of a notice about one of the runs in its row. A channel that has a notice for any of them gets no second
        one."""
        return f"run:{run_id}:unexpected:{self.expectation}"

    @property
    def series(self) -> str:
        """The same for all of its row."""
        return self.key_of(self.in_row[0])


def ended(end: CampaignEnd) -> Notice:
    """A campaign is complete or cancelled."""
    counts = ", ".join(f"{number} {state}" for state, number in sorted(end.runs.items()))
    return Notice(
        f"campaign:{end.campaign_id}:{end.state}:{end.event}",
        Topic.CAMPAIGN_ENDED,
        f"campaign.{end.state}",
        end.at,
        f"{end.campaign} is {end.state}",
        f"The campaign {end.campaign} is {end.state}. Runs: {counts or 'none'}.",
        f"/campaigns/{end.campaign_id}",
        {"campaign_id": str(end.campaign_id), "campaign": end.campaign, "state": end.state, "runs": dict(end.runs)},
    )


def failing(ends: Iterable[RunEnd], least: int) -> list[Notice]:
    """One for each series of so many failed or missed runs without a successful one between. ends: of one campaign on one link, in
    their order; what was cancelled, or missed since the hours were over, counts for nothing."""
    counted = [end for end in ends if end.state is not RunState.CANCELLED and end.reason != NOT_COUNTED]
    series = [list(group) for is_failed, group in groupby(counted, lambda end: end.state in FAILED) if is_failed]
    return [_failing(each, least) for each in series if len(each) >= least]


def _failing(series: Sequence[RunEnd], least: int) -> Notice:
    """Return the notice of a series of failures, as it was when the last of `least` ended; it does not depend on when one looks."""
    first, last = series[0], series[least - 1]
    reasons = sorted({end.reason or end.state for end in series[:least]})
    runs, were = ("a run", "was") if least == 1 else (f"{least} runs in a row", "were")
    text = f"{runs} of {last.campaign} on {last.link} failed or {were} missed, since {_moment(first.at)}: {', '.join(reasons)}."
    return Notice(
        f"run:{first.run_id}:failing",
        Topic.FAILURES,
        "runs.failing",
        last.at,
        f"{last.campaign}: {runs} failed on {last.link}",
        text[0].upper() + text[1:],
        f"/runs/{last.run_id}",
        {
            "campaign_id": str(last.campaign_id), "campaign": last.campaign, "link": last.link, "runs": least,
            "run_id": str(last.run_id), "reasons": reasons,
        },
    )  # fmt: skip


def departed(departure: Departure) -> Notice:
    """A run's numbers lie outside of what its campaign expects."""
    here = f"{departure.condition}, cycle {departure.cycle}, of {departure.campaign} on {departure.link}"
    return Notice(
        departure.key_of(departure.run_id),
        Topic.UNEXPECTED,
        "run.unexpected",
        departure.at,
        f"{departure.campaign}: {departure.condition} on {departure.link} is outside its expected range",
        f"{here}: {sentence(departure.outside)}",
        f"/runs/{departure.run_id}",
        {
            "campaign_id": str(departure.campaign_id), "campaign": departure.campaign, "link": departure.link,
            "condition": departure.condition, "cycle": departure.cycle, "run_id": str(departure.run_id),
            "expectation": departure.expectation, "outside": [each.to_dict() for each in departure.outside],
        },
    )  # fmt: skip


def agent_changed(
    sight: AgentSight, is_noted_gone: bool, after_min: int, watched_since: datetime, now: datetime
) -> Notice | None:
    """Return a notice that an agent is gone, or is back after such a notice. watched_since: earlier silence is the server's own."""
    if is_noted_gone:
        return _back(sight, now) if sight.is_online else None
    silent_since = max(sight.last_seen_at, watched_since, sight.let_go_at or watched_since)
    is_gone = not sight.is_present and now - silent_since >= timedelta(minutes=after_min)
    if not is_gone or now - sight.last_seen_at > LONGEST_SILENCE:
        return None
    return Notice(
        f"agent:{sight.id}:gone:{sight.last_seen_at.isoformat()}",
        Topic.AGENT_GONE,
        "agent.gone",
        now,
        f"Agent {sight.name} is gone",
        f"Nothing was heard of the agent {sight.name} since {_moment(sight.last_seen_at)}. Runs on its links wait or are missed.",
        "/agents",
        {"agent": sight.name, "last_seen_at": sight.last_seen_at.isoformat()},
        sight.id,
    )


def _back(sight: AgentSight, now: datetime) -> Notice:
    return Notice(
        f"agent:{sight.id}:back:{now.isoformat()}",
        Topic.AGENT_GONE,
        "agent.back",
        now,
        f"Agent {sight.name} is back",
        f"The agent {sight.name} is heard again.",
        "/agents",
        {"agent": sight.name},
        sight.id,
    )


def volume_used(volume: Volume, now: datetime) -> Notice | None:
    """Return a notice that VOLUME_SHARE of a limit is used; None before that."""
    if volume.used_bytes < VOLUME_SHARE * volume.limit_bytes:
        return None
    percent = 100 * volume.used_bytes // volume.limit_bytes
    used = f"{volume.used_bytes / 1e6:,.0f} of {volume.limit_bytes / 1e6:,.0f} MB"
    allowed = {"campaign": "its limit", "link": "its allowance", "agent": "what its owner allows a month"}[volume.kind]
    of = f"{allowed} until {volume.month}" if volume.month else allowed
    return Notice(
        volume.key,
        Topic.VOLUME,
        f"{volume.kind}.volume",
        now,
        f"{volume.name} has used {percent} % of {allowed}",
        f"The {volume.kind} {volume.name} has carried {used} of {of}.",
        {"campaign": f"/campaigns/{volume.id}", "link": "/calendar", "agent": "/agents"}[volume.kind],
        {
            f"{volume.kind}_id": str(volume.id), volume.kind: volume.name,
            "used_bytes": volume.used_bytes, "limit_bytes": volume.limit_bytes,
        },
    )  # fmt: skip


def notice_of_test(channel: str, key: str, now: datetime) -> Notice:
    """Return the notice that the test button sends."""
    text = f"This is a test of the channel {channel}. Notifications of this server arrive here."
    return Notice(f"test:{key}", TEST, "test", now, "Test of notifications", text, "/notifications")


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
