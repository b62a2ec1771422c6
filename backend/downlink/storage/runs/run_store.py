"""Runs with their flows and hosts: the rows themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import TextClause, select, text

from downlink.domain.errors import NotFoundError
from downlink.domain.runs.outcome import FlowOutcome
from downlink.domain.runs.run import FINAL, RunState
from downlink.storage.tables import Json, Run, RunFlow, RunHost
from downlink.storage.unit import Unit

PLAN_ORDER = (Run.due_at, Run.cycle, Run.position, Run.link, Run.attempt)
FINAL_NAMES = sorted(FINAL)


def get_run(unit: Unit, run_id: UUID, *, is_locked: bool = False) -> Run:
    """NotFoundError when there is none. Locked runs are read again."""
    query = select(Run).where(Run.id == run_id)
    run = unit.session.scalar(query.with_for_update().execution_options(populate_existing=True) if is_locked else query)
    if run is None:
        raise NotFoundError("run_not_found", f"There is no run {run_id}.")
    return run


def get_runs(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[Run]:
    """Return the existing ones of these runs, in the order of the plan."""
    return unit.session.scalars(select(Run).where(Run.id.in_(list(run_ids))).order_by(*PLAN_ORDER)).all()


def flows_of(unit: Unit, run_id: UUID) -> Sequence[RunFlow]:
    return unit.session.scalars(select(RunFlow).where(RunFlow.run_id == run_id).order_by(RunFlow.flow)).all()


def fingerprints(unit: Unit, run_id: UUID) -> dict[str, Mapping[str, Any]]:
    """Return by agent the fingerprint of its host when it was ready; without agents that sent none."""
    query = select(RunHost.agent, RunHost.fingerprint).where(RunHost.run_id == run_id)
    return {agent: facts for agent, facts in unit.session.execute(query).all() if facts}


def flows_of_runs(unit: Unit, run_ids: Collection[UUID]) -> Sequence[RunFlow]:
    query = select(RunFlow).where(RunFlow.run_id.in_(run_ids)).order_by(RunFlow.run_id, RunFlow.flow)
    return unit.session.scalars(query).all()


def hosts_of(unit: Unit, run_id: UUID) -> Sequence[RunHost]:
    return unit.session.scalars(select(RunHost).where(RunHost.run_id == run_id).order_by(RunHost.agent)).all()


def hosts_of_runs(unit: Unit, run_ids: Collection[UUID]) -> Sequence[RunHost]:
    query = select(RunHost).where(RunHost.run_id.in_(run_ids)).order_by(RunHost.run_id, RunHost.agent)
    return unit.session.scalars(query).all()


def find_host(unit: Unit, run_id: UUID, agent: str) -> RunHost | None:
    return unit.session.get(RunHost, (run_id, agent), populate_existing=True)


def run_states(unit: Unit, campaign_id: UUID) -> list[tuple[UUID, RunState]]:
    """All runs of a campaign with their states, in the order of the plan."""
    query = select(Run.id, Run.state).where(Run.campaign_id == campaign_id).order_by(*PLAN_ORDER)
    return [(id_, RunState(state)) for id_, state in unit.session.execute(query)]


def add_rows(unit: Unit, runs: Sequence[Json], flows: Sequence[Json], hosts: Sequence[Json]) -> None:
    """New runs with their flows and hosts: of each table rows with the same columns, in one statement."""
    unit.session.flush()
    for table, own in ((Run, runs), (RunFlow, flows), (RunHost, hosts)):
        if own:
            unit.session.execute(_insert(table.__tablename__, tuple(own[0])), {"rows": orjson.dumps(own).decode()})


@cache
def _insert(table: str, columns: tuple[str, ...]) -> TextClause:
    # As one document: the driver would take longer to write tens of thousands of rows one by one than PostgreSQL to store them.
    names = ", ".join(columns)
    rows = f"json_populate_recordset(NULL::{table}, CAST(:rows AS json))"
    return text(f"INSERT INTO {table} ({names}) SELECT {names} FROM {rows}")  # noqa: S608 - names of tables and columns


def imported_runs(unit: Unit, campaign_id: UUID) -> Sequence[tuple[str, Json]]:
    """(condition, import source) of every imported run of a campaign."""
    query = select(Run.condition, Run.import_source).where(Run.campaign_id == campaign_id)
    return [(name, source) for name, source in unit.session.execute(query) if source is not None]


def outcomes_of(flows: Sequence[RunFlow], agent: str) -> list[FlowOutcome]:
    """Return the outcomes that an agent has reported of its ends of these flows."""
    ends = [(flow, point) for flow in flows if (point := flow.point_of(agent))]
    return [outcome for flow, point in ends if (outcome := flow.outcomes.get(point))]
