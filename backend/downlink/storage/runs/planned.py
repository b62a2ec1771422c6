"""Planned runs whose turn may have come.

Of each campaign's planned runs on a link only the first one, its head, can start. So heads alone carry a wake_at, and a pass
of the tick costs the same however many runs wait behind them. Whatever may let a head start leaves a row in `wakes` with the
link's name. A row, and not a change of the head itself: two transactions that free links would wait for each other's heads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import false, func, insert, select, text

from downlink.domain.fleet.agent import AgentStatus, Pause
from downlink.domain.runs.run import ACTIVE, RunState
from downlink.domain.runs.turn import AgentView, PlannedTurn
from downlink.storage.one_of import is_one_of
from downlink.storage.tables import Agent, Campaign, Run, RunFlow, RunHost, Wake
from downlink.storage.tables.base import Json
from downlink.storage.unit import Unit

Queue = tuple[UUID, str]
"""A campaign and one of its links."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first planned run of a queue, or one of the first."""

    id: UUID
    queue: Queue
    cycle: int
    turn: PlannedTurn
    condition: str


def wake_links(unit: Unit, links: Iterable[str]) -> None:
    """Have the heads on these links looked at in the next pass."""
    rows = [{"link": link} for link in sorted(set(links))]
    if rows:
        unit.session.execute(insert(Wake), rows)


_WAKE_LINKS_OF = text("""
    WITH freed AS (
        SELECT mate.name FROM agents JOIN agents AS mate ON mate.boot_id = agents.boot_id WHERE agents.name = ANY(:agents)
    )
    INSERT INTO wakes (link) SELECT name FROM links
    WHERE receiver IN (SELECT name FROM freed) OR senders && (SELECT array_agg(name) FROM freed)
        OR further_receivers && (SELECT array_agg(name) FROM freed) OR relays && (SELECT array_agg(name) FROM freed)
""")


def wake_links_of(unit: Unit, agents: Iterable[str]) -> None:
    """Have the heads looked at that want one of these agents, or another one on the same host."""
    unit.session.execute(_WAKE_LINKS_OF, {"agents": list(agents)})


def wake_all_links(unit: Unit) -> None:
    unit.session.execute(text("INSERT INTO wakes (link) SELECT name FROM links"))


def take_wakes(unit: Unit) -> set[str]:
    """The links that something happened to since the last pass."""
    return set(unit.session.scalars(text("DELETE FROM wakes RETURNING link")))


DUE = text("""
    SELECT runs.id, runs.campaign_id, runs.link FROM runs JOIN campaigns ON campaigns.id = runs.campaign_id
    WHERE runs.wake_at <= :now AND runs.state = 'planned' AND campaigns.state = 'running' AND campaigns.origin = 'measured'
""")
_WAITING = text("""
    SELECT runs.id, runs.wake_at, runs.campaign_id, runs.link
    FROM runs JOIN campaigns ON campaigns.id = runs.campaign_id
    WHERE runs.wake_at > :now AND runs.due_at <= :now AND runs.state = 'planned'
    AND campaigns.state = 'running' AND campaigns.origin = 'measured'
""")
_QUEUES_ON = text("""
    SELECT campaigns.id, link FROM campaigns, unnest(CAST(:links AS text[])) AS link
    WHERE campaigns.state = 'running' AND campaigns.origin = 'measured'
""")
_FIRST = text("""
    SELECT head.id, campaign_id, link FROM unnest(CAST(:campaigns AS uuid[]), CAST(:links AS text[])) AS queue(campaign_id, link)
    CROSS JOIN LATERAL (
        SELECT id FROM runs
        WHERE campaign_id = queue.campaign_id AND link = queue.link AND state = 'planned'
        ORDER BY due_at, cycle, position, attempt LIMIT :most
    ) AS head
""")


def due_runs(unit: Unit, now: datetime) -> dict[UUID, Queue]:
    """Planned runs of running campaigns that want to be looked at. What was recorded elsewhere is never measured here."""
    return {id_: (campaign_id, link) for id_, campaign_id, link in unit.session.execute(DUE, {"now": now})}


def waiting_runs(unit: Unit, now: datetime) -> dict[UUID, tuple[datetime, Queue]]:
    """Planned runs whose time has come and which were looked at in vain: when they are looked at next, and their queues."""
    rows = unit.session.execute(_WAITING, {"now": now})
    return {id_: (wake_at, (campaign_id, link)) for id_, wake_at, campaign_id, link in rows}


def queues_on(unit: Unit, links: Collection[str]) -> set[Queue]:
    """The queues of running campaigns on these links; some may be empty."""
    rows = unit.session.execute(_QUEUES_ON, {"links": list(links)}) if links else ()
    return {(campaign_id, link) for campaign_id, link in rows}


def take_heads(unit: Unit, queues: Collection[Queue], most: int) -> list[Head]:
    """The heads of these queues in the order of the plan, locked: the first runs of each, up to `most`.

    A queue one of whose heads another transaction holds is left to the next pass.
    """
    pairs = list(queues)
    values = {"campaigns": [campaign for campaign, _ in pairs], "links": [link for _, link in pairs]}
    wanted = unit.session.execute(_FIRST, {**values, "most": most}).all() if pairs else []
    ids = [id_ for id_, _, _ in wanted]
    agents = select(func.array_agg(RunHost.agent)).where(RunHost.run_id == Run.id).scalar_subquery()
    columns = (
        Run.id,
        Run.campaign_id,
        Run.link,
        Run.due_at,
        Run.cycle,
        Run.is_host_wide,
        Run.expected_s,
        agents,
        Run.condition,
    )
    query = select(*columns).where(is_one_of(Run.id, ids), Run.state == RunState.PLANNED)
    query = query.order_by(Run.due_at, Run.cycle, Run.position, Run.link, Run.attempt)
    heads = [
        Head(
            id_,
            (campaign_id, link),
            cycle,
            PlannedTurn(link, due_at, tuple(sorted(names or ())), is_host_wide, length_s),
            condition,
        )
        for id_, campaign_id, link, due_at, cycle, is_host_wide, length_s, names, condition in unit.session.execute(
            query.with_for_update(of=Run, skip_locked=True)
        )
    ]
    if len(heads) == len(ids):
        return heads
    taken = {head.id for head in heads}
    left = {(campaign_id, link) for id_, campaign_id, link in wanted if id_ not in taken}
    wake_links(unit, {link for _, link in left})
    return [head for head in heads if head.queue not in left]


class UnderWay(NamedTuple):
    """A run that may still carry something. carried_bytes: what its agents have reported already."""

    campaign_id: UUID
    link: str
    condition: str
    budget: Json | None
    carried_bytes: int


def runs_under_way(unit: Unit, campaign_ids: Collection[UUID]) -> list[UnderWay]:
    """Return the runs of these campaigns that have begun and not given their links back."""
    carried = select(func.coalesce(func.sum(RunFlow.carried_bytes), 0)).where(RunFlow.run_id == Run.id)
    query = select(Run.campaign_id, Run.link, Run.condition, Run.budget, carried.scalar_subquery())
    held = (Run.campaign_id.in_(campaign_ids), Run.state.in_(sorted(ACTIVE)), Run.released_at.is_(None))
    return [UnderWay(*row) for row in unit.session.execute(query.where(*held))]


_WAITING_QUEUES = text("""
    SELECT id, link FROM unnest(CAST(:campaigns AS uuid[]), CAST(:links AS text[])) AS queue(id, link)
    WHERE EXISTS (SELECT FROM runs WHERE campaign_id = queue.id AND runs.link = queue.link AND state = 'planned')
""")


def waiting_queues(unit: Unit, queues: Collection[Queue]) -> list[Queue]:
    """Return the queues in which a run is planned."""
    values = {"campaigns": [campaign_id for campaign_id, _ in queues], "links": [link for _, link in queues]}
    return [(id_, link) for id_, link in unit.session.execute(_WAITING_QUEUES, values)] if queues else []


class PlannedDue(NamedTuple):
    id: UUID
    link: str
    due_at: datetime
    expected_s: float


def lock_planned_runs(unit: Unit, campaign_id: UUID) -> set[UUID]:
    """Lock a campaign's planned runs, in the order in which every process locks them; return their ids."""
    query = select(Run.id).where(Run.campaign_id == campaign_id, Run.state == RunState.PLANNED).order_by(Run.id)
    return set(unit.session.scalars(query.with_for_update()))


def planned_dues(unit: Unit, campaign_id: UUID) -> list[PlannedDue]:
    """A campaign's planned runs, by link in the order of its plan."""
    query = select(Run.id, Run.link, Run.due_at, Run.expected_s)
    query = query.where(Run.campaign_id == campaign_id, Run.state == RunState.PLANNED)
    order = (Run.link, Run.due_at, Run.cycle, Run.position, Run.attempt)
    return [PlannedDue(*row) for row in unit.session.execute(query.order_by(*order))]


_SET_DUES = text("""
    UPDATE runs SET due_at = wanted.at FROM unnest(CAST(:ids AS uuid[]), CAST(:dues AS timestamptz[])) AS wanted(id, at)
    WHERE runs.id = wanted.id
""")


def set_dues(unit: Unit, dues: Mapping[UUID, datetime]) -> None:
    """Other due times of locked runs."""
    unit.session.execute(_SET_DUES, {"ids": list(dues), "dues": list(dues.values())})


def find_campaigns(unit: Unit, ids: Collection[UUID]) -> dict[UUID, Campaign]:
    return {row.id: row for row in unit.session.scalars(select(Campaign).where(Campaign.id.in_(ids)))}


def agent_views(unit: Unit, names: Collection[str]) -> dict[str, AgentView]:
    """Return views of those of the named agents that exist and are not revoked."""
    columns_of = (Agent.name, Agent.boot_id, Agent.status, Agent.last_seen_at, Agent.detail)
    pause = (Agent.paused_by, Agent.paused_until, Agent.pause_why)
    holds_budget = func.coalesce(Agent.host["holds_budget"].as_boolean(), false())
    columns = (*columns_of, *pause, holds_budget)
    rows = unit.session.execute(select(*columns).where(is_one_of(Agent.name, names), Agent.revoked_at.is_(None)))
    return {
        name: AgentView(host, AgentStatus(status), seen_at, detail, Pause.of(by, until, why), is_holding)
        for name, host, status, seen_at, detail, by, until, why, is_holding in rows
    }


_LAST_ENDS = text("""
    SELECT link, (SELECT max(coalesce(released_at, ended_at)) FROM runs WHERE runs.link = wanted.link)
    FROM unnest(CAST(:links AS text[])) AS wanted(link)
""")


def last_ends(unit: Unit, links: Collection[str]) -> dict[str, datetime]:
    """Return when a run last gave each of these links back."""
    rows = unit.session.execute(_LAST_ENDS, {"links": list(links)})
    return {link: at for link, at in rows if at}


_CYCLE_ENDS = text("""
    SELECT head.id, (
        SELECT max(coalesce(released_at, ended_at)) FROM runs
        WHERE runs.campaign_id = head.campaign_id AND runs.link = head.link AND runs.cycle < head.cycle
    ) FROM runs AS head WHERE head.id = ANY(CAST(:ids AS uuid[]))
""")


def earlier_cycle_ends(unit: Unit, ids: Collection[UUID]) -> dict[UUID, datetime]:
    """Head to when the last run of its campaign's earlier cycles gave the link back."""
    return {id_: at for id_, at in unit.session.execute(_CYCLE_ENDS, {"ids": list(ids)}) if at}
