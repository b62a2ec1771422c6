"""Campaigns over links that replay a path trace."""

from __future__ import annotations

from typing import Any

from tests.fixtures.lab import CAMPAIGN, Lab
from tests.fixtures.scripted_agent import ScriptedAgent, make_host


def test_runs_that_the_links_path_has_no_room_for_are_refused_before_a_launch(lab: Lab) -> None:
    """The agent beside the link says how long the path is, and says again when the link has another one."""
    lab.join("server", roles=("sender",))
    agent = beside_a_path(lab, 20.0)
    lab.link(is_emulated=True, profile="beijing-new-york")
    (found,) = lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})["conflicts"]
    assert (found["code"], found["place"], found["is_blocking"]) == ("trace_short", "conditions[0].stop", True)
    assert "the path trace beijing-new-york, which the link replays, has 20 s" in found["message"]
    made = lab.call("POST", "/campaigns", {"campaign": CAMPAIGN})
    assert lab.call("POST", f"/campaigns/{made['id']}/launch", expect=409)["code"] == "plan_blocked"
    agent.host["path_trace"]["lasts_s"] = 3600.0
    agent.is_new = True
    agent.poll()
    assert lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})["conflicts"] == []
    lab.call("POST", f"/campaigns/{made['id']}/launch")


def beside_a_path(lab: Lab, lasts_s: float) -> ScriptedAgent:
    facts: dict[str, Any] = {"path_trace": {"name": "beijing-new-york", "lasts_s": lasts_s}}
    token = lab.call("POST", "/agents/enrolments", {"name": "client"})["token"]
    agent = ScriptedAgent(lab.client, "client", lab.now, {**make_host("boot-of-client", ("receiver",)), **facts})
    agent.join(token)
    agent.poll()
    return agent
