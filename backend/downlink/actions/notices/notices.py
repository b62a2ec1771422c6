"""Notifications of events: the tick's part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from uuid import UUID

from downlink.domain.notices.notification import (
    Departure,
    Notice,
    RunEnd,
    Topic,
    Volume,
    Wishes,
    agent_changed,
    departed,
    ended,
    failing,
    volume_used,
)
from downlink.storage.heartbeats import find_watched_since
from downlink.storage.notices import channel_store, events, notification_facts, notification_store
from downlink.storage.notices.events import Cursor
from downlink.storage.notices.notification_facts import CampaignLink, Happened
from downlink.storage.tables import Channel
from downlink.storage.unit import Unit

MOST_AT_ONCE = 500
"""Ends of campaigns and runs that are looked at in one pass."""
FAR_BEHIND = 1_000
"""Transactions without an end, after which a channel's place in the log moves on all the same."""
RESEND = timedelta(seconds=30)
MOST_UNDER_WAY = 4
"""Notifications with workers at a time. Runs wait in the same queue: one slow receiver takes one worker process, however much is due."""


def collect(unit: Unit, now: datetime) -> None:
    """Make the notifications of what has happened since the last pass. Their rows and the place in the log are one transaction: none
    is lost or made twice."""
    working = channel_store.working_channels(unit)
    if not working:
        return
    horizon = events.horizon(unit)
    by_cursor: dict[Cursor, list[Channel]] = defaultdict(list)
    for channel in working:
        by_cursor[Cursor(channel.seen_xact, channel.seen_id)].append(channel)
    for cursor, here in by_cursor.items():
        facts = notification_facts.happened_after(unit, cursor, horizon, MOST_AT_ONCE)
        is_something = bool(facts.ends or facts.carried or facts.outside) or facts.until != horizon
        if is_something:
            _notify_of(unit, here, facts, now)
        if is_something or horizon.xact - cursor.xact > FAR_BEHIND:
            channel_store.note_seen(unit, [channel.id for channel in here], facts.until)


def _notify_of(unit: Unit, here: Sequence[Channel], facts: Happened, now: datetime) -> None:
    wishes = {channel.id: channel_store.wishes_of(channel) for channel in here}
    failures = _failures(unit, facts.ended, wishes)
    volumes = _volumes(unit, facts.carried, now) if _anybody(wishes, Topic.VOLUME) else []
    departures = notification_facts.departures(unit, facts.outside) if _anybody(wishes, Topic.UNEXPECTED) else []
    for channel_id, wish in wishes.items():
        of_campaigns = [ended(end) for end in facts.ends if wish.asks(Topic.CAMPAIGN_ENDED, end.owner_id)]
        of_runs = [
            notice
            for ends in failures
            if wish.asks(Topic.FAILURES, ends[0].owner_id)
            for notice in failing(ends, wish.failures_in_row)
        ]
        of_volumes = [volume_used(each, now) for each in volumes if wish.asks(Topic.VOLUME, each.owner_id)]
        _add(unit, channel_id, (*of_campaigns, *of_runs, *of_volumes), now)
        wanted = [each for each in departures if wish.asks(Topic.UNEXPECTED, each.owner_id)]
        _add_departures(unit, channel_id, wanted, now)


def _add_departures(unit: Unit, channel_id: UUID, departures: Iterable[Departure], now: datetime) -> None:
    """One for each row of runs outside: where every run of a campaign is, nobody wants a mail of each."""
    first: dict[str, Departure] = {}
    for each in departures:
        first.setdefault(each.series, each)
    if not first:
        return
    keys = {series: [each.key_of(run_id) for run_id in each.in_row] for series, each in first.items()}
    known = notification_store.known(unit, channel_id, list(chain.from_iterable(keys.values())))
    _add(unit, channel_id, [departed(each) for series, each in first.items() if known.isdisjoint(keys[series])], now)


def _anybody(wishes: Mapping[UUID, Wishes], topic: Topic) -> bool:
    return any(topic in wish.topics for wish in wishes.values())


def _failures(unit: Unit, places: Iterable[CampaignLink], wishes: Mapping[UUID, Wishes]) -> list[list[RunEnd]]:
    """Return the series of runs that failed without a later success, each as long as a channel asks for. A success is also a reason
    to look: it lets those be counted that failed behind it."""
    most = max((wish.failures_in_row for wish in wishes.values() if Topic.FAILURES in wish.topics), default=0)
    if not most:
        return []
    return [
        ends
        for queue in sorted(places, key=str)
        if (ends := notification_facts.failures_since_success(unit, queue, most))
    ]


def _volumes(unit: Unit, carried: Iterable[CampaignLink], now: datetime) -> list[Volume]:
    campaigns = notification_facts.campaign_volumes(unit, {queue.campaign_id for queue in carried})
    return [*campaigns, *notification_facts.link_volumes(unit, {queue.link for queue in carried}, now)]


def watch_agents(unit: Unit, now: datetime) -> None:
    """Make the notifications of agents that are gone or back, and of those that have used most of their month's volume."""
    _watch_months(unit, now)
    asking = {
        channel.id: wish
        for channel in channel_store.working_channels(unit)
        if Topic.AGENT_GONE in (wish := channel_store.wishes_of(channel)).topics
    }
    if not asking:
        return
    gone = notification_store.noted_gone(unit, asking)
    sights, since = notification_facts.agents_seen(unit, now), find_watched_since(unit, now)
    for channel_id, wish in asking.items():
        noted = gone.get(channel_id, set())
        changes = [agent_changed(each, each.id in noted, wish.gone_after_min, since, now) for each in sights]
        _add(unit, channel_id, changes, now)


def _watch_months(unit: Unit, now: datetime) -> None:
    asking = [
        each.id
        for each in channel_store.working_channels(unit)
        if channel_store.wishes_of(each).asks(Topic.VOLUME, None)
    ]
    volumes = notification_facts.agent_volumes(unit, now) if asking else []
    for channel_id in asking:
        _add(unit, channel_id, [volume_used(each, now) for each in volumes], now)


def _add(unit: Unit, channel_id: UUID, made: Iterable[Notice | None], now: datetime) -> None:
    notification_store.add(unit, channel_id, filter(None, made), now)


def next_due(unit: Unit, now: datetime) -> Sequence[UUID]:
    """Return some of the notifications that are due, and those whose job was lost."""
    return notification_store.take_due(unit, now, RESEND, MOST_UNDER_WAY)
