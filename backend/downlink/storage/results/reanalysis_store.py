"""Runs that await recomputation: `needs` holds it, as it does every job of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, update

from downlink.storage.runs.run_store import FINAL_NAMES
from downlink.storage.tables import Run
from downlink.storage.unit import Unit

JOB = "reanalyse"


@dataclass(frozen=True)
class Counts:
    """Counts of a campaign's analysed runs. waiting: not done yet. outdated: last judged by another version of the analysis."""

    runs: int
    waiting: int
    outdated: int


def want(unit: Unit, campaign_id: UUID, at_once: int, now: datetime) -> None:
    """Note the job for every analysed run that has ended and has no other job; the tick sends as many `at_once`."""
    query = update(Run).where(Run.campaign_id == campaign_id, Run.analysis_version.is_not(None))
    query = query.where(Run.state.in_(FINAL_NAMES), Run.needs.is_(None), Run.traces_removed_at.is_(None))
    unit.session.execute(query.values(needs=JOB, needs_sent_at=now, tries=0))
    first = waiting_ids(unit, campaign_id, at_once)
    unit.session.execute(update(Run).where(Run.id.in_(first)).values(needs_sent_at=None))


def counts(unit: Unit, campaign_id: UUID, analysis_version: str) -> Counts:
    waiting, outdated = Run.needs == JOB, Run.analysis_version != analysis_version
    query = select(func.count(), func.count().filter(waiting), func.count().filter(outdated))
    judged = query.where(Run.campaign_id == campaign_id, Run.analysis_version.is_not(None))
    return Counts(*unit.session.execute(judged).one())


def waiting_ids(unit: Unit, campaign_id: UUID, limit: int) -> Sequence[UUID]:
    """Lock and return waiting runs on which no job is at work."""
    query = select(Run.id).where(_waits(campaign_id)).order_by(Run.id).limit(limit)
    return unit.session.scalars(query.with_for_update(skip_locked=True, key_share=True)).all()


def take(unit: Unit, first: UUID, campaign_id: UUID, limit: int) -> Sequence[Run]:
    """Lock and return this run, and others of its campaign that were never tried; one that another job is at work on is left out."""
    query = select(Run).where(_waits(campaign_id), (Run.id == first) | (Run.tries == 0))
    query = query.order_by((Run.id != first), Run.id).limit(limit)
    locked = query.with_for_update(skip_locked=True, key_share=True).execution_options(populate_existing=True)
    return unit.session.scalars(locked).all()


def _waits(campaign_id: UUID) -> ColumnElement[bool]:
    return (Run.campaign_id == campaign_id) & (Run.needs == JOB)
