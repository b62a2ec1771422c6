"""Owners of campaigns, runs and links: the account that made one, None where it is gone or never was."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Select, select

from downlink.domain.errors import NotFoundError
from downlink.storage.tables import Campaign, Channel, Link, Run
from downlink.storage.unit import Unit


def of_campaign(unit: Unit, campaign_id: UUID) -> UUID | None:
    """NotFoundError when there is none; so do the others."""
    query = select(Campaign.owner_id).where(Campaign.id == campaign_id)
    return _owner(unit, query, "campaign", campaign_id)


def of_run(unit: Unit, run_id: UUID) -> UUID | None:
    query = select(Campaign.owner_id).join(Run, Run.campaign_id == Campaign.id).where(Run.id == run_id)
    return _owner(unit, query, "run", run_id)


def of_link(unit: Unit, link_id: UUID) -> UUID | None:
    return _owner(unit, select(Link.owner_id).where(Link.id == link_id), "link", link_id)


def of_channel(unit: Unit, channel_id: UUID) -> UUID | None:
    return _owner(unit, select(Channel.owner_id).where(Channel.id == channel_id), "channel", channel_id)


def _owner(unit: Unit, query: Select[UUID | None], kind: str, thing: UUID) -> UUID | None:
    row = unit.session.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"{kind}_not_found", f"There is no {kind} {thing}.")
    owner: UUID | None = row[0]
    return owner
