"""Runs that failed are run again by hand, in their places; a single run is cancelled and run again."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from downlink.actions.campaigns.reruns import rerun_run
from downlink.actions.runs.progress import finish
from downlink.domain.errors import ConflictError
from downlink.domain.runs.run import RunState
from downlink.storage.runs.run_store import get_run
from tests.actions.test_faults import pair
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults")

REFUSED = {"reason": "cc_unavailable", "detail": "There is no such control."}
PLACE = ("link", "condition", "cycle", "position")


def fail_first(lab: Lab, campaign: str, agents: tuple[ScriptedAgent, ScriptedAgent]) -> dict[str, Any]:
    """Its first run has failed, for a reason after which nothing is tried again by itself."""
    agents[1].fails_with = REFUSED
    for _ in range(40):
        lab.tick()
        for agent in agents:
            agent.act()
        if found := [run for run in lab.runs(campaign) if run["state"] == "failed"]:
            agents[1].fails_with = None
            return found[0]
    raise AssertionError(lab.runs(campaign))


def ended_with_failures(lab: Lab, agents: tuple[ScriptedAgent, ScriptedAgent], **changes: Any) -> str:
    """A campaign whose first run failed for good; the others are complete."""
    campaign = lab.launch(**changes)
    fail_first(lab, campaign, agents)
    lab.drive(campaign, list(agents))
    assert [run["state"] for run in lab.runs(campaign)].count("failed") == 1
    return campaign


def codes(lab: Lab, path: str, expect: int) -> str:
    return str(lab.call("POST", path, expect=expect)["code"])


def test_a_complete_campaign_runs_again_what_failed_and_its_report_has_all_of_it(lab: Lab) -> None:
    agents = pair(lab)
    campaign = ended_with_failures(lab, agents, timetable={"cycles": 2})
    failed, *_ = before = lab.runs(campaign)
    ended_at = lab.call("GET", f"/campaigns/{campaign}")["ended_at"]
    answer = lab.call("POST", f"/campaigns/{campaign}/rerun")
    assert (answer["runs"], answer["campaign"]["state"], answer["campaign"]["ended_at"]) == (1, "running", None)
    new = next(run for run in lab.runs(campaign) if run["attempt"] == 2)
    assert {key: new[key] for key in PLACE} == {key: failed[key] for key in PLACE}
    events = lab.call("GET", f"/runs/{new['id']}")["events"]
    assert [event["detail"] for event in events] == ["Run again by hand (attempt 2)."]
    after = lab.drive(campaign, list(agents))
    assert lab.call("GET", f"/campaigns/{campaign}")["ended_at"] > ended_at
    assert {run["id"]: run["state"] for run in after} == {
        **{run["id"]: run["state"] for run in before},
        new["id"]: "complete",
    }, "the run that failed stays as it was"
    groups = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    assert [(group["condition"], group["runs"]) for group in groups] == [("on", 2), ("off", 2)]
    comparisons = lab.call("GET", f"/campaigns/{campaign}/statistics")["comparisons"]
    assert {one["difference"]["n"] for one in comparisons if one["metric"] == "throughput_bps"} == {2}, "by cycle"


def test_reruns_at_even_spacing_come_behind_the_plan(lab: Lab) -> None:
    agents = pair(lab)
    campaign = lab.launch(timetable={"duration_h": 0.05, "every_s": 45})
    failed = fail_first(lab, campaign, agents)
    planned = [run["due_at"] for run in lab.runs(campaign)]
    new = lab.call("POST", f"/runs/{failed['id']}/rerun", expect=201)
    assert new["due_at"] > max(planned)
    runs = lab.drive(campaign, list(agents), rounds=400)
    assert [run["state"] for run in runs].count("complete") == len(planned)
    assert runs[-1]["id"] == new["id"]


def test_a_pause_moves_a_rerun_to_the_moment_of_going_on(lab: Lab) -> None:
    agents = pair(lab)
    campaign = lab.launch(timetable={"cycles": 2})
    fail_first(lab, campaign, agents)
    lab.call("POST", f"/campaigns/{campaign}/pause")
    lab.wait(5000)
    assert lab.call("POST", f"/campaigns/{campaign}/rerun")["campaign"]["state"] == "paused"
    lab.call("POST", f"/campaigns/{campaign}/resume")
    new = next(run for run in lab.runs(campaign) if run["attempt"] == 2)
    assert new["due_at"] <= lab.now().isoformat()
    states = [run["state"] for run in lab.drive(campaign, list(agents))]
    assert (states.count("complete"), states.count("failed")) == (4, 1)


def test_a_single_run_is_cancelled_and_run_again(lab: Lab) -> None:
    agents = pair(lab)
    campaign = lab.launch()
    first, second = lab.runs(campaign)
    assert codes(lab, f"/runs/{first['id']}/rerun", 409) == "run_not_repeatable"
    assert lab.call("POST", f"/runs/{second['id']}/cancel")["state"] == "cancelled"
    runs = lab.drive(campaign, list(agents))
    assert [(run["state"], run["reason"]) for run in runs] == [("complete", None), ("cancelled", "cancelled")]
    assert codes(lab, f"/campaigns/{campaign}/rerun", 409) == "nothing_to_rerun", "somebody wanted it so"
    assert codes(lab, f"/runs/{first['id']}/rerun", 409) == "run_not_repeatable"
    new = lab.call("POST", f"/runs/{second['id']}/rerun", expect=201)
    assert (new["attempt"], new["state"]) == (2, "planned")
    assert codes(lab, f"/runs/{second['id']}/rerun", 409) == "run_repeated"
    assert sorted(run["state"] for run in lab.drive(campaign, list(agents))) == ["cancelled", "complete", "complete"]


def test_a_rerun_is_tried_once_where_its_attempts_are_used_up(lab: Lab) -> None:
    agents = pair(lab)
    campaign = ended_with_failures(lab, agents, limits={"attempts": 1})
    for attempt in (2, 3):
        lab.call("POST", f"/campaigns/{campaign}/rerun")
        agents[1].fails_with = {"reason": "port_failed", "detail": "Its port is taken."}
        lab.drive(campaign, list(agents))
        last = max(lab.runs(campaign), key=lambda run: run["attempt"])
        assert (last["attempt"], last["state"], last["reason"]) == (attempt, "failed", "port_failed")


def test_what_cannot_run_again_says_so(lab: Lab) -> None:
    agents = pair(lab)
    cancelled = lab.launch()
    run = lab.runs(cancelled)[0]
    lab.call("POST", f"/campaigns/{cancelled}/cancel")
    assert codes(lab, f"/campaigns/{cancelled}/rerun", 409) == "campaign_state"
    assert codes(lab, f"/runs/{run['id']}/rerun", 409) == "campaign_state"
    campaign = ended_with_failures(lab, agents)
    agent = next(agent for agent in lab.call("GET", "/agents")["items"] if agent["name"] == "server")
    lab.call("DELETE", f"/agents/{agent['id']}")
    assert codes(lab, f"/campaigns/{campaign}/rerun", 409) == "agent_missing"
    lab.call("DELETE", f"/links/{lab.call('GET', '/links')['items'][0]['id']}")
    assert codes(lab, f"/campaigns/{campaign}/rerun", 409) == "link_missing"
    with lab.units() as unit:
        unit.session.execute(text("UPDATE campaigns SET origin = 'recorded'"))
    assert codes(lab, f"/campaigns/{campaign}/rerun", 409) == "campaign_not_measured"
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete", "nothing was changed by what was refused"


def test_two_who_ask_at_once_make_one_new_attempt(lab: Lab) -> None:
    campaign = ended_with_failures(lab, pair(lab))
    with ThreadPoolExecutor(2) as people:
        headers = {"Authorization": f"Bearer {lab.token}"}
        path = f"/api/v1/campaigns/{campaign}/rerun"
        answers = list(people.map(lambda _: lab.client.post(path, headers=headers), range(2)))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert sorted(run["attempt"] for run in lab.runs(campaign)) == [1, 1, 2]


def test_a_place_whose_earlier_attempt_came_through_after_all_is_not_measured_twice(lab: Lab) -> None:
    """Its samples came late; the attempt that was to replace it was no longer needed."""
    campaign = ended_with_failures(lab, pair(lab))
    failed = next(run for run in lab.runs(campaign) if run["state"] == "failed")
    lab.call("POST", f"/runs/{failed['id']}/rerun", expect=201)
    second = next(run for run in lab.runs(campaign) if run["attempt"] == 2)
    lab.call("POST", f"/runs/{second['id']}/cancel")
    assert lab.call("GET", f"/runs/{second['id']}")["is_repeatable"]
    with lab.units() as unit:
        unit.session.execute(text("UPDATE runs SET state = 'complete' WHERE id = :id"), {"id": failed["id"]})
    assert not lab.call("GET", f"/runs/{second['id']}")["is_repeatable"]
    assert codes(lab, f"/runs/{second['id']}/rerun", 409) == "run_repeated"
    with lab.units() as unit:
        unit.session.execute(text("UPDATE runs SET state = 'missed' WHERE id = :id"), {"id": second["id"]})
    assert codes(lab, f"/campaigns/{campaign}/rerun", 409) == "nothing_to_rerun"


@pytest.fixture
def given_up(lab: Lab) -> tuple[UUID, UUID]:
    """The two attempts at a place: the first failed, the second, which was to replace it, was cancelled."""
    campaign = ended_with_failures(lab, pair(lab))
    first = next(run for run in lab.runs(campaign) if run["state"] == "failed")
    second = lab.call("POST", f"/runs/{first['id']}/rerun", expect=201)
    lab.call("POST", f"/runs/{second['id']}/cancel")
    return UUID(first["id"]), UUID(second["id"])


def come_through(lab: Lab, run_id: UUID) -> None:
    """The rest of its samples has come: it is complete after all."""
    with lab.units() as unit:
        finish(unit, get_run(unit, run_id, is_locked=True), RunState.COMPLETE, lab.now(), None, None)


def await_waiting_for_lock(lab: Lab) -> None:
    """Until somebody waits for a lock that another transaction holds."""
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    while True:
        with lab.units() as unit:
            if unit.session.scalar(waiting):
                return
        time.sleep(0.01)


def attempts(lab: Lab, run_id: UUID) -> list[str]:
    campaign = lab.call("GET", f"/runs/{run_id}")["campaign_id"]
    place = {key: lab.call("GET", f"/runs/{run_id}")[key] for key in PLACE}
    found = [run for run in lab.runs(campaign) if {key: run[key] for key in PLACE} == place]
    return [run["state"] for run in sorted(found, key=lambda run: run["attempt"])]


def test_a_run_that_comes_through_while_its_place_is_run_again_takes_the_place_alone(
    lab: Lab, given_up: tuple[UUID, UUID]
) -> None:
    first, second = given_up
    with ThreadPoolExecutor(1) as worker:
        with lab.units() as unit:
            rerun_run(unit, second, lab.now())
            unit.session.flush()
            late = worker.submit(come_through, lab, first)
            await_waiting_for_lock(lab)
        late.result()
    assert attempts(lab, first) == ["complete", "cancelled", "cancelled"], "the new attempt is no longer needed"


def test_a_place_is_not_run_again_while_an_earlier_attempt_comes_through(lab: Lab, given_up: tuple[UUID, UUID]) -> None:
    first, second = given_up

    def again() -> None:
        with lab.units() as unit:
            rerun_run(unit, second, lab.now())

    with ThreadPoolExecutor(1) as worker:
        with lab.units() as unit:
            finish(unit, get_run(unit, first, is_locked=True), RunState.COMPLETE, lab.now(), None, None)
            unit.session.flush()
            rerun = worker.submit(again)
            await_waiting_for_lock(lab)
        with pytest.raises(ConflictError, match="taken this run's place"):
            rerun.result()
    assert attempts(lab, first) == ["complete", "cancelled"]
