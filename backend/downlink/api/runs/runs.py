"""Runs."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from downlink.actions.campaigns import reruns
from downlink.actions.runs import decisions, progress
from downlink.api.http import present
from downlink.api.http.answers import Answer, json_response
from downlink.api.http.deps import Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, may_with_run, problems
from downlink.api.schemas.runs import CampaignNow, DecisionBody, Run, RunList, RunStateName
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.runs import run_details
from downlink.views.campaigns.campaign_now import campaign_now
from downlink.views.results.linklogs import LinkCourse, link_course
from downlink.views.results.reports import RunSeries, run_series
from downlink.views.runs.waiting import find_wait

router = APIRouter(tags=["runs"])


@router.get("/campaigns/{campaign_id}/runs", responses=problems(401, 404))
def list_runs(
    campaign_id: UUID,
    caller: Reader,
    unit: ReadUnit,
    state: Annotated[RunStateName | None, Query(description="Only those in this state")] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> RunList:
    """List runs in the order of the plan; further attempts follow the first."""
    rows, total = run_details.list_runs(unit, campaign_id, state, limit, offset)
    return RunList(items=[present.run_summary(row) for row in rows], total=total)


@router.get("/campaigns/{campaign_id}/now", responses=problems(401, 404))
def get_now(campaign_id: UUID, caller: Reader, unit: ReadUnit, now: Now) -> CampaignNow:
    """Return the current and next runs, the expected end and the bytes transferred: a short answer for any number of runs."""
    return present.campaign_now(campaign_now(unit, campaign_id, now))


@router.get("/runs/{run_id}", responses=problems(401, 404))
def get_run(run_id: UUID, caller: Reader, unit: ReadUnit, now: Now) -> Run:
    """Return a run: requested and actual settings of its flows, its hosts, its traces, and why it ended or what it waits for."""
    details = run_details.get_run_details(unit, run_id)
    return present.run(details, find_wait(unit, details.run, now))


@router.get("/runs/{run_id}/series", responses=problems(401, 404))
def get_series(run_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[RunSeries]:
    """Return the one-second series of a run's flows."""
    return json_response(run_series(unit, run_id))


@router.get("/runs/{run_id}/link", responses=problems(401, 404))
def get_link(run_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[LinkCourse]:
    """Return the log of a run's emulated link, thinned for a plot; 404 `link_log_not_found` without one. The trace `link` has all rows."""
    return json_response(link_course(unit, run_id))


@router.post(
    "/runs/{run_id}/cancel", dependencies=[may_with_run(Verb.RUN_CAMPAIGN)], responses=problems(401, 403, 404, 409)
)
def cancel_run(run_id: UUID, unit: UnitOfWork, now: Now) -> Run:
    """Cancel a run: its hosts are restored, then it ends as cancelled."""
    progress.cancel_run(unit, run_id, now)
    return present.run(run_details.get_run_details(unit, run_id))


@router.post(
    "/runs/{run_id}/rerun",
    status_code=201,
    dependencies=[may_with_run(Verb.RUN_CAMPAIGN)],
    responses=problems(401, 403, 404, 409),
)
def rerun_run(run_id: UUID, unit: UnitOfWork, now: Now) -> Run:
    """Plan another attempt in the slot of a run that ended without being complete; returns the new run."""
    return present.run(run_details.get_run_details(unit, reruns.rerun_run(unit, run_id, now).id))


@router.put("/runs/{run_id}/decision", responses=problems(401, 403, 404, 409))
def decide_run(
    run_id: UUID,
    body: DecisionBody,
    caller: Annotated[Caller, may_with_run(Verb.RUN_CAMPAIGN)],
    unit: UnitOfWork,
    now: Now,
) -> Run:
    """Exclude a run from statistics over several runs, or keep it, with a reason. Its own numbers stay; the report is rebuilt."""
    decisions.decide(unit, run_id, body.why, now, keeps=body.keeps, actor=caller.actor)
    return present.run(run_details.get_run_details(unit, run_id))


@router.delete("/runs/{run_id}/decision", responses=problems(401, 403, 404, 409))
def undo_decision(
    run_id: UUID, caller: Annotated[Caller, may_with_run(Verb.RUN_CAMPAIGN)], unit: UnitOfWork, now: Now
) -> Run:
    """Undo the decision: the run counts as before it."""
    decisions.undo(unit, run_id, now, actor=caller.actor)
    return present.run(run_details.get_run_details(unit, run_id))
