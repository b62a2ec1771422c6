"""A run goes on: the deciders' steps are carried out here, in the transaction of whatever made them due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from downlink.actions.runs.new_runs import add_attempts
from downlink.analysis import ANALYSIS_VERSION
from downlink.domain.campaigns.campaign import closes_with_report
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.errors import ConflictError
from downlink.domain.runs.next_step import Condemn, Finish, Move, Release, Start, Step, Wait, decide
from downlink.domain.runs.run import (
    FINAL,
    Ending,
    HostPhase,
    Reason,
    RunState,
    Trait,
    has_trait,
    is_retried,
    may_follow,
)
from downlink.storage.campaigns import campaign_store
from downlink.storage.notices.events import add_event, add_run_events
from downlink.storage.results import reanalysis_store
from downlink.storage.runs import active_runs, leases, plan_store, planned, run_store
from downlink.storage.tables import Run
from downlink.storage.unit import Unit

# Another agent's host-wide settings go with its run, and a slow answer is followed by a better estimate of the clock.
PASSING_PAUSE = timedelta(seconds=60)
TRIED_AGAIN = "Tried again (attempt {})."
CANCELLED = Ending(RunState.CANCELLED, Reason.CANCELLED, "Cancelled by a user.")
TOO_LATE = "Its samples arrived when the next attempt had begun; they are kept with this run."
ALSO, MOST_ALSO = "Also:", 2
"""Sentences of both ends: where one of them was silent, nobody can tell which failed first."""
NOT_NEEDED = "The samples of attempt {} arrived after all."
log = structlog.get_logger()


def advance(unit: Unit, run: Run, now: datetime) -> None:
    """Carry out every step that is due. The run must be locked."""
    unit.session.flush()
    while not isinstance(step := decide(active_runs.views(unit, [run.id], now)[run.id], now), Wait):
        _apply(unit, run, step, now)
        unit.session.flush()
    # A look that has moved to later is not written down at every poll: the tick looks in vain once, and notes it.
    if step.until is None or run.wake_at is None or step.until < run.wake_at:
        run.wake_at = step.until


def _apply(unit: Unit, run: Run, step: Step, now: datetime) -> None:
    match step:
        case Move(state):
            set_state(unit, run, state, now)
        case Start(start_at):
            run.start_at = start_at
            if run.state != RunState.RUNNING:
                set_state(unit, run, RunState.RUNNING, now)
        case Condemn(ending, given_up):
            condemn(unit, run, ending, given_up)
        case Release():
            _release(unit, run, now)
            need(unit, run, "seal")
        case Finish(ending):
            finish(unit, run, ending.state, now, ending.reason, ending.detail)


def set_state(unit: Unit, run: Run, state: RunState, now: datetime, *, is_late: bool = False) -> None:
    """The one place where a run changes its state. ConflictError for a change that is not legal."""
    if not may_follow(RunState(run.state), state, is_late=is_late):
        raise ConflictError("run_state", f"A {run.state} run cannot become {state}.")
    run.state, run.state_at = state, now
    data = {"run_state": state, "reason": run.reason, "detail": run.detail}
    add_event(unit, now, "run", data, run.campaign_id, run.id)
    log.info("run_state", run_id=str(run.id), state=str(state), reason=run.reason, attempt=run.attempt)


def condemn(unit: Unit, run: Run, ending: Ending, given_up: tuple[str, ...] = ()) -> None:
    """Settle how the run will end. The first ending is kept, but a cause replaces its symptom at the other end.

    Hosts that never began have nothing to undo.
    """
    if run.verdict is None or (has_trait(run.reason, Trait.SYMPTOM) and Trait.CAUSE in ending.reason.traits):
        run.verdict, run.reason, run.detail = ending.state, ending.reason, ending.detail
        log.info("run_condemned", run_id=str(run.id), ending=str(ending.state), reason=str(ending.reason))
    elif _is_another_cause(run, ending):
        run.detail = f"{run.detail} {ALSO} {ending.detail}"
    for host in run_store.hosts_of(unit, run.id):
        if host.agent in given_up:
            host.phase = HostPhase.LOST
        elif host.phase == HostPhase.ASSIGNED:
            host.phase = HostPhase.DONE


def _is_another_cause(run: Run, ending: Ending) -> bool:
    """Return whether another end failed by a cause of its own, which is not told yet."""
    are_causes = Trait.CAUSE in ending.reason.traits and has_trait(run.reason, Trait.CAUSE)
    if not (are_causes and ending.detail and run.detail):
        return False
    return ending.detail not in run.detail and run.detail.count(ALSO) < MOST_ALSO


def need(unit: Unit, run: Run, job: str) -> None:
    """Note that a job is due and send it after the commit; the tick sends it again when it is lost."""
    run.needs, run.needs_sent_at, run.tries = job, None, 0
    unit.enqueue(job, run.id)


def begin_job(unit: Unit, run_id: UUID, job: str, now: datetime) -> None:
    """Count a try of a run's job. A hint that nobody took up is no try."""
    run = run_store.get_run(unit, run_id, is_locked=True)
    if run.needs == job:
        run.tries, run.needs_sent_at = run.tries + 1, now


def postpone_job(unit: Unit, run_id: UUID, job: str) -> None:
    """The database could not do it now, which says nothing of the job: the try does not count."""
    run = run_store.get_run(unit, run_id, is_locked=True)
    if run.needs == job:
        run.tries = max(0, run.tries - 1)


def _release(unit: Unit, run: Run, now: datetime) -> None:
    run.released_at = run.released_at or now
    if run.state == RunState.PLANNED:
        planned.wake_links(unit, [run.link])
    elif leases.release(unit, run.id):
        planned.wake_links(unit, [run.link])
        planned.wake_links_of(unit, [host.agent for host in run_store.hosts_of(unit, run.id)])
    for flow in run_store.flows_of(unit, run.id):
        flow.ticket = None
    run.hop_secret = None


def finish(unit: Unit, run: Run, state: RunState, now: datetime, reason: str | None, detail: str | None) -> None:
    """End the run; try it again where that may help; ask for a report where a cycle has closed."""
    is_late = run.state in FINAL  # it had ended, and the rest of its samples came afterwards
    if is_late and state is RunState.COMPLETE and not _takes_its_place(unit, run, now):
        state, reason, detail = RunState(run.state), run.reason, f"{run.detail} {TOO_LATE}"
    run.reason, run.detail, run.needs, run.live, run.wake_at = reason, detail, None, None, None
    run.ended_at = run.ended_at or now  # an imported file may say when it ended
    _release(unit, run, now)
    set_state(unit, run, state, now, is_late=is_late)
    # The lock orders runs that end together: the last one sees that it closes the cycle.
    campaign = campaign_store.find_campaign(unit, run.campaign_id, is_locked=True)
    attempts = campaign_store.campaign_of(campaign).limits.attempts
    if (
        not is_late
        and campaign.state != CampaignState.CANCELLED
        and is_retried(state, reason, run.attempt, attempts, plan_store.count_passing(unit, run))
    ):
        retry(unit, run, now)
    unit.session.flush()
    close(unit, run)


def _takes_its_place(unit: Unit, run: Run, now: datetime) -> bool:
    """Return whether no later attempt has begun; one that only waits for its turn is no longer needed."""
    later = plan_store.later_attempts(unit, run)
    if any(attempt.state not in (RunState.PLANNED, RunState.CANCELLED, RunState.MISSED) for attempt in later):
        return False
    for attempt in later:
        if attempt.state == RunState.PLANNED:
            finish(unit, attempt, RunState.CANCELLED, now, Reason.CANCELLED, NOT_NEEDED.format(run.attempt))
    return True


def retry(unit: Unit, run: Run, now: datetime) -> None:
    """Plan the same slot once more, because the run has failed."""
    due_at = now + PASSING_PAUSE if has_trait(run.reason, Trait.PASSING) else run.due_at
    repeat(unit, run.campaign_id, {run: due_at}, now, TRIED_AGAIN)


def repeat(unit: Unit, campaign_id: UUID, again: Mapping[Run, datetime], now: datetime, detail: str) -> list[UUID]:
    """Plan another attempt of runs of one campaign, each due at its moment; the attempts' ids, in their order.

    They are the last ones at their slots, and the caller holds the campaign's lock. detail: for the log, with a place for
    the attempt's number.
    """
    unit.session.flush()
    ids = add_attempts(unit, {run.id: due_at for run, due_at in again.items()}, now)
    planned.wake_links(unit, [run.link for run in again])  # the runs may have given their links back long ago
    data = {
        run_id: {"run_state": RunState.PLANNED, "detail": detail.format(run.attempt + 1)}
        for run_id, run in zip(ids, again, strict=True)
    }
    add_run_events(unit, now, data, campaign_id)
    return ids


def close(unit: Unit, run: Run) -> None:
    """A closed cycle wants a report, or, of many, only some do; the last one's completes the campaign.

    So does the first complete run of each condition on a link: people look at it long before the first cycle closes.
    """
    if plan_store.unfinished_in_cycle(unit, run):
        if run.state == RunState.COMPLETE and plan_store.is_first_complete(unit, run):
            campaign_store.want_report(unit, run.campaign_id)
        return
    if closes_with_report(run.cycle) or plan_store.unfinished_in_campaign(unit, run.campaign_id) == 0:
        campaign_store.want_report(unit, run.campaign_id)


def cancel_run(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Cancel one run: at once when it is only planned, else by stopping it and restoring its hosts."""
    run = run_store.get_run(unit, run_id, is_locked=True)
    if run.state in FINAL:
        raise ConflictError("run_ended", f"This run has already ended: {run.state}.")
    if run.released_at is not None:
        raise ConflictError(
            "run_measured", "This run has been measured and its samples are stored; nothing is left to cancel."
        )
    stop(unit, run, now)


def stop(unit: Unit, run: Run, now: datetime) -> None:
    """Cancel a locked run that has not been released."""
    if run.state == RunState.PLANNED:
        finish(unit, run, CANCELLED.state, now, CANCELLED.reason, CANCELLED.detail)
    elif run.released_at is None:
        condemn(unit, run, CANCELLED)
        advance(unit, run, now)


def end_planned(unit: Unit, campaign_id: UUID, endings: Mapping[UUID, Ending], now: datetime) -> None:
    """End locked runs of one campaign that are only planned, all at once, as `finish` ends each of them: cancelled or missed."""
    if not endings:
        return
    unit.session.flush()
    cycles = plan_store.end_planned(unit, endings, now)
    planned.wake_links(unit, {link for link, _ in cycles})
    texts = {
        run_id: {"run_state": each.state, "reason": each.reason, "detail": each.detail}
        for run_id, each in endings.items()
    }
    add_run_events(unit, now, texts, campaign_id)
    reasons = sorted({str(each.reason) for each in endings.values()})
    log.info("planned_runs_ended", campaign_id=str(campaign_id), reasons=reasons, runs=len(endings))
    # The lock orders runs that end together, as in `finish`.
    campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    still_open = plan_store.open_cycles(unit, campaign_id)
    if not still_open or any(closes_with_report(cycle) for _, cycle in cycles - still_open):
        campaign_store.want_report(unit, campaign_id)


def reanalysed(unit: Unit, of_campaign: Sequence[Run], now: datetime) -> None:
    """Locked runs of one campaign no longer wait: others do, or the report is wanted."""
    for run in of_campaign:
        run.needs, run.needs_sent_at = None, None
    unit.session.flush()
    campaign_id = of_campaign[0].campaign_id
    # The lock orders jobs that end together: the last one sees that it is.
    campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    if reanalysis_store.counts(unit, campaign_id, ANALYSIS_VERSION).waiting:
        for run_id in reanalysis_store.waiting_ids(unit, campaign_id, 1):
            unit.enqueue(reanalysis_store.JOB, run_id)
    else:
        campaign_store.want_report(unit, campaign_id, sent_at=now)
        unit.enqueue("report", campaign_id)
