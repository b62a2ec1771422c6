"""Links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, select

from downlink.domain.campaigns.campaign import Campaign as DomainCampaign
from downlink.domain.campaigns.campaign_state import UNDER_WAY
from downlink.domain.links.allowance import Allowance, month_of
from downlink.domain.links.link import Link as DomainLink
from downlink.domain.links.link import Orbit
from downlink.domain.links.weather_source import Position, position_of
from downlink.domain.runs.turn import LINK
from downlink.storage.campaigns.campaign_store import campaign_of
from downlink.storage.one_of import is_one_of
from downlink.storage.results.day_store import CLOCK
from downlink.storage.runs.volumes import carried_bytes
from downlink.storage.tables import Campaign, Lease, Link, Run, RunFlow
from downlink.storage.unit import Unit


def list_links(unit: Unit, limit: int, offset: int) -> tuple[Sequence[Link], int]:
    total = unit.session.scalar(select(func.count()).select_from(Link)) or 0
    return unit.session.scalars(select(Link).order_by(Link.name).limit(limit).offset(offset)).all(), total


def find_link(unit: Unit, link_id: UUID) -> Link | None:
    return unit.session.scalar(select(Link).where(Link.id == link_id).with_for_update())


def name_of(unit: Unit, link_id: UUID) -> str | None:
    return unit.session.scalar(select(Link.name).where(Link.id == link_id))


def has_name(unit: Unit, name: str) -> bool:
    return unit.session.scalar(select(Link.id).where(Link.name == name)) is not None


def add_link(unit: Unit, link: Link) -> None:
    unit.session.add(link)
    unit.session.flush()


def delete_link(unit: Unit, link_id: UUID) -> None:
    unit.session.execute(delete(Link).where(Link.id == link_id))


def runs_on_links(unit: Unit) -> dict[str, UUID]:
    """Link name to the run that holds it."""
    query = select(Lease.resource, Lease.run_id).where(Lease.resource.startswith(LINK))
    return {resource.removeprefix(LINK): run_id for resource, run_id in unit.session.execute(query)}


def uses(unit: Unit, name: str) -> list[DomainCampaign]:
    """The campaigns under way that name this link."""
    under_way = select(Campaign).where(Campaign.state.in_(sorted(UNDER_WAY)))
    return [spec for spec in map(campaign_of, unit.session.scalars(under_way)) if name in spec.links]


def domain_links(unit: Unit, names: Iterable[str] | None = None) -> dict[str, DomainLink]:
    """Links by name (all when None), as the planner takes them."""
    query = select(Link) if names is None else select(Link).where(is_one_of(Link.name, names))
    return {row.name: to_domain(row) for row in unit.session.scalars(query)}


def zones(unit: Unit, names: Collection[str]) -> dict[str, str]:
    """Link name to time zone, of those links that say theirs."""
    query = select(Link.name, Link.time_zone).where(is_one_of(Link.name, names), Link.time_zone.is_not(None))
    return {name: zone for name, zone in unit.session.execute(query) if zone is not None}


def places(unit: Unit) -> dict[Position, list[str]]:
    """The names of the links at each place, of those that say theirs."""
    links_at: dict[Position, list[str]] = {}
    query = select(Link.latitude, Link.longitude, Link.name).where(Link.latitude.is_not(None))
    for latitude, longitude, name in unit.session.execute(query.order_by(Link.name)):
        if latitude is not None and longitude is not None:
            links_at.setdefault(position_of(latitude, longitude), []).append(name)
    return links_at


def allowances(unit: Unit, names: Collection[str], now: datetime) -> dict[str, Allowance]:
    """Return the allowances of the links that have one: what all runs of any campaign have carried in this month of the link."""
    rows = unit.session.scalars(select(Link).where(is_one_of(Link.name, names), Link.allowance_bytes.is_not(None)))
    return {row.name: _allowance(unit, row, now) for row in rows}


def _allowance(unit: Unit, row: Link, now: datetime) -> Allowance:
    month = month_of(now, row.reset_day, row.time_zone)
    query = select(carried_bytes()).join(Run, Run.id == RunFlow.run_id)
    used = unit.session.scalar(query.where(Run.link == row.name, month.from_at <= CLOCK, month.to_at > CLOCK))
    return Allowance(row.allowance_bytes or 0, int(used or 0), month.to_at)


def to_domain(row: Link) -> DomainLink:
    return DomainLink(
        name=row.name,
        orbit=Orbit(row.orbit),
        operator=row.operator,
        nominal_rate_bps=row.nominal_rate_bps,
        base_rtt_ms=row.base_rtt_ms,
        receiver=row.receiver,
        senders=tuple(row.senders),
        allowance_bytes=row.allowance_bytes,
        is_emulated=row.is_emulated,
        profile=row.profile,
        time_zone=row.time_zone,
        reset_day=row.reset_day,
        relays=tuple(row.relays or ()),
        latitude=row.latitude,
        longitude=row.longitude,
        further_receivers=tuple(row.further_receivers or ()),
    )


class Gives(NamedTuple):
    """The limits of a link beside its nominal rate. rate_tolerance: how far it may exceed that rate, as a ratio."""

    orbit: str
    rate_tolerance: float


def what_they_give(unit: Unit, names: Iterable[str]) -> dict[str, Gives]:
    """Return the limits of those of these links that are registered."""
    columns = (Link.name, Link.orbit, Link.rate_tolerance_percent)
    rows = unit.session.execute(select(*columns).where(Link.name.in_(list(names))))
    return {name: Gives(orbit, percent / 100) for name, orbit, percent in rows}
