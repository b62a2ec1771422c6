"""Links are made, changed and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.domain.errors import ConflictError, InvalidError, NotFoundError
from downlink.domain.runs.turn import LINK
from downlink.domain.zone import check_zone
from downlink.storage.fleet.agent_store import agents_by_name
from downlink.storage.links import link_store
from downlink.storage.runs import leases
from downlink.storage.tables import Link
from downlink.storage.unit import Unit, lock

NULLABLE = ("allowance_bytes", "profile", "time_zone", "latitude", "longitude")


def create_link(unit: Unit, values: Mapping[str, Any], now: datetime, *, owner_id: UUID | None = None) -> Link:
    """InvalidError for a link no run could use, ConflictError for a name in use."""
    link = Link(created_at=now, owner_id=owner_id, **values)
    _check(unit, link, is_renamed=True)
    link_store.add_link(unit, link)
    return link


def change_link(unit: Unit, link_id: UUID, values: Mapping[str, Any]) -> Link:
    """Change the given values; not while a run holds the link.

    Nor its name while a campaign under way counts on it, nor its time zone while one has opening hours there. ConflictError.
    """
    link = get_link(unit, link_id)
    is_renamed = values.get("name", link.name) != link.name
    if is_renamed:
        _refuse_when_used(unit, link)
    if values.get("time_zone", link.time_zone) != link.time_zone:
        _refuse_when_open(unit, link)
    if leases.is_held(unit, LINK + link.name):
        raise ConflictError("link_busy", f"A run holds {link.name}; wait for its end or cancel it.")
    for key, value in values.items():
        if value is None and key not in NULLABLE:
            raise InvalidError("link_invalid", f"{key} cannot be null.")
        setattr(link, key, value)
    with unit.session.no_autoflush:
        _check(unit, link, is_renamed=is_renamed)
    unit.session.flush()
    return link


def delete_link(unit: Unit, link_id: UUID) -> None:
    link = get_link(unit, link_id)
    _refuse_when_used(unit, link)
    link_store.delete_link(unit, link_id)


def get_link(unit: Unit, link_id: UUID) -> Link:
    """Locked. NotFoundError when there is none."""
    link = link_store.find_link(unit, link_id)
    if link is None:
        raise NotFoundError("link_not_found", f"There is no link {link_id}.")
    return link


def _refuse_when_used(unit: Unit, link: Link) -> None:
    if link_store.uses(unit, link.name):
        raise ConflictError("link_in_use", f"A campaign under way uses {link.name}; wait for its end or cancel it.")


def _refuse_when_open(unit: Unit, link: Link) -> None:
    if any(spec.timetable.hours for spec in link_store.uses(unit, link.name)):
        message = f"A campaign under way has opening hours by the clock of {link.name}; wait for its end or cancel it."
        raise ConflictError("link_in_use", message)


def _check(unit: Unit, link: Link, *, is_renamed: bool) -> None:
    lock(unit, "link names")
    domain_link = link_store.to_domain(link)
    if link.time_zone is not None:
        check_zone(link.time_zone)
    if is_renamed and link_store.has_name(unit, link.name):
        raise ConflictError("link_name_taken", f"A link {link.name} already exists.")
    known = agents_by_name(unit, domain_link.agents)
    unknown = [name for name in domain_link.agents if name not in known]
    if unknown:
        raise NotFoundError(
            "agent_not_found", f"No agent is called {' or '.join(unknown)}; let it join first.", {"agents": unknown}
        )
