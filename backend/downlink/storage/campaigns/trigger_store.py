"""Triggers: which wait, what they have fired, and what is observed of their links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.trigger import DAY, Fired, QuantityHolds, Seen, looks_back_s
from downlink.storage.tables import Campaign, Firing, Trigger
from downlink.storage.unit import Unit


def waiting_ids(unit: Unit) -> list[UUID]:
    """Running campaigns with a trigger."""
    query = select(Trigger.campaign_id).join(Campaign, Campaign.id == Trigger.campaign_id)
    running = (Campaign.state == CampaignState.RUNNING, Campaign.origin == "measured")
    return list(unit.session.scalars(query.where(*running).order_by(Trigger.campaign_id)))


def fired_before(unit: Unit, campaign_id: UUID, now: datetime) -> Fired:
    of_day = Firing.at > now - DAY
    query = select(
        func.count(),
        func.count().filter(of_day),
        func.max(Firing.at),
        func.min(Firing.at).filter(of_day),
    )
    return Fired(*unit.session.execute(query.where(Firing.campaign_id == campaign_id)).one())


def last_firings(unit: Unit, campaign_id: UUID, count: int) -> Sequence[Firing]:
    query = select(Firing).where(Firing.campaign_id == campaign_id).order_by(Firing.number.desc())
    return unit.session.scalars(query.limit(count)).all()


def add_firing(
    unit: Unit,
    campaign_id: UUID,
    number: int,
    at: datetime,
    cause: Mapping[str, Any],
    first_cycle: int,
    runs: int,
) -> None:
    """A set of so many runs."""
    firing = Firing(
        campaign_id=campaign_id, number=number, at=at, cause=dict(cause), first_cycle=first_cycle, runs=runs
    )
    unit.session.add(firing)


# The key has the source before the moment. PostgreSQL before 18 reads all that lies between, unless each source is named; and it
# would join the tables in another order, were the inner query not ordered.
_SEEN = text("""
    SELECT seen.at, seen.value, known.source FROM link_quantities AS known CROSS JOIN LATERAL (
        SELECT at, value FROM observations
        WHERE link = known.link AND quantity = known.quantity AND source = known.source AND at > :since AND at <= :until
        ORDER BY at
    ) AS seen
    WHERE known.link = :link AND known.quantity = :quantity ORDER BY seen.at, known.source
""")


_SPACED = text("""
    SELECT known.source, seen.at FROM link_quantities AS known CROSS JOIN LATERAL (
        SELECT at FROM observations
        WHERE link = known.link AND quantity = known.quantity AND source = known.source
        ORDER BY at DESC LIMIT :most
    ) AS seen
    WHERE known.link = :link AND known.quantity = :quantity ORDER BY known.source, seen.at
""")
SPACED_BY = 10
"""Values of a source that say how often it says something."""


def spaces_s(unit: Unit, link: str, quantity: str) -> dict[str, float | None]:
    """Return for each source of the quantity the median time between its last values, in seconds; None for a single value."""
    times: dict[str, list[datetime]] = defaultdict(list)
    for source, at in unit.session.execute(_SPACED, {"link": link, "quantity": quantity, "most": SPACED_BY}):
        times[source].append(at)
    return {
        source: median((later - at).total_seconds() for at, later in pairwise(moments)) if len(moments) > 1 else None
        for source, moments in times.items()
    }


def seen_lately(unit: Unit, when: QuantityHolds, now: datetime) -> list[Seen]:
    """Return the observations of its quantity as far back as they matter, by time."""
    since = now - timedelta(seconds=looks_back_s(when))
    values = {"link": when.link, "quantity": when.quantity, "since": since, "until": now}
    return [Seen(*row) for row in unit.session.execute(_SEEN, values)]
