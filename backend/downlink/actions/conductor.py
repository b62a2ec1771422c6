"""The tick: once a second, whatever is due is done. It keeps nothing in memory; PostgreSQL says what is due."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import dropwhile
from uuid import UUID, uuid4

import structlog

from downlink.actions.campaigns import cancellation
from downlink.actions.campaigns import triggers as firing
from downlink.actions.campaigns.states import complete_campaign
from downlink.actions.periodic import periodic_steps
from downlink.actions.runs import progress
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.line import Contender, decide_line
from downlink.domain.campaigns.run_size import run_bytes
from downlink.domain.errors import UnavailableError
from downlink.domain.links.link import Link
from downlink.domain.links.weather_source import WeatherSource
from downlink.domain.runs.budget import read_budget
from downlink.domain.runs.next_step import Wait, decide
from downlink.domain.runs.run import ACTIVE, Ending, Reason, RunState
from downlink.domain.runs.turn import Lease, LinkState, Miss, Turn
from downlink.domain.watch import CONDUCTOR
from downlink.storage import due, heartbeats
from downlink.storage.campaigns import campaign_store, line_store, trigger_store
from downlink.storage.links import link_store
from downlink.storage.results.reanalysis_store import JOB as REANALYSE
from downlink.storage.runs import active_runs, leases, plan_store, planned, run_store, volumes
from downlink.storage.runs.planned import Head, Queue
from downlink.storage.unit import READ_ONLY, Unit, UnitFactory, try_lock

RESEND = timedelta(seconds=30)
MAX_TRIES = 5
MOST_MISSED = 1_000  # in one pass
REPORT_PATIENCE = timedelta(minutes=15)  # a campaign that cannot be reported must end all the same
log = structlog.get_logger()


def tick(units: UnitFactory, now: datetime, source: WeatherSource | None = None) -> None:
    """One pass. Each step is a transaction of its own: a run that cannot go on does not stop the others.

    source: the weather service that an admin has named.
    """
    with units() as unit:
        pulses = heartbeats.find_pulses(unit)
        if heartbeats.beat(unit, CONDUCTOR, now, pulses).since == now:
            # The first pass after a break, or after the clock was set: what was noted before may be wrong now.
            active_runs.wake_active_runs(unit, now)
            planned.wake_all_links(unit)
        is_due_by_name = due.find_due(unit, now)
    periodic = periodic_steps(source)
    steps: list[tuple[bool, Callable[[], None]]] = [
        (is_due_by_name["runs"], partial(_advance_runs, units, now)),
        (is_due_by_name["triggers"], partial(_look_at_triggers, units, now)),
        (is_due_by_name["leases"], partial(_guarded, units, partial(lease_due, now=now))),
        (is_due_by_name["jobs"], partial(_guarded, units, partial(resend_lost, now=now))),
        (is_due_by_name["cancelled"], partial(_guarded, units, partial(cancellation.finish_cancelled, now=now))),
        *(
            (each.may_be_due(is_due_by_name, pulses, now), partial(_guarded, units, partial(each.take, now=now)))
            for each in periodic
        ),
    ]
    # A step that is taken may leave work for each one behind it.
    for _, take in dropwhile(lambda step: not step[0], steps):
        take()


def _advance_runs(units: UnitFactory, now: datetime) -> None:
    with units() as unit:
        ids = runs_with_a_step(unit, now)
    for run_id in ids:
        _guarded(units, partial(advance_run, run_id=run_id, now=now))


def _look_at_triggers(units: UnitFactory, now: datetime) -> None:
    with units() as unit:
        triggered = trigger_store.waiting_ids(unit)
    for campaign_id in triggered:
        _guarded(units, partial(firing.look, campaign_id=campaign_id, now=now))


def _guarded(units: UnitFactory, step: Callable[[Unit], None]) -> None:
    """One step. UnavailableError when the database has gone, and with it this process's turn, or takes no changes."""
    try:
        with units() as unit:
            step(unit)
    except UnavailableError as error:
        if error.code in ("database_away", READ_ONLY):
            raise
        log.warning("tick_step_skipped", code=error.code)
    except Exception:
        log.exception("tick_step_failed")


def runs_with_a_step(unit: Unit, now: datetime) -> list[UUID]:
    """Return the active runs that are due for a step; the others get a new moment to wait for."""
    turns = {
        run_id: decide(view, now)
        for run_id, view in active_runs.views(unit, active_runs.due_active_runs(unit, now), now).items()
    }
    active_runs.set_wakes(unit, {run_id: turn.until for run_id, turn in turns.items() if isinstance(turn, Wait)})
    return [run_id for run_id, turn in turns.items() if not isinstance(turn, Wait)]


def advance_run(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Let time pass for one run: deadlines and silences."""
    run = run_store.get_run(unit, run_id, is_locked=True)
    if run.state in ACTIVE and run.released_at is None:
        progress.advance(unit, run, now)


def lease_due(unit: Unit, now: datetime) -> None:
    """Start, per campaign and link, the next due run whose link, agents and hosts are free; mark what has missed its time."""
    if not try_lock(unit, leases.LOCK):
        return
    asked = planned.due_runs(unit, now)
    queues = {*asked.values(), *planned.queues_on(unit, planned.take_wakes(unit))}
    behind = planned.waiting_runs(unit, now) if queues else {}  # they may come before those that were asked for
    queues |= {queue for _, queue in behind.values()}
    held: Mapping[str, bool] = leases.held_resources(unit) if queues else {}
    wakes: dict[UUID, datetime | None] = dict.fromkeys(asked)  # a run that is no longer the first asks for nothing
    leased: dict[UUID, tuple[Contender, Lease]] = {}
    missed, most = 0, 1
    while queues and missed < MOST_MISSED:  # the others are looked at in the next pass
        heads = planned.take_heads(unit, queues, most)
        decided = _turns(heads, _contenders(unit, heads, now), held, now)
        held = decided.held
        leased |= {head.id: (each, turn) for head, each, turn in decided.turns if isinstance(turn, Lease)}
        waits = {head.id: turn.until for head, _, turn in decided.turns if isinstance(turn, Wait)}
        wakes |= {id_: until for id_, until in waits.items() if id_ not in behind or _is_earlier(until, behind[id_][0])}
        misses = [(head, turn) for head, _, turn in decided.turns if isinstance(turn, Miss)]
        _miss(unit, misses, now)
        queues, missed = decided.used_up, missed + len(misses)
        # Where one has missed its time others have, too. That it gave the link back now is what they find, however many they are.
        most = max(1, MOST_MISSED // max(1, len(queues)))
    active_runs.set_wakes(unit, wakes)
    if leased:
        _start(unit, leased, now)


@dataclass(frozen=True, slots=True)
class _Turns:
    """turns: of the first head of each queue, and of those behind a head that misses its time, up to one that does not.

    held: what runs hold, and what is kept free. used_up: the queues whose heads have all missed their time.
    """

    turns: list[tuple[Head, Contender, Turn]]
    held: Mapping[str, bool]
    used_up: set[Queue]


def _turns(heads: Sequence[Head], contenders: Sequence[Contender], held: Mapping[str, bool], now: datetime) -> _Turns:
    queues: dict[Queue, deque[int]] = defaultdict(deque)
    for number, head in enumerate(heads):
        queues[head.queue].append(number)
    turns: list[tuple[Head, Contender, Turn]] = []
    front = {queue.popleft() for queue in queues.values()}
    while front:
        places = sorted(front)
        line = decide_line([contenders[number] for number in places], held, now)
        held = line.held
        made = [(places[index], turn) for index, turn in line.turns]
        turns += [(heads[number], contenders[number], turn) for number, turn in made]
        behind = [queues[heads[number].queue] for number, turn in made if isinstance(turn, Miss)]
        front = {queue.popleft() for queue in behind if queue}
    ends = {head.queue: turn for head, _, turn in turns}
    return _Turns(turns, held, {queue for queue, turn in ends.items() if isinstance(turn, Miss)})


def _miss(unit: Unit, misses: Sequence[tuple[Head, Miss]], now: datetime) -> None:
    endings: dict[UUID, dict[UUID, Ending]] = defaultdict(dict)
    for head, miss in misses:
        endings[head.queue[0]][head.id] = Ending(RunState.MISSED, miss.reason, miss.detail)
    for campaign_id, of_campaign in endings.items():
        progress.end_planned(unit, campaign_id, of_campaign, now)


def _is_earlier(until: datetime | None, known: datetime) -> bool:
    return until is not None and until < known


def _contenders(unit: Unit, heads: Sequence[Head], now: datetime) -> list[Contender]:
    """Return what each head finds on its link, in their order."""
    campaigns = planned.find_campaigns(unit, {head.queue[0] for head in heads})
    specs = {id_: campaign_store.campaign_of(row) for id_, row in campaigns.items()}
    names = {head.turn.link for head in heads}
    agents = planned.agent_views(unit, {name for head in heads for name in head.turn.agents})
    last_ends, shares = planned.last_ends(unit, names), line_store.find_shares(unit, names)
    cycle_ends = planned.earlier_cycle_ends(
        unit, [head.id for head in heads if specs[head.queue[0]].timetable.pause_s > 0]
    )
    limited = {id_: spec for id_, spec in specs.items() if spec.limits.bytes is not None}
    used, opened, beside = volumes.used_bytes(unit, limited), *_reserved(unit, limited)
    allowances = link_store.allowances(unit, names, now)
    # What a run may carry matters where something limits it.
    known = link_store.domain_links(
        unit, {head.turn.link for head in heads if head.queue[0] in limited} | allowances.keys()
    )
    zones = link_store.zones(unit, {head.turn.link for head in heads if specs[head.queue[0]].timetable.hours})
    since = heartbeats.find_watched_since(unit, now)

    def contender(head: Head) -> Contender:
        campaign_id, link = head.queue
        spec = specs[campaign_id]
        state = LinkState(
            held={},
            agents=agents,
            watched_since=since,
            resumed_at=campaigns[campaign_id].resumed_at,
            last_end_at=last_ends.get(link),
            earlier_cycles_end_at=cycle_ends.get(head.id),
            used_bytes=used.get(campaign_id, 0),
            open_bytes=opened.get(campaign_id, 0),
            beside=beside.get(campaign_id, {}),
            allowance=allowances.get(link),
            openings=spec.timetable.openings(zones.get(link)),
        )
        run = replace(head.turn, most_bytes=_most_bytes(spec, known.get(link), head.condition))
        share = shares.of(head.queue).after(shares.link_s(link), run.expected_s, spec.weight)
        return Contender(campaign_id, run, spec, state, share)

    return [contender(head) for head in heads]


def _reserved(
    unit: Unit, limited: Mapping[UUID, Campaign]
) -> tuple[Mapping[UUID, int], Mapping[UUID, Mapping[str, int]]]:
    """Return for campaigns with a limit: what their runs under way may still carry, and what one on each other link may take."""
    under_way = planned.runs_under_way(unit, limited)
    waiting = planned.waiting_queues(unit, [(id_, link) for id_, spec in limited.items() for link in spec.links])
    known = link_store.domain_links(unit, {link for spec in limited.values() for link in spec.links})
    opened: dict[UUID, int] = defaultdict(int)
    for each in under_way:
        budget = read_budget(each.budget)
        most = budget.bytes if budget else _most_bytes(limited[each.campaign_id], known.get(each.link), each.condition)
        opened[each.campaign_id] += max(0, most - each.carried_bytes)
    held = {(each.campaign_id, each.link) for each in under_way}
    beside: dict[UUID, dict[str, int]] = defaultdict(dict)
    for campaign_id, link in waiting:
        if (campaign_id, link) not in held and (there := known.get(link)):
            conditions = limited[campaign_id].conditions
            beside[campaign_id][link] = max(run_bytes(condition, there) for condition in conditions)
    return opened, beside


def _most_bytes(campaign: Campaign, link: Link | None, condition: str) -> int:
    """Return the most bytes that a run may carry, as far as that is known before it; 0 if it is not."""
    plan = next((each for each in campaign.conditions if each.name == condition), None)
    return run_bytes(plan, link) if plan and link else 0


def _start(unit: Unit, leased: Mapping[UUID, tuple[Contender, Lease]], now: datetime) -> None:
    """Lease these runs, and look in the next pass at what comes behind each."""
    is_taken = leases.take(unit, {run_id: turn.claims for run_id, (_, turn) in leased.items()})
    for run in run_store.get_runs(unit, leased):
        planned.wake_links(unit, [run.link])
        if is_taken:
            progress.set_state(unit, run, RunState.LEASED, now)
            run.wake_at, run.lease = now, uuid4().hex
            budget = leased[run.id][1].budget
            run.budget = asdict(budget) if budget else None
            line_store.note_share(unit, (run.campaign_id, run.link), leased[run.id][0].share)
    if not is_taken:
        log.error("leases_refused", runs=[str(run_id) for run_id in leased])


def resend_lost(unit: Unit, now: datetime) -> None:
    """Send the jobs that are due and were lost or never sent; end a run whose job fails again and again."""
    for run in active_runs.lost_jobs(unit, now, RESEND):
        if run.tries >= MAX_TRIES and run.needs == REANALYSE:
            log.error("reanalysis_given_up", run_id=str(run.id))  # its older numbers stay, with their version
            progress.reanalysed(unit, [run], now)
        elif run.tries >= MAX_TRIES:
            state = RunState(run.verdict) if run.verdict else RunState.INCOMPLETE
            detail = f"Its samples are stored, but `{run.needs}` failed {MAX_TRIES} times; the worker's log says why."
            progress.finish(unit, run, state, now, run.reason or Reason.INTERNAL, run.detail or detail)
        else:
            run.needs_sent_at = now
            unit.enqueue(str(run.needs), run.id)
    for campaign in campaign_store.stale_reports(unit, now, RESEND):
        campaign.report_sent_at = now
        unit.enqueue("report", campaign.id)
        ended_at = plan_store.last_end_in_campaign(unit, campaign.id)
        if campaign.ended_at is None and ended_at and ended_at < now - REPORT_PATIENCE:
            log.error("report_overdue", campaign_id=str(campaign.id))
            complete_campaign(unit, campaign.id, now)
