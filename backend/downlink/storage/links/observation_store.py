"""Quantities of links over time: stored once each, and read thinned or as the means over runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import delete, exists, func, select, text
from sqlalchemy.dialects.postgresql import insert

from downlink.domain.links import observation
from downlink.storage.tables import LinkQuantity, Observation
from downlink.storage.unit import Unit


class Bin(NamedTuple):
    """A stretch of time of one quantity. at: the mean of the moments in it."""

    link: str
    quantity: str
    source: str
    at: datetime
    low: float
    mean: float
    high: float


class RunMean(NamedTuple):
    run_id: UUID
    quantity: str
    source: str
    value: float


def list_quantities(unit: Unit, links: Collection[str]) -> Sequence[LinkQuantity]:
    query = select(LinkQuantity).where(LinkQuantity.link.in_(list(links)))
    return unit.session.scalars(query.order_by(LinkQuantity.link, LinkQuantity.quantity, LinkQuantity.source)).all()


def add_observations(unit: Unit, link: str, observations: Sequence[observation.Observation]) -> int:
    """Store what is new of it; how many that were. The units must be those that the quantities have."""
    spans: dict[tuple[str, str, str], tuple[datetime, datetime]] = {}
    for each in observations:
        key = (each.quantity, each.source, each.unit)
        first, last = spans.get(key, (each.at, each.at))
        spans[key] = (min(first, each.at), max(last, each.at))
    rows = [
        {"link": link, "quantity": quantity, "source": source, "unit": unit_, "first_at": first, "last_at": last}
        for (quantity, source, unit_), (first, last) in sorted(spans.items())
    ]
    query = insert(LinkQuantity)
    query = query.on_conflict_do_update(
        index_elements=["link", "quantity", "source"],
        set_={
            "first_at": func.least(LinkQuantity.first_at, query.excluded.first_at),
            "last_at": func.greatest(LinkQuantity.last_at, query.excluded.last_at),
        },
    )
    unit.session.execute(query, rows)
    return _insert(unit, link, observations)


_INSERT = text("""
    INSERT INTO observations (link, quantity, source, at, value)
    SELECT :link, quantity, source, at, value FROM unnest(
        CAST(:quantities AS text[]), CAST(:sources AS text[]), CAST(:moments AS timestamptz[]), CAST(:values AS float8[])
    ) AS said(quantity, source, at, value) ORDER BY quantity, source, at
    ON CONFLICT DO NOTHING RETURNING 1
""")
AT_ONCE = 10_000


def _insert(unit: Unit, link: str, observations: Sequence[observation.Observation]) -> int:
    stored = 0
    for start in range(0, len(observations), AT_ONCE):
        stored += len(unit.session.execute(_INSERT, _arrays(link, observations[start : start + AT_ONCE])).all())
    return stored


def _arrays(link: str, observations: Sequence[observation.Observation]) -> dict[str, object]:
    return {
        "link": link,
        "quantities": [each.quantity for each in observations],
        "sources": [each.source for each in observations],
        "moments": [each.at for each in observations],
        "values": [each.value for each in observations],
    }


_DIFFERING = text("""
    SELECT count(*) FROM unnest(
        CAST(:quantities AS text[]), CAST(:sources AS text[]), CAST(:moments AS timestamptz[]), CAST(:values AS float8[])
    ) AS said(quantity, source, at, value) JOIN observations AS known USING (quantity, source, at)
    WHERE known.link = :link AND known.value <> said.value
""")


def count_differing(unit: Unit, link: str, observations: Sequence[observation.Observation]) -> int:
    """Count the observations that are stored with another value: the stored ones stay."""
    parts = (observations[start : start + AT_ONCE] for start in range(0, len(observations), AT_ONCE))
    return sum(unit.session.execute(_DIFFERING, _arrays(link, part)).scalar_one() for part in parts)


_FORGET = text("""
    DELETE FROM observations AS old USING (
        SELECT seen.* FROM link_quantities AS known CROSS JOIN LATERAL (
            SELECT link, quantity, source, at FROM observations
            WHERE link = known.link AND quantity = known.quantity AND source = known.source AND at < :before
            ORDER BY at LIMIT :most
        ) AS seen
        WHERE known.first_at < :before LIMIT :most
    ) AS gone
    WHERE (old.link, old.quantity, old.source, old.at) = (gone.link, gone.quantity, gone.source, gone.at)
""")
_BEGIN_LATER = text("""
    UPDATE link_quantities AS known SET first_at = (
        SELECT min(at) FROM observations
        WHERE link = known.link AND quantity = known.quantity AND source = known.source
    ) WHERE first_at < :before AND last_at >= :before
""")


def forget(unit: Unit, before: datetime, most: int = 50_000) -> None:
    """Remove what was observed before then, so much at a time, and quantities of which nothing is left."""
    unit.session.execute(_FORGET, {"before": before, "most": most})
    unit.session.execute(_BEGIN_LATER, {"before": before})
    is_empty = ~exists().where(
        Observation.link == LinkQuantity.link,
        Observation.quantity == LinkQuantity.quantity,
        Observation.source == LinkQuantity.source,
    )
    unit.session.execute(delete(LinkQuantity).where(LinkQuantity.last_at < before, is_empty))


# A mean of values beyond the bound overflows. Some may be stored from before there was a bound.
_BINS = text("""
    SELECT link, quantity, source, to_timestamp(avg(extract(epoch FROM at))), min(value), avg(value), max(value)
    FROM observations
    WHERE link = ANY(CAST(:links AS text[])) AND (CAST(:quantity AS text) IS NULL OR quantity = :quantity)
    AND at >= :from_at AND at <= :to_at AND abs(value) <= :most_value
    GROUP BY link, quantity, source, floor(extract(epoch FROM at - :from_at) / :step_s)
    ORDER BY link, quantity, source, 4 LIMIT :most
""")


def bins(
    unit: Unit, links: Collection[str], from_at: datetime, to_at: datetime, count: int, quantity: str | None = None
) -> list[Bin]:
    """Return the observations of a span, in at most `count` bins of time for each quantity and source."""
    step_s = max((to_at - from_at).total_seconds() / count, 0.001)
    values = {"links": list(links), "quantity": quantity, "from_at": from_at, "to_at": to_at, "step_s": step_s}
    return [
        Bin(*row) for row in unit.session.execute(_BINS, {**values, "most": MOST_BINS, "most_value": observation.MOST})
    ]


MOST_BINS = 100_000
_RUN_MEANS = text("""
    WITH spans AS (
        SELECT id, link, start_at, least(ended_at, start_at + make_interval(secs => expected_s)) AS end_at FROM runs
        WHERE campaign_id = :campaign AND start_at IS NOT NULL AND state = 'complete'
            AND decision ->> 'keeps' IS DISTINCT FROM 'false' LIMIT :most
    )
    SELECT spans.id, known.quantity, known.source, coalesce(
        (SELECT avg(value) FROM observations AS seen WHERE seen.link = spans.link AND seen.quantity = known.quantity
            AND seen.source = known.source AND at BETWEEN start_at AND end_at AND abs(value) <= :most_value),
        (SELECT value FROM observations AS seen WHERE seen.link = spans.link AND seen.quantity = known.quantity
            AND seen.source = known.source AND at BETWEEN start_at - make_interval(secs => :near_s) AND start_at
            AND abs(value) <= :most_value ORDER BY at DESC LIMIT 1)
    ) FROM spans JOIN link_quantities AS known ON known.link = spans.link
""")


def run_means(unit: Unit, campaign_id: UUID, near_s: float, most: int) -> list[RunMean]:
    """Return for each complete run its link's quantities: the mean over the run, else the last value of so many seconds before."""
    values = {"campaign": campaign_id, "near_s": near_s, "most": most, "most_value": observation.MOST}
    return [RunMean(*row) for row in unit.session.execute(_RUN_MEANS, values) if row[3] is not None]


_LATEST = text("""
    SELECT at, value FROM observations
    WHERE link = :link AND quantity = :quantity AND at > :since AND at <= :until ORDER BY at
""")


def values_since(
    unit: Unit, link: str, quantity: str, since: datetime, until: datetime
) -> list[tuple[datetime, float]]:
    """Return the values of all sources, by time."""
    values: Mapping[str, object] = {"link": link, "quantity": quantity, "since": since, "until": until}
    return [(at, value) for at, value in unit.session.execute(_LATEST, values)]
