"""Decisions of people whether a run's numbers count, with a reason, kept on record."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from downlink.domain.errors import ConflictError
from downlink.domain.moment import moment_text
from downlink.domain.people.access import Actor
from downlink.domain.runs.run import FINAL
from downlink.storage.campaigns import campaign_store
from downlink.storage.notices.events import add_event
from downlink.storage.people import access_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Run
from downlink.storage.unit import Unit


def decide(unit: Unit, run_id: UUID, why: str, now: datetime, *, keeps: bool, actor: Actor) -> None:
    """Leave a run out of all numbers over several runs, or keep it. Its own numbers stay. ConflictError before it has ended."""
    run = _ended(unit, run_id)
    run.decision = {"keeps": keeps, "why": why, "by": actor.name, "at": moment_text(now)}
    verb = "keeps" if keeps else "leaves out"
    _note(unit, run, "keep_run" if keeps else "leave_out_run", f"{actor.name} {verb} this run: {why}", now, actor)


def undo(unit: Unit, run_id: UUID, now: datetime, *, actor: Actor) -> None:
    """Take a decision back: the run counts as if nobody had decided. ConflictError where nobody has."""
    run = _ended(unit, run_id)
    if run.decision is None:
        raise ConflictError("nothing_decided", "Nobody has decided whether this run counts; it does.")
    run.decision = None
    _note(unit, run, "undo_run_decision", f"{actor.name} takes the decision about this run back.", now, actor)


def _ended(unit: Unit, run_id: UUID) -> Run:
    run = run_store.get_run(unit, run_id, is_locked=True)
    if run.state not in FINAL:
        raise ConflictError("run_under_way", f"This run is {run.state}; decide once it has ended.")
    return run


def _note(unit: Unit, run: Run, action: str, detail: str, now: datetime, actor: Actor) -> None:
    access_store.audit(unit, now, actor, action, f"{run.condition}, cycle {run.cycle}", run.id)
    add_event(unit, now, "run", {"run_state": run.state, "detail": detail}, run.campaign_id, run.id)
    campaign_store.want_report(unit, run.campaign_id)
