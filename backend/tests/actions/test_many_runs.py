"""What is done to many runs of a campaign at once leaves what it would leave run by run, with as few statements as for few runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import event, text

from downlink.actions import conductor
from downlink.actions.campaigns import campaigns, cancellation, reruns
from downlink.actions.campaigns.states import set_state
from downlink.actions.runs import progress
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.runs.run import ACTIVE, Ending, Reason, RunState
from downlink.stack.process import wait_until
from downlink.storage.campaigns.campaign_store import find_campaign
from downlink.storage.runs import plan_store, planned, run_store
from downlink.storage.unit import Unit, UnitFactory
from downlink.views.results.tables import TableName, campaign_csv
from tests.actions.test_faults import ONE, pair
from tests.actions.test_reruns import fail_first
from tests.fixtures.lab import CAMPAIGN, Lab

pytestmark = pytest.mark.sampled("faults")

TABLES = ("runs", "run_flows", "run_hosts", "leases", "campaigns", "events", "wakes", "link_shares", "notifications")
OTHERWISE = {
    "events": "to_jsonb(events) - 'id' - 'xact'",
    "wakes": "DISTINCT to_jsonb(link)",
    "campaigns": "to_jsonb(campaigns) || jsonb_build_object('report_wanted', report_wanted > 0)",
}
"""Numbers that say nothing but how often something was written."""
LATE_CYCLES = "UPDATE runs SET cycle = cycle + 125"
HOPS = "UPDATE runs SET hop_secret = id::text WHERE position = 1"
ENDINGS = (
    Ending(RunState.CANCELLED, Reason.PRECISE_ENOUGH, "Not needed."),
    Ending(RunState.MISSED, Reason.OVER_BUDGET, "Nothing is left."),
)


class UndoneError(Exception):
    """Nothing of a unit stays."""


def left_by(lab: Lab, work: Callable[[Unit], object]) -> dict[str, list[Any]]:
    """What the tables hold after the work, which is then undone."""
    found: dict[str, list[Any]] = {}
    with suppress(UndoneError), lab.units() as unit:
        work(unit)
        unit.session.flush()
        for table in TABLES:
            shown = OTHERWISE.get(table, f"to_jsonb({table})")
            held = unit.session.scalars(text(f"SELECT {shown} FROM {table}"))  # noqa: S608 - names of this file
            found[table] = sorted(map(repr, held))
        raise UndoneError
    return found


def many_kinds(lab: Lab) -> UUID:
    """A campaign on two links, with a failed run, one under way and planned ones, in cycles of which not each makes a report."""
    agents = pair(lab)
    lab.link("leo")
    campaign = lab.launch(links=["geo", "leo"], timetable={"cycles": 7, "order": "shuffled"})
    fail_first(lab, campaign, agents)
    for _ in range(40):
        lab.turn(agents)
        if any(run["state"] in ACTIVE for run in lab.runs(campaign)):
            break
    states = {run["state"] for run in lab.runs(campaign)}
    assert states & ACTIVE
    assert states >= {"failed", "planned"}
    with lab.units() as unit:
        unit.session.execute(text(LATE_CYCLES))
        unit.session.execute(text(HOPS))
    return UUID(campaign)


def test_a_campaign_is_cancelled_as_if_its_runs_were_stopped_one_by_one(lab: Lab) -> None:
    campaign, now = many_kinds(lab), lab.now()

    def one_by_one(unit: Unit) -> None:
        unfinished = list(plan_store.lock_unfinished(unit, campaign))
        row = find_campaign(unit, campaign, is_locked=True)
        row.ended_at = now
        set_state(unit, row, CampaignState.CANCELLED, now)
        for run_id in unfinished:
            progress.stop(unit, run_store.get_run(unit, run_id, is_locked=True), now)

    before = left_by(lab, lambda _: None)
    expected = left_by(lab, one_by_one)
    assert expected["runs"] != before["runs"]
    assert left_by(lab, lambda unit: campaigns.cancel_campaign(unit, campaign, now)) == expected


def test_of_very_many_planned_runs_the_tick_ends_the_rest(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = many_kinds(lab)
    monkeypatch.setattr(cancellation, "CANCELLED_AT_ONCE", 3)
    answer = lab.call("POST", f"/campaigns/{campaign}/cancel")
    assert (answer["state"], answer["counts"]["cancelled"]) == ("cancelled", 3)
    left = answer["counts"]["planned"]
    lab.tick()
    assert lab.call("GET", f"/campaigns/{campaign}")["counts"]["planned"] == left - 3
    for _ in range(left // 3):
        lab.tick()
    assert lab.call("GET", f"/campaigns/{campaign}")["counts"]["planned"] == 0
    with lab.units() as unit:
        assert plan_store.left_of_cancelled(unit) == []


def test_a_run_that_began_while_its_campaign_was_cancelled_is_stopped(lab: Lab) -> None:
    campaign = many_kinds(lab)
    with lab.units() as unit:
        unit.session.execute(text("UPDATE campaigns SET state = 'cancelled', ended_at = now()"))
    lab.tick()
    assert {run["reason"] for run in lab.runs(str(campaign)) if run["state"] in ACTIVE} <= {"cancelled"}
    assert lab.call("GET", f"/campaigns/{campaign}")["counts"]["planned"] == 0


def test_some_planned_runs_end_at_once_as_they_would_one_by_one(lab: Lab) -> None:
    """The cycles that this closes want a report, or not."""
    campaign, now, draw = many_kinds(lab), lab.now(), random.Random(1)
    with lab.units() as unit:
        states = plan_store.lock_unfinished(unit, campaign)
    waiting = [run_id for run_id, state in states.items() if state is RunState.PLANNED]
    reports = set()
    for some in (waiting, *(draw.sample(waiting, draw.randint(1, len(waiting))) for _ in range(25))):
        ending = draw.choice(ENDINGS)

        def one_by_one(unit: Unit, some: Sequence[UUID] = some, ending: Ending = ending) -> None:
            for run_id in some:
                run = run_store.get_run(unit, run_id, is_locked=True)
                progress.finish(unit, run, ending.state, now, ending.reason, ending.detail)

        def at_once(unit: Unit, some: Sequence[UUID] = some, ending: Ending = ending) -> None:
            plan_store.lock_unfinished(unit, campaign)
            progress.end_planned(unit, campaign, dict.fromkeys(some, ending), now)

        found = left_by(lab, at_once)
        assert found == left_by(lab, one_by_one)
        reports.add(*found["campaigns"])
    assert len(reports) == 2, "some wanted a report, others none"


@contextmanager
def counted(units: UnitFactory) -> Iterator[list[str]]:
    """The statements that reach the database."""
    said: list[str] = []

    def note(*call: Any) -> None:
        said.append(call[2])

    event.listen(units.engine, "before_cursor_execute", note)
    yield said
    event.remove(units.engine, "before_cursor_execute", note)


def launch(lab: Lab, campaign: UUID) -> None:
    with lab.units() as unit:
        campaigns.launch_campaign(unit, campaign, lab.now(), even_if_offline=True)


def cancel(lab: Lab, campaign: UUID) -> None:
    with lab.units() as unit:
        campaigns.cancel_campaign(unit, campaign, lab.now())


def rerun(lab: Lab, campaign: UUID) -> None:
    with lab.units() as unit:
        reruns.rerun_campaign(unit, campaign, lab.now())


def table(name: TableName) -> Callable[[Lab, UUID], None]:
    def read(lab: Lab, campaign: UUID) -> None:
        _, pieces = campaign_csv(lab.units, campaign, name)
        assert b"".join(pieces)

    return read


@pytest.mark.parametrize(
    ("work", "state"),
    [(launch, ""), (cancel, "planned"), (rerun, "missed"), (table("runs"), "planned"), (table("series"), "planned")],
    ids=["launch", "cancel", "rerun", "runs.csv", "series.csv"],
)
def test_more_runs_take_no_more_statements(lab: Lab, work: Callable[[Lab, UUID], None], state: str) -> None:
    """state: of each run before that; empty for no runs."""
    pair(lab)
    taken = []
    for cycles in (3, 60):
        campaign = UUID(draft(lab, cycles=cycles))
        if state:
            launch(lab, campaign)
            with lab.units() as unit:
                unit.session.execute(text(SET_STATE), {"state": state, "campaign": campaign})
        with counted(lab.units) as said:
            work(lab, campaign)
        taken.append(len(said))
    assert taken[0] == taken[1] > 0


SET_STATE = "UPDATE runs SET state = :state WHERE campaign_id = :campaign"


def draft(lab: Lab, **timetable: Any) -> str:
    file = {**CAMPAIGN, "timetable": timetable}
    return str(lab.call("POST", "/campaigns", {"campaign": file})["id"])


@pytest.mark.parametrize("name", ["runs", "series", "metrics"])
def test_a_table_has_each_run_once_and_in_the_order_of_the_plan(lab: Lab, name: TableName) -> None:
    """Complete ones, of which few are read at once, among planned ones."""
    agents = pair(lab)
    campaign = lab.launch(timetable={"cycles": 4})
    while [run["state"] for run in lab.runs(campaign)].count("complete") < 3:
        lab.turn(agents)
    ids = [run["id"] for run in lab.runs(campaign)]
    lines = lab.call("GET", f"/campaigns/{campaign}/{name}.csv").splitlines()[1:]
    assert list(dict.fromkeys(line.split(",")[0] for line in lines)) == ids
    assert len({line for line in lines if ",complete," in line}) >= 3


def test_an_attempt_that_is_planned_while_a_campaign_is_being_cancelled_is_cancelled_too(lab: Lab) -> None:
    """A run fails, and is to be tried again, in a transaction that ends when the cancelling one waits for it."""
    pair(lab)
    campaign = UUID(lab.launch(**ONE, limits={"attempts": 2}))
    with lab.units() as unit:
        unit.session.execute(text(UPLOADING))
    with ThreadPoolExecutor(1) as other, lab.units() as unit:
        (run_id,) = unit.session.scalars(text("SELECT id FROM runs"))
        run = run_store.get_run(unit, run_id, is_locked=True)
        progress.finish(unit, run, RunState.FAILED, lab.now(), Reason.LINK_LOST, "Lost.")
        cancelled = other.submit(cancel, lab, campaign)
        assert wait_until(lambda: is_waited_for(lab), 10)
        unit.session.commit()
        cancelled.result()
    found = [(run["attempt"], run["state"]) for run in lab.runs(str(campaign))]
    assert sorted(found) == [(1, "failed"), (2, "cancelled")]


UPLOADING = "UPDATE runs SET state = 'uploading', released_at = now()"
WAITING = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')"


def is_waited_for(lab: Lab) -> bool:
    with lab.units() as unit:
        return bool(unit.session.scalar(text(WAITING)))


def missed_by(lab: Lab, at_once: int, now: datetime) -> dict[str, list[Any]]:
    """What a pass of the conductor leaves that takes so many heads of a queue at most."""

    def work(unit: Unit) -> None:
        with pytest.MonkeyPatch.context() as patch:
            take = planned.take_heads
            patch.setattr(planned, "take_heads", lambda unit, queues, most: take(unit, queues, min(most, at_once)))
            conductor.lease_due(unit, now)

    return left_by(lab, work)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"timetable": {"every_s": 240, "duration_h": 1}}, "agent_lost"),
        ({"timetable": {"cycles": 9, "pause_s": 60}, "limits": {"bytes": 1}}, "over_budget"),
        ({"timetable": {"cycles": 9, "pause_s": 60}}, "agent_lost"),
    ],
    ids=["spaced", "over budget", "in turn"],
)
def test_runs_that_miss_their_time_together_are_missed_as_one_after_the_other(
    lab: Lab, changes: dict[str, Any], why: str
) -> None:
    """On two links, of two campaigns; of a campaign in turn the next run still has its hour."""
    pair(lab)
    lab.link("leo")
    for _ in range(2):
        lab.launch(links=["geo", "leo"], **changes)
    lab.stop_clock()
    lab.tick()
    lab.wait(4 * 3600)
    now = lab.now()
    expected = missed_by(lab, 1, now)
    assert sum(f"'reason': '{why}'" in row for row in expected["runs"]) >= 2, expected["runs"][:3]
    assert missed_by(lab, 1_000, now) == expected


def test_more_missed_runs_take_no_more_statements(lab: Lab) -> None:
    pair(lab)
    taken = []
    for hours in (1, 2):
        campaign = UUID(draft(lab, every_s=120, duration_h=hours))
        launch(lab, campaign)
        lab.wait(4 * 3600)
        with counted(lab.units) as said, lab.units() as unit:
            planned.wake_all_links(unit)
            conductor.lease_due(unit, lab.now())
        taken.append(len(said))
        assert {run["state"] for run in lab.runs(str(campaign))} == {"missed"}
    assert taken[0] == taken[1]
