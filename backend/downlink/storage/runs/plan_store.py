"""A campaign's plan: which of its runs are left, and how those end that never begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import and_, func, or_, select, text, update

from downlink.domain.campaigns.campaign_state import UNDER_WAY
from downlink.domain.runs.run import Ending, RunState, Trait, reasons_with
from downlink.storage.runs.active_runs import ACTIVE_NAMES
from downlink.storage.runs.run_store import FINAL_NAMES
from downlink.storage.tables import Campaign, Run, RunHost
from downlink.storage.unit import Unit


class BookedRun(NamedTuple):
    """The part of a run that matters to the plans of other campaigns."""

    campaign: str
    link: str
    agents: Sequence[str]
    is_host_wide: bool
    due_at: datetime
    expected_s: float


def booked_runs(unit: Unit) -> list[BookedRun]:
    """Everything that is planned or under way, of all campaigns."""
    columns = (Campaign.name, Run.link, func.array_agg(RunHost.agent), Run.is_host_wide, Run.due_at, Run.expected_s)
    query = select(*columns).join(Run, Run.campaign_id == Campaign.id).join(RunHost, RunHost.run_id == Run.id)
    held = and_(Run.state.not_in(FINAL_NAMES), Run.released_at.is_(None), Campaign.state.in_(sorted(UNDER_WAY)))
    rows = unit.session.execute(query.where(held).group_by(Campaign.name, Run.id))
    return [BookedRun(*row) for row in rows]


def postpone_planned(unit: Unit, campaign_id: UUID, pause: timedelta) -> None:
    planned = update(Run).where(Run.campaign_id == campaign_id, Run.state == RunState.PLANNED)
    unit.session.execute(planned.values(due_at=Run.due_at + pause))


def lock_unfinished(unit: Unit, campaign_id: UUID, most_planned: int | None = None) -> dict[UUID, RunState]:
    """The campaign's runs that have not ended, with their states; locked, in a fixed order. most_planned: of those, the next ones."""
    of_campaign = select(Run.id).where(Run.campaign_id == campaign_id)
    planned = of_campaign.where(Run.state == RunState.PLANNED).order_by(Run.due_at, Run.cycle, Run.position)
    under_way = of_campaign.where(Run.state.not_in((RunState.PLANNED, *FINAL_NAMES)))
    wanted = or_(Run.id.in_(planned.limit(most_planned)), Run.id.in_(under_way))
    query = select(Run.id, Run.state).where(wanted, Run.state.not_in(FINAL_NAMES))
    rows = unit.session.execute(query.order_by(Run.id).with_for_update())
    return {id_: RunState(state) for id_, state in rows}


LEFT_OF_CANCELLED = text("""
    SELECT id FROM campaigns WHERE state = 'cancelled'
    AND EXISTS (SELECT FROM runs WHERE runs.campaign_id = campaigns.id AND runs.state = 'planned')
    UNION
    SELECT campaigns.id FROM runs JOIN campaigns ON campaigns.id = runs.campaign_id
    WHERE runs.state = ANY(:active) AND runs.released_at IS NULL AND runs.verdict IS NULL AND campaigns.state = 'cancelled'
""")


def left_of_cancelled(unit: Unit) -> Sequence[UUID]:
    """Cancelled campaigns of which runs are still planned, or under way with nothing said of their end."""
    return unit.session.scalars(LEFT_OF_CANCELLED, {"active": list(ACTIVE_NAMES)}).all()


_END_PLANNED = text("""
    UPDATE runs SET state = wanted.state, state_at = :now, reason = wanted.reason, detail = wanted.detail,
        ended_at = coalesce(ended_at, :now), released_at = coalesce(released_at, :now),
        needs = NULL, live = NULL, wake_at = NULL, hop_secret = NULL
    FROM unnest(CAST(:ids AS uuid[]), CAST(:states AS text[]), CAST(:reasons AS text[]), CAST(:details AS text[]))
        AS wanted(id, state, reason, detail)
    WHERE runs.id = wanted.id AND runs.state = 'planned' RETURNING runs.link, runs.cycle
""")


_TAKE_TICKETS = text("UPDATE run_flows SET ticket = NULL WHERE run_id = ANY(CAST(:ids AS uuid[]))")


def end_planned(unit: Unit, endings: Mapping[UUID, Ending], now: datetime) -> set[tuple[str, int]]:
    """End these planned runs, which must be locked: nothing of them is left to give back. The links and cycles they were in.

    Runs that the session has read already are not read again.
    """
    ids, ends = list(endings), endings.values()
    values = {"states": [each.state for each in ends], "reasons": [each.reason for each in ends], "now": now}
    details = [each.detail for each in ends]
    ended = unit.session.execute(_END_PLANNED, {**values, "ids": ids, "details": details})
    unit.session.execute(_TAKE_TICKETS, {"ids": ids})
    return {(link, cycle) for link, cycle in ended}


def open_cycles(unit: Unit, campaign_id: UUID) -> set[tuple[str, int]]:
    """The links and cycles of the campaign in which a run has not ended."""
    query = select(Run.link, Run.cycle).where(Run.campaign_id == campaign_id, Run.state.not_in(FINAL_NAMES)).distinct()
    return {(link, cycle) for link, cycle in unit.session.execute(query)}


def unfinished_in_cycle(unit: Unit, run: Run) -> int:
    query = select(func.count()).where(Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle)
    return unit.session.scalar(query.where(Run.state.not_in(FINAL_NAMES))) or 0


def unfinished_in_campaign(unit: Unit, campaign_id: UUID) -> int:
    query = select(func.count()).where(Run.campaign_id == campaign_id, Run.state.not_in(FINAL_NAMES))
    return unit.session.scalar(query) or 0


def is_first_complete(unit: Unit, run: Run) -> bool:
    """Return whether no other run of its condition on its link is complete."""
    same = (Run.campaign_id == run.campaign_id, Run.link == run.link, Run.condition == run.condition)
    others = select(func.count()).where(*same, Run.state == RunState.COMPLETE, Run.id != run.id)
    return unit.session.scalar(others) == 0


def last_cycle(unit: Unit, campaign_id: UUID) -> int:
    """The highest cycle that a run of the campaign has; 0 without runs."""
    return unit.session.scalar(select(func.max(Run.cycle)).where(Run.campaign_id == campaign_id)) or 0


def last_end_in_campaign(unit: Unit, campaign_id: UUID) -> datetime | None:
    """Return when a run here last came to its end; an imported run's ended_at is that of its measurement."""
    ended = (Run.campaign_id == campaign_id, Run.state.in_(FINAL_NAMES))
    return unit.session.scalar(select(func.max(Run.state_at)).where(*ended))


def later_attempts(unit: Unit, run: Run) -> Sequence[Run]:
    """Lock and read the later attempts at the same place."""
    query = select(Run).where(
        Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle,
        Run.position == run.position, Run.attempt > run.attempt,
    )  # fmt: skip
    locked = query.order_by(Run.attempt).with_for_update().execution_options(populate_existing=True)
    return unit.session.scalars(locked).all()


def count_passing(unit: Unit, run: Run) -> int:
    """Count the attempts at this place, up to this one, that ended for a PASSING reason."""
    query = select(func.count()).where(
        Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle,
        Run.position == run.position, Run.attempt <= run.attempt, Run.reason.in_(reasons_with(Trait.PASSING)),
    )  # fmt: skip
    return unit.session.scalar(query) or 0
