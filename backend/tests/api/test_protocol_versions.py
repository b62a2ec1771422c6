"""Agents of another version of the protocol: they get a sentence and no order, and are served once they are upgraded."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import zstandard

from downlink.domain.fleet.agent import PROTOCOL
from tests.fixtures.lab import API, CAMPAIGN, Lab
from tests.fixtures.scripted_agent import ScriptedAgent, make_host

OLD_POLL = {"status": "idle", "run_id": None, "detail": None, "progress": None, "spool": [], "host": None, "wait_s": 0}
"""As version 1 has it: without a version."""


def poll(agent: ScriptedAgent, **changes: Any) -> httpx.Response:
    return agent._send("POST", "/poll", json={**OLD_POLL, **changes})


def shown(lab: Lab, name: str) -> dict[str, Any]:
    (found,) = [agent for agent in lab.call("GET", "/agents")["items"] if agent["name"] == name]
    return dict(found)


@pytest.fixture
def pair(lab: Lab) -> list[ScriptedAgent]:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    return agents


@pytest.mark.sampled("faults")
def test_an_agent_that_is_too_old_gets_a_sentence_and_no_order(lab: Lab, pair: list[ScriptedAgent]) -> None:
    lab.launch()
    lab.tick()
    answer = poll(pair[0])
    assert (answer.status_code, answer.json()["code"]) == (426, "agent_too_old")
    assert f"speaks version {PROTOCOL} of the agent protocol, and this agent version 1" in answer.json()["message"]
    assert "Install the downlink-agent of the server's release" in answer.json()["message"]


def test_it_is_shown_as_too_old_and_does_not_count_as_heard(lab: Lab, pair: list[ScriptedAgent]) -> None:
    lab.wait(600)
    assert poll(pair[0]).status_code == 426
    agent = shown(lab, "client")
    assert (agent["protocol"], agent["is_too_old"], agent["is_online"]) == (1, True, False)
    assert not shown(lab, "server")["is_too_old"]
    preview = lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})
    assert {each["code"] for each in preview["conflicts"]} == {"agent_too_old", "agent_offline"}


@pytest.mark.sampled("faults")
def test_an_upgrade_is_enough(lab: Lab, pair: list[ScriptedAgent]) -> None:
    assert poll(pair[0]).status_code == 426
    assert pair[0].poll() is None
    campaign = lab.launch()
    assert {run["state"] for run in lab.drive(campaign, pair)} == {"complete"}
    assert (shown(lab, "client")["protocol"], shown(lab, "client")["is_too_old"]) == (PROTOCOL, False)


def test_an_agent_that_is_newer_than_the_server_hears_which_it_speaks(lab: Lab, pair: list[ScriptedAgent]) -> None:
    answer = poll(pair[0], protocol=PROTOCOL + 1)
    assert (answer.status_code, answer.json()["code"]) == (426, "agent_too_new")
    assert f"This server speaks version {PROTOCOL}" in answer.json()["message"]
    assert not shown(lab, "client")["is_too_old"]
    assert poll(pair[0], protocol=PROTOCOL).json()["protocol"] == PROTOCOL


@pytest.mark.parametrize(("said", "code"), [({}, "agent_too_old"), ({"protocol": PROTOCOL + 1}, "agent_too_new")])
def test_a_refusal_at_joining_leaves_the_token_as_it_is(lab: Lab, said: dict[str, int], code: str) -> None:
    token = lab.call("POST", "/agents/enrolments", {"name": "client"})["token"]
    body = {"token": token, "name": "client", "version": "1", "host": make_host("boot")}
    answer = lab.client.post(f"{API}/agent/join", json={**body, **said})
    assert (answer.status_code, answer.json()["code"]) == (426, code)
    assert lab.client.post(f"{API}/agent/join", json={**body, "protocol": PROTOCOL}).status_code == 200


def test_a_stranger_is_refused_as_such_whatever_it_speaks(lab: Lab) -> None:
    stranger = ScriptedAgent(lab.client, "stranger", lab.now, make_host("boot"))
    stranger.secret = "dla_unknown"
    assert poll(stranger).status_code == 401


class Upgraded(ScriptedAgent):
    """It recorded its run under version 1, and delivers it under this one."""

    def event(self, kind: str, **content: Any) -> httpx.Response:
        flows = [
            {"end" if key == "point" else key: value for key, value in flow.items()}
            for flow in content.pop("flows", [])
        ]
        return super().event(kind, **content, **({"flows": flows} if flows else {}))

    def put(self, run: str, attempt: int, place: tuple[int, str, int], content: bytes) -> httpx.Response:
        line, _, columns = zstandard.decompress(content).partition(b"\n")
        header = json.loads(line)
        old = {**header, "format": "dl-chunk/1", "end": header.pop("point")}
        del old["point"]
        return super().put(run, attempt, place, zstandard.compress(json.dumps(old).encode() + b"\n" + columns))


@pytest.mark.sampled("faults")
def test_what_was_recorded_before_an_upgrade_is_taken_after_it(lab: Lab, pair: list[ScriptedAgent]) -> None:
    for agent in pair:
        agent.__class__ = Upgraded
    runs = lab.drive(lab.launch(), pair)
    assert {run["state"] for run in runs} == {"complete"}


@pytest.mark.sampled("faults")
def test_outcomes_of_points_that_are_not_measured_are_refused(lab: Lab, pair: list[ScriptedAgent]) -> None:
    campaign, (_, server) = lab.launch(), pair
    answers: list[tuple[int, str]] = []

    class Odd(ScriptedAgent):
        def event(self, kind: str, **content: Any) -> httpx.Response:
            for point in ("link", "hop-3", "campaign"):
                if kind == "finished":
                    answer = super().event(kind, flows=[{**flow, "point": point} for flow in content["flows"]])
                    answers.append((answer.status_code, answer.json()["code"]))
            return super().event(kind, **content)

    server.__class__ = Odd
    lab.drive(campaign, pair)
    assert answers[:3] == [(422, "flow_unknown"), (422, "flow_unknown"), (422, "request_invalid")]
