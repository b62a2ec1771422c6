"""Bytes that runs have carried."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import ColumnElement, func, select

from downlink.storage.tables import Run, RunFlow
from downlink.storage.unit import Unit


def carried_bytes() -> ColumnElement[int]:
    """Return the sum of the carried bytes of flows."""
    return func.coalesce(func.sum(RunFlow.carried_bytes), 0)


def used_bytes(unit: Unit, campaign_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return the bytes that these campaigns' flows have carried, failed runs included."""
    query = select(Run.campaign_id, carried_bytes()).join(Run, Run.id == RunFlow.run_id)
    rows = unit.session.execute(query.where(Run.campaign_id.in_(list(campaign_ids))).group_by(Run.campaign_id))
    return {campaign_id: int(carried) for campaign_id, carried in rows}
