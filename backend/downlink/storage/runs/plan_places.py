"""Places of a campaign's plan: a condition in a cycle on a link, whatever the number of its attempts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, CollectionAggregate, Uuid, any_, func, literal, or_, select
from sqlalchemy.orm import aliased

from downlink.domain.runs.run import RunState
from downlink.storage.runs.run_store import FINAL_NAMES
from downlink.storage.tables import Run, RunHost
from downlink.storage.unit import Unit

_PLACE = (Run.link, Run.cycle, Run.position)


def lock_ended(unit: Unit, campaign_id: UUID, states: Collection[RunState]) -> list[UUID]:
    """Runs of the campaign that ended so, earlier attempts among them; locked place by place, each from its first attempt on."""
    query = select(Run.id).where(Run.campaign_id == campaign_id, Run.state.in_(sorted(states)))
    return list(unit.session.scalars(query.order_by(*_PLACE, Run.attempt).with_for_update()))


def lock_attempts(unit: Unit, run: Run) -> RunState:
    """Lock every attempt at the run's slot, from the first on; the run's state from then on.

    An earlier attempt that is just coming through late looks for later ones: it has to see the one that is to be added,
    or to be seen as complete.
    """
    slot = [column == getattr(run, column.key) for column in (Run.campaign_id, *_PLACE)]
    attempts = unit.session.execute(select(Run.id, Run.state).where(*slot).order_by(Run.attempt).with_for_update())
    return RunState(next(state for run_id, state in attempts if run_id == run.id))


def last_of_place(unit: Unit, run_ids: Collection[UUID]) -> Sequence[Run]:
    """Lock and return, in the order of the plan, those of these runs that no later attempt follows, and whose place has no complete
    run.

    The samples of an earlier attempt may come after it was given up: it is complete then, and another one would count twice.

    Who asks holds the campaign's lock: attempts are added under it alone.
    """
    other = aliased(Run)
    is_taken = select(other.id).where(
        other.campaign_id == Run.campaign_id, other.link == Run.link, other.cycle == Run.cycle,
        other.position == Run.position, or_(other.attempt > Run.attempt, other.state == RunState.COMPLETE),
    )  # fmt: skip
    query = select(Run).where(Run.id == _any_of(run_ids), ~is_taken.exists())
    return unit.session.scalars(
        query.order_by(Run.link, Run.cycle, Run.position).execution_options(populate_existing=True)
    ).all()


def _any_of(run_ids: Collection[UUID]) -> CollectionAggregate[bool]:
    """Match the ids with one parameter: a campaign has up to 100,000 runs, and a statement 65,535 parameters."""
    return any_(literal(list(run_ids), ARRAY(Uuid)))


def last_dues(unit: Unit, campaign_id: UUID) -> dict[str, datetime]:
    """Link to the latest due time of the campaign's runs there that have not ended."""
    query = select(Run.link, func.max(Run.due_at)).where(Run.campaign_id == campaign_id, Run.state.not_in(FINAL_NAMES))
    return {row[0]: row[1] for row in unit.session.execute(query.group_by(Run.link))}


def agents_of(unit: Unit, run_ids: Collection[UUID]) -> set[str]:
    """Everybody who takes part in one of these runs."""
    return set(unit.session.scalars(select(RunHost.agent).where(RunHost.run_id == _any_of(run_ids)).distinct()))
