"""Facts for the rules of domain/notices/notification.py."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Row, and_, func, select, text, tuple_

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.expectation import Check, checks_of, series_outside, unmet
from downlink.domain.fleet.agent import AgentStatus, is_online, is_present
from downlink.domain.fleet.owner_limits import read_month
from downlink.domain.notices.notification import FAILED, NOT_COUNTED, AgentSight, CampaignEnd, Departure, RunEnd, Volume
from downlink.domain.runs.run import RunState
from downlink.storage.campaigns.campaign_store import IS_NEEDED, campaign_of
from downlink.storage.links.link_store import allowances
from downlink.storage.notices.events import Cursor
from downlink.storage.runs.volumes import used_bytes
from downlink.storage.tables import Agent, Campaign, Lease, Link, Run
from downlink.storage.unit import Unit

_LOGGED = text("""
    SELECT events.xact::text AS xact, events.id, events.at, events.kind, events.data ->> 'campaign_state' AS state,
        events.data ->> 'expectation' AS expectation, events.campaign_id, events.run_id,
        campaigns.name, campaigns.owner_id, runs.link, runs.state AS run_state,
        campaigns.origin = 'measured' AND campaigns.quick_link IS NULL AS is_planned
    FROM events JOIN campaigns ON campaigns.id = events.campaign_id LEFT JOIN runs ON runs.id = events.run_id
    WHERE (events.xact, events.id) > (CAST(:xact AS xid8), :id) AND events.xact < CAST(:until AS xid8)
      AND (events.kind = 'campaign' AND events.data ->> 'campaign_state' IN ('complete', 'cancelled')
        OR events.kind = 'unexpected'
        OR events.kind = 'run' AND events.data ->> 'run_state' IN ('complete', 'incomplete', 'failed', 'missed'))
    ORDER BY events.xact, events.id LIMIT :limit
""")


class CampaignLink(NamedTuple):
    """A campaign on a link."""

    campaign_id: UUID
    link: str


class Outside(NamedTuple):
    """The moment at which a run's numbers were found to lie outside an expectation."""

    run_id: UUID
    expectation: int
    at: datetime


class Happened(NamedTuple):
    """until: where the next look begins. ended: where a planned run ended. carried: where any run ended. outside: of which
    expectations planned runs were found outside."""

    until: Cursor
    ends: list[CampaignEnd]
    ended: set[CampaignLink]
    carried: set[CampaignLink]
    outside: list[Outside]


def happened_after(unit: Unit, cursor: Cursor, horizon: Cursor, limit: int) -> Happened:
    """Ends of campaigns and runs in the log. Of quick tests and imported files nobody is notified: who starts them looks on."""
    values = {"xact": str(cursor.xact), "id": cursor.id, "until": str(horizon.xact), "limit": limit}
    rows = unit.session.execute(_LOGGED, values).all()
    until = Cursor(int(rows[-1].xact), rows[-1].id) if len(rows) == limit else horizon
    runs = [row for row in rows if row.kind == "run" and row.link]
    ended = {CampaignLink(row.campaign_id, row.link) for row in runs if row.is_planned}
    carried = {CampaignLink(row.campaign_id, row.link) for row in runs}
    outside = [
        Outside(row.run_id, int(row.expectation), row.at) for row in rows if row.kind == "unexpected" and row.is_planned
    ]
    ends = [_end(unit, row) for row in rows if row.kind == "campaign" and row.is_planned]
    return Happened(until, ends, ended, carried, outside)


def _end(unit: Unit, row: Row[*tuple[object, ...]]) -> CampaignEnd:
    counts = select(Run.state, func.count()).where(Run.campaign_id == row.campaign_id, IS_NEEDED).group_by(Run.state)
    runs = {state: int(number) for state, number in unit.session.execute(counts)}
    return CampaignEnd(row.id, row.campaign_id, row.name, row.owner_id, CampaignState(row.state), row.at, runs)


def failures_since_success(unit: Unit, queue: CampaignLink, most: int) -> list[RunEnd]:
    """Return a campaign's first runs on a link that failed since one succeeded last, in their order.

    None behind a run that is measured and not judged yet: it may turn out to be a success between them.
    """
    here = (Run.campaign_id == queue.campaign_id, Run.link == queue.link)
    order = (func.coalesce(Run.released_at, Run.ended_at), Run.id)
    good = select(*order).where(*here, Run.state.in_((RunState.COMPLETE, RunState.INCOMPLETE)))
    last = unit.session.execute(good.order_by(*(each.desc() for each in order)).limit(1)).one_or_none()
    since = (*here, tuple_(*order) > tuple_(*last)) if last else here
    unjudged = select(*order).where(*since, Run.released_at.is_not(None), Run.ended_at.is_(None))
    first = unit.session.execute(unjudged.order_by(*order).limit(1)).one_or_none()
    is_counted = and_(
        Run.state.in_(sorted(FAILED)), Run.reason.is_distinct_from(NOT_COUNTED), Run.ended_at.is_not(None)
    )
    query = select(Run.id, Campaign.id, Campaign.name, Campaign.owner_id, Run.link, Run.state, Run.reason, order[0])
    query = query.join(Campaign, Campaign.id == Run.campaign_id).where(*since, is_counted)
    if first:
        query = query.where(tuple_(*order) < tuple_(*first))
    rows = unit.session.execute(query.order_by(*order).limit(most))
    return [RunEnd(*row[:5], RunState(row[5]), row[6], row[7]) for row in rows]


def departures(unit: Unit, outside: Collection[Outside]) -> list[Departure]:
    """Return the current facts of these runs, in their order; a run that was analysed again since, and lies inside, is left out."""
    runs = {
        run.id: run for run in unit.session.scalars(select(Run).where(Run.id.in_({each.run_id for each in outside})))
    }
    names = select(Campaign.id, Campaign.name, Campaign.owner_id)
    campaigns = {
        row.id: row
        for row in unit.session.execute(names.where(Campaign.id.in_({run.campaign_id for run in runs.values()})))
    }
    rows = {side: _checked(unit, *side) for side in set(map(_side, runs.values()))}
    series = {
        (*side, expectation): series_outside(rows[side], expectation)
        for side, expectation in {(_side(runs[each.run_id]), each.expectation) for each in outside}
    }
    made = []
    for each in outside:
        run = runs[each.run_id]
        in_row = series[*_side(run), each.expectation].get(run.id)
        if in_row:
            own, (_, campaign, owner_id) = unmet(checks_of(run.checks))[each.expectation], campaigns[run.campaign_id]
            made.append(
                Departure(
                    run.id, run.campaign_id, campaign, owner_id, run.link, run.condition, run.cycle, each.at,
                    each.expectation, own, in_row,
                )
            )  # fmt: skip
    return made


def _side(run: Run) -> tuple[UUID, str, str]:
    """Return the key of the runs that form one series."""
    return run.campaign_id, run.link, run.condition


def _checked(unit: Unit, campaign_id: UUID, link: str, condition: str) -> list[tuple[UUID, list[Check]]]:
    """A condition's runs on a link whose numbers were held against expectations, in the order in which they were measured."""
    here = (Run.campaign_id == campaign_id, Run.link == link, Run.condition == condition, Run.checks.is_not(None))
    order = (func.coalesce(Run.released_at, Run.ended_at), Run.id)
    rows = unit.session.execute(select(Run.id, Run.checks).where(*here).order_by(*order))
    return [(run_id, checks_of(stored)) for run_id, stored in rows]


def campaign_volumes(unit: Unit, campaign_ids: Collection[UUID]) -> list[Volume]:
    """Return the volumes of the campaigns that have a limit of bytes."""
    rows = unit.session.scalars(select(Campaign).where(Campaign.id.in_(campaign_ids))).all()
    limits = {row.id: limit for row in rows if (limit := campaign_of(row).limits.bytes) is not None}
    used = used_bytes(unit, limits)
    limited = ((row, limits[row.id]) for row in rows if row.id in limits)
    return [Volume("campaign", row.id, row.name, row.owner_id, used.get(row.id, 0), limit) for row, limit in limited]


def link_volumes(unit: Unit, names: Collection[str], now: datetime) -> list[Volume]:
    """Return the volumes of the links that have an allowance: what all runs of this month of the link have carried over it."""
    rows = unit.session.scalars(select(Link).where(Link.name.in_(names), Link.allowance_bytes.is_not(None))).all()
    allowance_of = allowances(unit, [row.name for row in rows], now)
    return [
        Volume("link", row.id, row.name, row.owner_id, each.used_bytes, each.limit_bytes, f"{each.resets_at:%Y-%m-%d}")
        for row in rows
        if (each := allowance_of.get(row.name))
    ]


def agents_seen(unit: Unit, now: datetime) -> list[AgentSight]:
    """Every agent that was ever heard and is not revoked."""
    in_run = select(Lease.run_id).where(Lease.run_id == Agent.run_id).exists()
    let_go_at = func.coalesce(Run.released_at, Run.ended_at)
    query = select(Agent.id, Agent.name, Agent.last_seen_at, Agent.status, in_run, let_go_at)
    rows = unit.session.execute(query.outerjoin(Run, Run.id == Agent.run_id).where(Agent.revoked_at.is_(None)))
    return [
        AgentSight(
            id_, name, seen_at, is_online(seen_at, now), is_present(AgentStatus(status), seen_at, is_held, now), let_go
        )
        for id_, name, seen_at, status, is_held, let_go in rows
        if seen_at
    ]


def agent_volumes(unit: Unit, now: datetime) -> list[Volume]:
    """Return the monthly volumes of the agents that are not revoked and report their owner's limit, as they reported them last."""
    query = select(Agent.id, Agent.name, Agent.host).where(Agent.revoked_at.is_(None))
    rows = unit.session.execute(query.where(Agent.host["policy"]["month"].is_not(None)))
    return [
        Volume("agent", id_, name, None, month.used_bytes, month.limit_bytes, f"{month.resets_on}")
        for id_, name, host in rows
        if (month := read_month(host)) and month.resets_on >= now.date()
    ]
