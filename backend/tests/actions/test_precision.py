"""A campaign that goes on until its means are known exactly enough: when it ends, and what it leaves as it is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from downlink.actions.campaigns import precision
from downlink.actions.results.reports import refresh_report
from tests.actions.test_faults import ONE, pair
from tests.fixtures.lab import CAMPAIGN, Lab
from tests.fixtures.scripted_agent import RttOfRuns, ScriptedAgent

pytestmark = pytest.mark.sampled("faults")

REFUSED = {"reason": "cc_unavailable", "detail": "There is no such control."}
UNTIL = {"metric": "rtt_ms", "phase": "steady", "half_width_percent": 10, "most_cycles": 7}
SHORT = {"stop": {"seconds": 3}, "phases": {"startup_s": 1, "steady_s": 1}, "timetable": {"order": "interleaved"}}
ASKED = {**SHORT, **ONE, "until": UNTIL}
NEAR = [600, 590, 610, 595, 605, 600, 600]
FAR = [200, 900, 300, 1200, 100, 800, 1500]


def detail(lab: Lab, campaign: str) -> dict[str, Any]:
    found: dict[str, Any] = lab.call("GET", f"/campaigns/{campaign}")
    return found


def ends(lab: Lab, campaign: str) -> list[tuple[int, str, str | None]]:
    return [(run["cycle"], run["state"], run["reason"]) for run in lab.runs(campaign)]


def turns(lab: Lab, campaign: str, agents: tuple[ScriptedAgent, ...], complete: int) -> None:
    """Until so many of its runs are complete."""
    for _ in range(200):
        lab.turn(agents)
        if [state for _, state, _ in ends(lab, campaign)].count("complete") >= complete:
            return
    raise AssertionError(ends(lab, campaign))


def test_it_ends_when_it_is_known_exactly_enough(lab: Lab) -> None:
    agents = client, server = pair(lab)
    server.draws = RttOfRuns(NEAR)
    campaign = lab.launch(**ASKED)
    assert detail(lab, campaign)["runs_total"] == 7
    turns(lab, campaign, agents, 2)
    found = detail(lab, campaign)["precision"]
    assert found["asked"] == {**UNTIL, "flow": 1}
    assert (found["cycles"], found["ended"]) == (2, None)
    assert [(each["runs"], each["half_width_percent"]) for each in found["widths"]] == [(2, None)]
    runs = lab.drive(campaign, [client, server])
    # Five runs are ± 5 % already; below five a sequence is without end.
    assert [run["cycle"] for run in runs if run["state"] == "complete"] == [1, 2, 3, 4, 5]
    dropped = [run for run in runs if run["cycle"] > 5]
    assert [(run["state"], run["reason"]) for run in dropped] == [("cancelled", "precise_enough")] * 2
    assert "as narrow as the campaign asks" in dropped[0]["detail"]
    after = detail(lab, campaign)
    assert (after["state"], after["runs_total"], after["runs_ended"]) == ("complete", 5, 5)
    found = after["precision"]
    assert (found["cycles"], found["ended"]) == (5, "precise_enough")
    (width,) = found["widths"]
    assert (width["runs"], width["mean"], width["is_narrow"]) == (5, 600, True)
    assert width["half_width_percent"] == pytest.approx(100 * width["half_width"] / 600)
    assert 4 < width["half_width_percent"] <= 5.1
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert report["is_current"]
    assert [group["runs"] for group in report["groups"]] == [5]


def test_one_condition_that_varies_keeps_the_others_going_up_to_the_most(lab: Lab) -> None:
    client, server = pair(lab)
    server.draws = RttOfRuns([rtt for each in zip(NEAR, FAR, strict=True) for rtt in each])
    asked = {**UNTIL, "most_cycles": 6}
    campaign = lab.launch(**SHORT, until=asked)
    runs = lab.drive(campaign, [client, server], rounds=400)
    assert [run["state"] for run in runs] == ["complete"] * 12
    found = detail(lab, campaign)["precision"]
    assert (found["cycles"], found["ended"]) == (6, "most_cycles")
    assert [width["is_narrow"] for width in found["widths"]] == [True, False]


def test_a_metric_whose_mean_is_zero_goes_on_to_the_most(lab: Lab) -> None:
    client, server = pair(lab)
    asked = {**UNTIL, "metric": "retransmission_percent", "most_cycles": 6}
    campaign = lab.launch(**{**ASKED, "until": asked})
    runs = lab.drive(campaign, [client, server])
    assert [run["state"] for run in runs] == ["complete"] * 6
    (width,) = detail(lab, campaign)["precision"]["widths"]
    assert (width["mean"], width["half_width"], width["half_width_percent"]) == (0, 0, None)


def test_a_cycle_that_has_begun_is_finished_and_looks_may_be_repeated(lab: Lab) -> None:
    """The means are known after the fifth cycle, but its report comes when the sixth, of two conditions, has begun."""
    agents = pair(lab)
    campaign = lab.launch(**SHORT, until=UNTIL)
    for _ in range(200):
        lab.tick()
        for agent in agents:
            agent.act()
        while lab.work(lost="report"):
            pass
        lab.wait(1)
        if any(cycle == 6 and state != "planned" for cycle, state, _ in ends(lab, campaign)):
            break
    for _ in range(3):
        with lab.units() as unit:
            precision.look(unit, UUID(campaign), lab.now())
    found = ends(lab, campaign)
    assert [state for cycle, state, _ in found if cycle == 6][1] == "planned"
    assert [(state, reason) for cycle, state, reason in found if cycle > 6] == [("cancelled", "precise_enough")] * 2
    runs = lab.drive(campaign, list(agents))
    assert [run["cycle"] for run in runs if run["state"] == "complete"] == sorted([*range(1, 7)] * 2)
    with lab.units() as unit:
        refresh_report(unit, UUID(campaign), lab.now())
    assert detail(lab, campaign)["state"] == "complete"
    assert lab.runs(campaign) == runs


def test_a_paused_campaign_ends_when_the_report_of_its_last_run_says_so(lab: Lab) -> None:
    agents = pair(lab)
    campaign = lab.launch(**ASKED)
    turns(lab, campaign, agents, 4)
    for _ in range(60):
        lab.tick()
        if [state for _, state, _ in ends(lab, campaign)].count("planned") == 2:
            break
        for agent in agents:
            agent.act()
        lab.wait(1)
    else:
        raise AssertionError(ends(lab, campaign))
    lab.call("POST", f"/campaigns/{campaign}/pause")
    lab.drive(campaign, list(agents))
    assert detail(lab, campaign)["precision"]["ended"] == "precise_enough"
    assert [state for _, state, _ in ends(lab, campaign)].count("complete") == 5


def test_a_failed_run_takes_a_cycle_more_and_may_be_run_again_after_the_end(lab: Lab) -> None:
    agents = client, server = pair(lab)
    campaign = lab.launch(**ASKED)
    server.fails_with = REFUSED
    for _ in range(40):
        lab.tick()
        for agent in agents:
            agent.act()
        if "failed" in [state for _, state, _ in ends(lab, campaign)]:
            break
        lab.wait(1)
    else:
        raise AssertionError(ends(lab, campaign))
    server.fails_with = None
    runs = lab.drive(campaign, [client, server])
    counts = detail(lab, campaign)["counts"]
    assert (counts["complete"], counts["failed"], counts["cancelled"]) == (5, 1, 0)
    assert lab.call("POST", f"/campaigns/{campaign}/rerun")["runs"] == 1, "what was not needed is not run again"
    after = lab.drive(campaign, [client, server])
    assert [run["state"] for run in after if run["attempt"] == 2] == ["complete"]
    assert len(after) == len(runs) + 1
    dropped = next(run for run in after if run["reason"] == "precise_enough")
    new = lab.call("POST", f"/runs/{dropped['id']}/rerun", expect=201)
    last = {run["id"]: run["state"] for run in lab.drive(campaign, [client, server])}
    assert last[new["id"]] == "complete", "somebody has asked for it: it is not cancelled again"


def test_a_cancelled_campaign_stays_cancelled(lab: Lab) -> None:
    agents = pair(lab)
    campaign = lab.launch(**ASKED)
    turns(lab, campaign, agents, 4)
    lab.call("POST", f"/campaigns/{campaign}/cancel")
    lab.drive(campaign, list(agents))
    with lab.units() as unit:
        precision.look(unit, UUID(campaign), lab.now())
    assert "precise_enough" not in {reason for _, _, reason in ends(lab, campaign)}
    assert detail(lab, campaign)["precision"]["ended"] is None


def test_a_preview_expects_what_an_earlier_campaign_showed(lab: Lab) -> None:
    client, server = pair(lab)

    def forecast(**changes: Any) -> dict[str, Any]:
        body = {"campaign": {**CAMPAIGN, **ASKED, **changes}}
        found: dict[str, Any] = lab.call("POST", "/campaigns/preview", body)
        assert found["estimate"]["runs"] == UNTIL["most_cycles"]
        return found["forecast"]

    nothing = {"cycles": None, "half_width_percent": None, "pilot_id": None, "pilot": None, "pilot_ended_at": None}
    assert forecast() == {"most_cycles": 7, **nothing}
    server.draws = RttOfRuns(NEAR)
    campaign = lab.launch(**{**SHORT, **ONE, "timetable": {"cycles": 3}}, name="Pilot")
    lab.drive(campaign, [client, server])
    found = forecast()
    assert (found["pilot"], found["pilot_id"], found["most_cycles"]) == ("Pilot", campaign, 7)
    assert found["cycles"] == 5
    assert found["half_width_percent"] == pytest.approx(100 * 3.7804 * 10 / 600, rel=1e-3)
    renamed = [{**each, "name": f"{each['name']} again"} for each in ONE["conditions"]]
    assert forecast(conditions=renamed)["pilot"] is None
    assert lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})["forecast"] is None
