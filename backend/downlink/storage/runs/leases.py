"""Leases: which run holds which link, agent and host. The exclusion constraint on the table is the guard; this only asks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from psycopg.errors import ExclusionViolation
from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.exc import IntegrityError

from downlink.domain.runs.turn import AGENT, LINK, Claim
from downlink.domain.runs.waiting import Holder
from downlink.storage.tables import Lease
from downlink.storage.unit import Unit, lock

LOCK = "lease"
_DRAW = text("SELECT nextval('lease_slots') FROM generate_series(1, :shared)")


def take(unit: Unit, claims: Mapping[UUID, Sequence[Claim]]) -> bool:
    """Take the claims of all of these runs or none; False when another run holds one of them."""
    # Two inserts that exclude each other would wait for each other: claims are made one transaction at a time.
    lock(unit, LOCK)
    shared = sum(not claim.is_exclusive for wanted in claims.values() for claim in wanted)
    slots = iter(unit.session.scalars(_DRAW, {"shared": shared}).all() if shared else ())
    rows = [
        {
            "run_id": run_id,
            "resource": claim.resource,
            "slots": Range(0, None) if claim.is_exclusive else _slot(next(slots)),
        }
        for run_id, wanted in claims.items()
        for claim in wanted
    ]
    try:
        with unit.session.begin_nested():
            unit.session.execute(insert(Lease), rows)
    except IntegrityError as error:
        if isinstance(error.orig, ExclusionViolation):
            return False
        raise
    return True


def _slot(number: int) -> Range[int]:
    return Range(number, number + 1)


def release(unit: Unit, run_id: UUID) -> bool:
    """Give back what the run holds; whether it held anything."""
    return bool(unit.session.scalars(delete(Lease).where(Lease.run_id == run_id).returning(Lease.resource)).all())


_HOLDERS = text("""
    SELECT resource, campaigns.name, runs.link, upper_inf(slots) FROM leases
    JOIN runs ON runs.id = leases.run_id JOIN campaigns ON campaigns.id = runs.campaign_id WHERE resource = ANY(:resources)
    ORDER BY campaigns.name, runs.link
""")


def find_holders(unit: Unit, resources: Collection[str]) -> dict[str, list[Holder]]:
    """Return the holders of these resources, by resource."""
    holders: dict[str, list[Holder]] = {}
    for resource, campaign, link, is_alone in unit.session.execute(_HOLDERS, {"resources": list(resources)}):
        holders.setdefault(resource, []).append(Holder(campaign, link, is_alone))
    return holders


def is_held(unit: Unit, resource: str) -> bool:
    return unit.session.scalar(select(Lease.run_id).where(Lease.resource == resource).limit(1)) is not None


_IN_USE = text("""
    SELECT EXISTS (
        SELECT FROM leases WHERE resource = :link OR resource IN (
            SELECT :agent_kind || mate.name FROM agents JOIN agents AS mate ON mate.boot_id = agents.boot_id WHERE agents.name = :agent
        ) OR resource IN (
            SELECT :link_kind || name FROM links
            WHERE receiver = :agent OR :agent = ANY(further_receivers) OR :agent = ANY(relays)
        )
    )
""")


def is_in_use(unit: Unit, link: str | None, agent: str) -> bool:
    """Return whether a run holds the link itself, a link behind which this agent is, or an agent on its host.

    Behind a link are its receivers and relays: what they upload goes over it. Senders are on the Internet.
    """
    values = {"link": link and LINK + link, "link_kind": LINK, "agent_kind": AGENT, "agent": agent}
    return bool(unit.session.scalar(_IN_USE, values))


def holding_runs(unit: Unit) -> set[UUID]:
    """The runs that hold anything."""
    return set(unit.session.scalars(select(Lease.run_id).distinct()))


def held_resources(unit: Unit) -> dict[str, bool]:
    """Everything that some run holds, and whether it holds it for itself alone."""
    is_alone = func.upper_inf(Lease.slots)
    return {row[0]: row[1] for row in unit.session.execute(select(Lease.resource, is_alone))}
