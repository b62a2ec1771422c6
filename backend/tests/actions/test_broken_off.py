"""A run that is broken off while data moves: what it has moved counts, and what was sampled is kept unless a person gave it up."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from tests.actions.test_faults import ONE, pair, until
from tests.actions.test_outages import ends, samples_stored, work
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import RATE_BYTES_S, ScriptedAgent

pytestmark = pytest.mark.sampled("faults", one_of=3)

MOVED = 5 * RATE_BYTES_S
SAMPLES = 501
"""Of a run of 5 s, at one end."""


def begun(lab: Lab, agents: list[ScriptedAgent], **changes: Any) -> str:
    """A run in which data moves."""
    campaign = lab.launch(**ONE, **changes)
    until(lab, campaign, agents, "running")
    for agent in agents:
        agent.act()
        assert agent.status == "running"
    return campaign


def fail(agent: ScriptedAgent, reason: str) -> None:
    """As an agent does whose host is restored, and that holds chunks."""
    recorded = agent.recorded()
    assert agent.event("failed", reason=reason, detail="enough", **recorded).status_code == 204
    agent.status = "restored"


def carried(lab: Lab) -> int:
    with lab.units() as unit:
        return int(unit.session.execute(text("SELECT sum(carried_bytes) FROM run_flows")).scalar_one())


def traces(lab: Lab, campaign: str) -> dict[str, Any]:
    found: dict[str, Any] = lab.call("GET", f"/runs/{lab.runs(campaign)[0]['id']}")["flows"][0]["traces"]
    return found


@pytest.mark.parametrize("reason", ["policy_refused", "agent_restarted"])
@pytest.mark.parametrize("end", [0, 1])
def test_what_a_failed_end_has_moved_counts_and_its_samples_are_kept(lab: Lab, reason: str, end: int) -> None:
    agents = [*pair(lab)]
    campaign = begun(lab, agents, limits={"attempts": 1, "bytes": 200_000_000})
    fail(agents[end], reason)
    agents[1 - end].forget()  # the other end says nothing of it
    lab.drive(campaign, agents)
    assert ends(lab, campaign)[0][1] == "failed"
    assert carried(lab) == MOVED
    assert lab.call("GET", "/calendar")["links"][0]["carried_bytes"] == MOVED
    assert samples_stored(lab) == SAMPLES
    kept = traces(lab, campaign)[("receiver", "sender")[end]]
    assert (kept["state"], kept["samples"], kept["missing_chunks"]) == ("sealed", SAMPLES, [])
    assert not agents[end].spool


def test_of_a_run_that_a_person_cancels_only_the_bytes_are_kept(lab: Lab) -> None:
    agents = [*pair(lab)]
    campaign = begun(lab, agents)
    lab.call("POST", f"/runs/{lab.runs(campaign)[0]['id']}/cancel")
    lab.drive(campaign, agents)
    assert ends(lab, campaign) == [(1, "cancelled", "cancelled")]
    assert carried(lab) == MOVED
    assert samples_stored(lab) == 0
    for agent in agents:
        agent.act()
    assert [agent.orders[-1] for agent in agents] == ["discard", "discard"]
    assert not any(agent.spool for agent in agents)


def test_a_receiver_that_is_stopped_because_the_sender_lost_the_link_keeps_its_samples(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = begun(lab, [client, server], limits={"attempts": 1})
    server.ends_with = "link_lost"
    server.act()
    client.act()
    assert client.orders[-1] == "abort"
    lab.drive(campaign, [client, server])
    assert ends(lab, campaign) == [(1, "failed", "link_lost")]
    assert samples_stored(lab) == 2 * SAMPLES
    assert [trace["missing_chunks"] for trace in traces(lab, campaign).values()] == [[], []]


def test_chunks_that_do_not_come_any_more_are_named(lab: Lab) -> None:
    client, server = pair(lab)
    client.loses_chunks = {1}
    campaign = begun(lab, [client, server], limits={"attempts": 1})
    server.ends_with = "link_lost"
    lab.drive(campaign, [server, client])
    assert ends(lab, campaign) == [(1, "failed", "link_lost")]
    assert traces(lab, campaign)["receiver"]["missing_chunks"] == [1]


def test_what_was_moved_counts_when_it_is_said_late(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = begun(lab, [client, server], limits={"attempts": 1})
    for _ in ("not finished", "not restored"):
        lab.wait(400)
        lab.tick()
    work(lab)
    assert ends(lab, campaign) == [(1, "failed", "agent_lost")]
    for agent in (client, server):
        fail(agent, "link_lost")
        lab.wait(61)
        agent.act()
        agent.act()
    work(lab)
    assert carried(lab) == MOVED
    assert samples_stored(lab) == 2 * SAMPLES
    assert ends(lab, campaign)[0][1] == "failed"
