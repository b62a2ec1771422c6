"""A copied state folder: an identity is of one host at a time, both are named, and no attempt is used up."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from downlink.domain.fleet.agent import ONLINE_S
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

SHORT: dict[str, Any] = {"conditions": [{"name": "plain"}], "timetable": {"cycles": 2}, "limits": {"attempts": 1}}
FIRST, RESTARTED, COPY = "aaaaaaaa 11111111", "bbbbbbbb 11111111", "cccccccc 22222222"


def started(agent: ScriptedAgent, instance: str, hostname: str) -> ScriptedAgent:
    """Another start of this agent, on a host of this name."""
    other = copy.copy(agent)
    other.host, other.spool, other.orders = {**agent.host, "hostname": hostname}, {}, []
    other.instance = instance
    other.forget()
    return other


def poll(agent: ScriptedAgent) -> Any:
    body = {
        "protocol": agent.protocol, "status": "idle", "run_id": None, "attempt": None, "detail": None, "progress": None, "spool": [],
        "host": agent.host, "wait_s": 0,
    }  # fmt: skip
    return agent._send("POST", "/poll", json=body)


def agent_row(lab: Lab, name: str) -> Any:
    return next(each for each in lab.call("GET", "/agents")["items"] if each["name"] == name)


@pytest.fixture
def hosts(lab: Lab) -> tuple[ScriptedAgent, ScriptedAgent]:
    receiver, sender = started(lab.join("client"), FIRST, "laptop"), started(lab.join("server"), FIRST, "rack-1")
    for each in (receiver, sender):
        assert poll(each).status_code == 200
    lab.link()
    return receiver, sender


@pytest.mark.parametrize("copied", [0, 1])
def test_a_copy_is_refused_by_name_and_the_runs_are_those_of_the_first(
    lab: Lab, hosts: tuple[ScriptedAgent, ScriptedAgent], copied: int
) -> None:
    original = hosts[copied]
    clone = started(original, COPY, "spare")
    campaign = lab.launch(**SHORT)
    refusals = []
    for _ in range(40):
        answer = poll(clone)
        refusals.append((answer.status_code, answer.json()["code"]))
        lab.turn(hosts)
    assert set(refusals) == {(503, "identity_in_use")}
    assert [(run["state"], run["attempt"]) for run in lab.runs(campaign)] == [("complete", 1)] * 2
    said = answer.json()["message"]
    for part in (original.host["hostname"], "spare", "testclient", "downlink-agent join"):
        assert part in said
    assert answer.headers["retry-after"] == "10"
    assert agent_row(lab, original.name)["rival"] == said


def test_what_a_copy_sends_besides_its_polls_is_kept_there(
    lab: Lab, hosts: tuple[ScriptedAgent, ScriptedAgent]
) -> None:
    """It reports that the run was broken off by its start; the original goes on, and the run is complete."""
    campaign = lab.launch(**SHORT)
    while not (run := hosts[1].run):
        lab.turn(hosts)
    clone = started(hosts[1], COPY, "spare")
    clone.run = run
    answer = clone.event("failed", reason="agent_restarted", detail="the agent ended in the middle of the run")
    assert (answer.status_code, answer.json()["code"]) == (503, "identity_in_use")
    assert clone.put(run["run_id"], 1, (1, "sender", 0), b"x").status_code in (422, 503)
    runs = lab.drive(campaign, list(hosts))
    assert [run["state"] for run in runs] == ["complete", "complete"]


def test_a_restart_in_the_same_place_goes_on_at_once(lab: Lab, hosts: tuple[ScriptedAgent, ScriptedAgent]) -> None:
    again = started(hosts[0], RESTARTED, "laptop")
    assert poll(again).status_code == 200
    assert poll(hosts[0]).status_code == 200, "the same place: the lock there keeps two from running"
    assert agent_row(lab, "client")["rival"] is None


def test_another_place_goes_on_once_the_first_is_silent(lab: Lab, hosts: tuple[ScriptedAgent, ScriptedAgent]) -> None:
    """A new disk, or a copy from before: not at once, and the first host finds itself refused if it was there all the time."""
    moved = started(hosts[0], COPY, "new-laptop")
    assert poll(moved).status_code == 503
    lab.wait(ONLINE_S + 1)
    assert poll(moved).status_code == 200
    refused = poll(hosts[0])
    assert refused.status_code == 503
    assert "new-laptop at testclient" in refused.json()["message"]


def test_agents_of_before_say_no_start_and_are_served(lab: Lab, hosts: tuple[ScriptedAgent, ScriptedAgent]) -> None:
    before = started(hosts[0], FIRST, "laptop")
    before.instance = None
    assert poll(before).status_code == 200
    assert poll(hosts[0]).status_code == 200


def test_joining_anew_makes_a_host_the_agent_at_once(lab: Lab, hosts: tuple[ScriptedAgent, ScriptedAgent]) -> None:
    lab.call("DELETE", f"/agents/{agent_row(lab, 'client')['id']}")
    other = started(lab.join("client"), COPY, "spare")
    assert poll(other).status_code == 200
    assert poll(hosts[0]).status_code == 401
    assert agent_row(lab, "client")["rival"] is None


def test_the_preview_names_both(lab: Lab, hosts: tuple[ScriptedAgent, ScriptedAgent]) -> None:
    poll(started(hosts[0], COPY, "spare"))
    body = {"campaign": {"name": "x", "links": ["geo"], "stop": {"seconds": 5}, **SHORT}}
    preview = lab.call("POST", "/campaigns/preview", body)
    (client,) = [each for each in preview["hosts"] if each["agent"] == "client"]
    (online,) = [each for each in client["answers"] if each["check"] == "online"]
    assert (online["level"], "spare" in online["sentence"]) == ("note", True)
