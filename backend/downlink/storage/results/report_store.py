"""Reports, and the flows that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import defer, undefer

from downlink.domain.runs.run import RunState
from downlink.storage.tables import LEFT_OUT, Campaign, Report, ReportAnswer, Run, RunFlow
from downlink.storage.unit import Unit

OBJECT_TIMES = (RunFlow.object_times_s, RunFlow.received_times_s)
_UNREAD = (RunFlow.receiver_outcome, RunFlow.hop_outcomes, Run.link_outcome)
"""No statistics need them, and tens of thousands take their time."""


def complete_flows(unit: Unit, campaign_id: UUID, *, with_object_times: bool = False) -> Sequence[tuple[Run, RunFlow]]:
    """Every flow of every complete run of a campaign that nobody left out, with its run, in the order of the plan."""
    query = select(Run, RunFlow).join(RunFlow, RunFlow.run_id == Run.id)
    query = query.options(*(defer(each, raiseload=True) for each in _UNREAD))
    if with_object_times:
        query = query.options(*map(undefer, OBJECT_TIMES))
    query = query.where(Run.campaign_id == campaign_id, Run.state == RunState.COMPLETE, LEFT_OUT.is_not(True))
    rows = unit.session.execute(
        query.order_by(Run.due_at, Run.cycle, Run.position, Run.link, Run.attempt, RunFlow.flow)
    )
    return [(run, flow) for run, flow in rows]


def find_report(unit: Unit, campaign_id: UUID) -> Report | None:
    return unit.session.get(Report, campaign_id)


def store_report(
    unit: Unit, campaign_id: UUID, version: int, analysis_version: str, body: bytes, now: datetime
) -> None:
    """Put the report in the place of an older one; a newer one stays."""
    row = {"version": version, "analysis_version": analysis_version, "body": body, "computed_at": now}
    fresh = upsert(Report).values(campaign_id=campaign_id, **row)
    unit.session.execute(
        fresh.on_conflict_do_update(index_elements=["campaign_id"], set_=row, where=Report.version <= version)
    )


def report_version(unit: Unit, campaign_id: UUID) -> int:
    """Return the version of the stored report; 0 without any."""
    return unit.session.scalar(select(Report.version).where(Report.campaign_id == campaign_id)) or 0


def is_behind(unit: Unit, campaign: Campaign) -> bool:
    """Return whether a newer report is wanted than the stored one."""
    return report_version(unit, campaign.id) < campaign.report_wanted


def complete_runs_seen(unit: Unit, campaign_id: UUID) -> str:
    """Return a text that changes whenever an answer may: number of complete runs, end of the last one, and decisions about them."""
    decided = func.max(Run.decision["at"].astext)
    query = select(func.count(), func.max(Run.state_at), func.count().filter(LEFT_OUT), decided)
    query = query.where(Run.campaign_id == campaign_id, Run.state == RunState.COMPLETE)
    count, latest, left_out, at = unit.session.execute(query).one()
    return f"{count} {latest and latest.isoformat()}{f' {left_out} {at}' if at else ''}"


def store_answer(unit: Unit, campaign_id: UUID, name: str, version: int, seen: str, body: bytes) -> None:
    """Put it in the place of an older one. seen: as of `complete_runs_seen`, empty for what is made of the report alone."""
    row = {"version": version, "seen": seen, "body": body}
    fresh = upsert(ReportAnswer).values(campaign_id=campaign_id, name=name, **row)
    key = ["campaign_id", "name"]
    unit.session.execute(
        fresh.on_conflict_do_update(index_elements=key, set_=row, where=ReportAnswer.version <= version)
    )


def find_answer(unit: Unit, campaign_id: UUID, name: str, analysis_version: str) -> bytes | None:
    """The stored answer that goes with the report, where this analysis made it and no run has ended since."""
    query = select(ReportAnswer.body).join(Report, Report.campaign_id == ReportAnswer.campaign_id)
    query = query.where(ReportAnswer.campaign_id == campaign_id, ReportAnswer.name == name)
    query = query.where(ReportAnswer.version == Report.version, Report.analysis_version == analysis_version)
    seen = complete_runs_seen(unit, campaign_id)
    return unit.session.scalar(query.where(or_(ReportAnswer.seen == "", ReportAnswer.seen == seen)))
