"""A run whose time has come says what it waits for: a link, an agent in another run, an agent that is away, its timetable."""

from __future__ import annotations

import pytest

from tests.actions.test_faults import ONE
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults")


def waits(lab: Lab, campaign: str) -> list[str]:
    found = lab.call("GET", f"/campaigns/{campaign}/now")
    said = [each["waits_for"] for each in found["waits"]]
    for each in found["waits"]:
        assert lab.call("GET", f"/runs/{each['run_id']}")["waits_for"] == each["waits_for"]
    return said


def under_way(lab: Lab, campaign: str, agents: list[ScriptedAgent]) -> None:
    for _ in range(40):
        lab.turn(agents)
        if any(run["state"] == "running" for run in lab.runs(campaign)):
            return
    raise AssertionError(lab.runs(campaign))


def test_a_run_waits_for_its_link_and_for_a_sender_that_another_links_run_has(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server"), lab.join("second")]
    lab.link()
    lab.link("leo", receiver="second")
    first = lab.launch(**ONE, name="first")
    under_way(lab, first, agents)
    same = lab.launch(**ONE, name="same")
    other = lab.launch(**ONE, name="other", links=["leo"])
    lab.tick()
    assert waits(lab, same) == ["A run of campaign first is under way on geo."]
    assert waits(lab, other) == ["server is in a run of campaign first on geo."]
    assert waits(lab, first) == []


def test_a_run_waits_for_agents_that_are_away_and_for_a_campaign_that_is_paused(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    campaign = lab.launch(**ONE)
    lab.wait(120)
    lab.tick()
    assert waits(lab, campaign) == ["client was not heard from. server was not heard from."]
    lab.call("POST", f"/campaigns/{campaign}/pause")
    assert waits(lab, campaign) == ["Its campaign is paused."]
