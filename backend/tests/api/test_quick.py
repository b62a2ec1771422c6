"""Quick tests: one download over a link, now, each kept in the link's one campaign."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults", one_of=3)


@pytest.fixture
def agents(lab: Lab) -> list[ScriptedAgent]:
    return [lab.join(name) for name in ("client", "server", "other")]


def start(lab: Lab, link: Any, *, expect: int = 201, **body: Any) -> Any:
    return lab.call("POST", f"/links/{link['id']}/quick-test", body or None, expect=expect)


def test_quick_tests_of_a_link_are_one_campaign_with_a_cycle_each(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link = lab.link(senders=("server", "other"))
    first = start(lab, link)
    assert lab.drive(first["campaign_id"], agents)[0]["state"] == "complete"
    second = start(lab, link, sender=2)
    assert second["campaign_id"] == first["campaign_id"]
    assert lab.call("GET", f"/campaigns/{first['campaign_id']}")["state"] == "running"
    runs = lab.drive(first["campaign_id"], agents)
    assert [(run["id"], run["cycle"], run["condition"], run["state"]) for run in runs] == [
        (first["run_id"], 1, "Download from sender 1", "complete"),
        (second["run_id"], 2, "Download from sender 2", "complete"),
    ]
    campaign = lab.call("GET", f"/campaigns/{first['campaign_id']}")
    assert (campaign["name"], campaign["state"], campaign["runs_total"]) == ("Quick tests on geo", "complete", 2)
    assert campaign["spec"]["timetable"]["cycles"] == 2
    for table in ("report", "statistics", "exits", "limits"):
        lab.call("GET", f"/campaigns/{first['campaign_id']}/{table}")


def test_two_clicks_make_one_test(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link = lab.link()
    first = start(lab, link)
    refused = start(lab, link, expect=409)
    assert (refused["code"], refused["details"]["run_id"]) == ("quick_test_under_way", first["run_id"])


def test_each_link_keeps_its_own_and_a_cancelled_campaign_takes_no_more(lab: Lab, agents: list[ScriptedAgent]) -> None:
    geo, leo = lab.link(), lab.link("leo", senders=("other",))
    first = start(lab, geo)
    assert start(lab, leo)["campaign_id"] != first["campaign_id"]
    lab.call("POST", f"/campaigns/{first['campaign_id']}/cancel")
    assert start(lab, geo)["campaign_id"] != first["campaign_id"]


def test_what_would_fail_is_not_started_and_nothing_is_kept(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link = lab.link()
    assert start(lab, link, expect=422, sender=2)["code"] == "sender_unknown"
    lab.wait(600)
    refused = start(lab, link, expect=409)
    assert refused["code"] == "plan_blocked"
    assert {each["code"] for each in refused["details"]["conflicts"]} == {"agent_offline"}
    assert lab.call("GET", "/campaigns")["total"] == 0


def test_a_quick_test_waits_for_the_run_that_holds_the_link(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link = lab.link()
    night = lab.launch()
    lab.tick()
    test = start(lab, link)
    lab.tick()
    assert lab.call("GET", f"/runs/{test['run_id']}")["state"] == "planned"
    lab.drive(night, agents)
    assert lab.drive(test["campaign_id"], agents)[0]["state"] == "complete"


def test_its_pre_flight_then_knows_the_data_port(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link = lab.link()
    lab.drive(start(lab, link)["campaign_id"], agents)
    file = {
        "name": "x",
        "links": ["geo"],
        "stop": {"seconds": 5},
        "timetable": {"cycles": 1},
        "conditions": [{"name": "a"}],
    }
    hosts = lab.call("POST", "/campaigns/preview", {"campaign": file})["hosts"]
    levels = {each["check"]: each["level"] for host in hosts if host["agent"] == "client" for each in host["answers"]}
    assert levels["data_port"] == "ok"
