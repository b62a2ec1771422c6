"""An agent that somebody pauses on the server begins no run until the pause is over."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.fixtures.lab import CAMPAIGN, Lab


@pytest.fixture
def client_id(lab: Lab) -> str:
    lab.join("client")
    lab.join("server")
    lab.link()
    return str(client(lab)["id"])


def client(lab: Lab) -> dict[str, Any]:
    return next(agent for agent in lab.call("GET", "/agents")["items"] if agent["name"] == "client")


def pause(lab: Lab, client_id: str, for_s: float | None = None, why: str | None = None) -> None:
    until = None if for_s is None else (lab.now() + timedelta(seconds=for_s)).isoformat()
    lab.call("PUT", f"/agents/{client_id}/pause", {"until": until, "why": why}, expect=204)


def first_state(lab: Lab, campaign: str) -> str:
    lab.tick()
    return str(lab.runs(campaign)[0]["state"])


def test_no_run_begins_while_it_lasts_and_the_next_one_once_it_is_ended(lab: Lab, client_id: str) -> None:
    pause(lab, client_id, why="the office needs the terminal")
    assert client(lab)["pause"] == {"by": "tests", "until": None, "why": "the office needs the terminal"}
    [conflict] = lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})["conflicts"]
    assert (conflict["code"], conflict["is_waivable"]) == ("agent_paused", True)
    assert "client takes no run: paused on the agents page by tests (the office needs the term" in conflict["message"]
    made = lab.call("POST", "/campaigns", {"campaign": CAMPAIGN})["id"]
    lab.call("POST", f"/campaigns/{made}/launch", {"even_if_offline": True})
    assert first_state(lab, made) == "planned"
    lab.call("DELETE", f"/agents/{client_id}/pause", expect=204)
    assert client(lab)["pause"] is None
    assert first_state(lab, made) in ("leased", "preparing")


def test_it_ends_by_itself_at_its_time(lab: Lab, client_id: str) -> None:
    campaign = lab.launch()
    pause(lab, client_id, for_s=300)
    until = datetime.fromisoformat(client(lab)["pause"]["until"])
    assert 290 < (until - lab.now()).total_seconds() <= 300
    assert first_state(lab, campaign) == "planned"
    lab.wait(301)
    for agent in ("client", "server"):
        hear(lab, agent)
    assert client(lab)["pause"] is None
    assert first_state(lab, campaign) in ("leased", "preparing")


def hear(lab: Lab, agent: str) -> None:
    """As if it had polled now."""
    with lab.units() as unit:
        unit.session.connection().exec_driver_sql(
            "UPDATE agents SET last_seen_at = %s WHERE name = %s", (lab.now(), agent)
        )


def test_a_run_whose_time_passes_says_who_paused_its_agent(lab: Lab, client_id: str) -> None:
    campaign = lab.launch(timetable={"duration_h": 0.05, "every_s": 90})
    pause(lab, client_id, why="maintenance")
    lab.wait(100)
    for agent in ("client", "server"):
        hear(lab, agent)
    lab.tick()
    missed = lab.runs(campaign)[0]
    assert (missed["state"], missed["reason"]) == ("missed", "agent_lost")
    assert missed["detail"] == "client takes no run: paused on the agents page by tests (maintenance)."


def test_what_the_owner_paused_on_the_host_is_not_ended_here(lab: Lab) -> None:
    agent = lab.join("client")
    with lab.units() as unit:
        unit.session.connection().exec_driver_sql(
            "UPDATE agents SET status = 'blocked', detail = 'paused by its owner until 2036-01-01 00:00 UTC'"
        )
    refused = lab.call("DELETE", f"/agents/{client(lab)['id']}/pause", expect=409)
    assert refused["code"] == "agent_not_paused"
    assert refused["message"].endswith("Only its owner can end that, on the host.")
    assert agent.name == "client"


def test_a_pause_that_is_over_already_is_refused(lab: Lab, client_id: str) -> None:
    body = {"until": (lab.now() - timedelta(seconds=1)).isoformat()}
    assert lab.call("PUT", f"/agents/{client_id}/pause", body, expect=422)["code"] == "pause_over"
    assert lab.call("DELETE", f"/agents/{client_id}/pause", expect=409)["message"] == "client is not paused."


def test_who_paused_and_who_resumed_is_on_record(lab: Lab, client_id: str) -> None:
    pause(lab, client_id)
    lab.call("DELETE", f"/agents/{client_id}/pause", expect=204)
    with lab.units() as unit:
        found = unit.session.connection().exec_driver_sql(
            "SELECT action, actor, subject FROM audit ORDER BY id DESC LIMIT 2"
        )
        assert [tuple(row) for row in found] == [
            ("resume_agent", "tests", "client"),
            ("pause_agent", "tests", "client"),
        ]
