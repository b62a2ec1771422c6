"""Leases: which run holds which link, agent and host. The exclusion constraint on the table is the guard; this only asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from psycopg.errors import ExclusionViolation
from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.exc import IntegrityError

from downlink.storage.tables import Lease
from downlink.storage.unit import Unit, lock

LOCK = "lease"


@dataclass(frozen=True, slots=True)
class Claim:
    """resource: `link:…`, `agent:…` or `host:…`."""

    resource: str
    is_exclusive: bool


def take(unit: Unit, run_id: UUID, claims: Iterable[Claim]) -> bool:
    """Take all of the claims or none; False when another run holds one of them."""
    # Two inserts that exclude each other would wait for each other: claims are made one at a time.
    lock(unit, LOCK)
    try:
        with unit.session.begin_nested():
            for claim in claims:
                unit.session.add(Lease(run_id=run_id, resource=claim.resource, slots=_slots(unit, claim)))
                unit.session.flush()
    except IntegrityError as error:
        if isinstance(error.orig, ExclusionViolation):
            return False
        raise
    return True


def release(unit: Unit, run_id: UUID) -> None:
    unit.session.execute(delete(Lease).where(Lease.run_id == run_id))


def is_held(unit: Unit, resource: str) -> bool:
    return unit.session.scalar(select(Lease.run_id).where(Lease.resource == resource).limit(1)) is not None


def held_resources(unit: Unit) -> set[str]:
    """Everything that some run holds, shared or not."""
    return set(unit.session.scalars(select(Lease.resource)))


def _slots(unit: Unit, claim: Claim) -> Range[int]:
    if claim.is_exclusive:
        return Range(0, None)
    slot = unit.session.execute(text("SELECT nextval('lease_slots')")).scalar_one()
    return Range(slot, slot + 1)
