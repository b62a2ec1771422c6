"""Every sample that an agent has synced to disk is in the database exactly once, or its run says which chunks are missing."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sqlalchemy import text

from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults", one_of=3)

Address = tuple[int, str, int]

ANNOUNCED = """
    SELECT flow, point, (outcome ->> 'chunks')::int AS chunks, (outcome ->> 'samples')::int AS samples
    FROM run_flows, LATERAL (VALUES ('sender', sender_outcome), ('receiver', receiver_outcome)) AS ends (point, outcome)
    WHERE run_id = :run
"""

STORED = "SELECT sequence, samples FROM chunks WHERE run_id = :run AND flow = :flow AND point = :point"
MISSING = "SELECT missing FROM traces WHERE run_id = :run AND flow = :flow AND point = :point"


def rows(lab: Lab, query: str, **values: Any) -> list[Any]:
    with lab.units() as unit:
        return list(unit.session.execute(text(query), values))


def check_promise(lab: Lab, run: dict[str, Any]) -> None:
    """By SQL alone: what was announced is stored, or named in the run's traces and in its sentence."""
    for flow, point, chunks, samples in rows(lab, ANNOUNCED, run=run["id"]):
        place = {"run": run["id"], "flow": flow, "point": point}
        stored = rows(lab, STORED, **place)
        (missing,) = next(iter(rows(lab, MISSING, **place)))
        assert sorted([sequence for sequence, _ in stored] + missing) == list(range(chunks))
        if not missing:
            assert sum(count for _, count in stored) == samples
        else:
            assert run["state"] == "incomplete"
            assert f"flow {flow} at the {point}: " in run["detail"]
    (named,) = next(
        iter(rows(lab, "SELECT bool_and(missing = '[]') FROM run_hosts WHERE run_id = :run", run=run["id"]))
    )
    assert (run["reason"] == "samples_lost") == (not named)


class Unruly:
    """Sends chunks in any order, some twice, and has lost some, which it names."""

    def __init__(self, agent: ScriptedAgent, dice: random.Random, is_losing: bool) -> None:
        self.agent, self.dice, self.is_losing = agent, dice, is_losing
        agent.sends = self

    def __call__(self, held: dict[Address, bytes]) -> list[tuple[Address, bytes]]:
        lost = [place for place in held if self.is_losing and self.dice.random() < 0.4]
        self.agent.misses = [
            {
                "flow": flow,
                "point": point,
                "first": number,
                "last": number,
                "why": self.dice.choice(["gone", "too_old"]),
            }
            for flow, point, number in lost
        ]
        kept = [(place, content) for place, content in held.items() if place not in lost]
        sent = [*kept, *(each for each in kept if self.dice.random() < 0.5)]
        self.dice.shuffle(sent)
        return sent


@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_order_every_sample_is_stored_once_or_named(lab: Lab, seed: int) -> None:
    agents, dice = [*pair(lab)], random.Random(seed)
    losing = dice.choice([[], [0], [1], [0, 1]])
    for number, agent in enumerate(agents):
        Unruly(agent, dice, number in losing)
    run = lab.drive(lab.launch(**ONE), agents)[0]
    assert run["state"] == ("incomplete" if any(agent.misses for agent in agents) else "complete")
    check_promise(lab, run)


def test_an_agent_that_drops_what_the_server_never_asked_for_says_so_at_the_run(lab: Lab) -> None:
    """The owner's limit, after the run was given up for the agent's silence."""
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "uploading")
    client.act()
    ref = server.run
    lab.wait(400)
    lab.tick()
    while lab.work():
        pass
    (run,) = lab.runs(campaign)
    assert (run["state"], run["reason"]) == ("incomplete", "upload_timeout")
    lab.wait(20 * 86_400)
    held = server.spool.pop((ref["run_id"], ref["attempt"]))
    dropped = {"flow": 1, "point": "sender", "first": 0, "last": len(held) - 1, "why": "too_old"}
    server.run = ref
    assert server.event("uploaded", missing=[dropped]).status_code == 204
    while lab.work():
        pass
    (run,) = lab.runs(campaign)
    assert (run["state"], run["reason"]) == ("incomplete", "samples_lost")
    assert f"dropped by {server.name}: they waited for longer than its owner allows" in run["detail"]
    (host,) = [each for each in lab.call("GET", f"/runs/{run['id']}")["hosts"] if each["agent"] == server.name]
    assert host["missing"] == [dropped]
    check_promise(lab, run)


def test_files_that_were_removed_while_the_agent_was_dead_are_gone_and_nobody_waits_for_them(lab: Lab) -> None:
    """It has nothing to upload, and cannot say of what."""
    client, server = pair(lab)
    campaign = lab.launch(**ONE, limits={"attempts": 1})
    until(lab, campaign, [client, server], "uploading")
    ref = server.run
    server.spool[ref["run_id"], ref["attempt"]].clear()
    (run,) = lab.drive(campaign, [client, server])
    assert (run["state"], run["reason"]) == ("incomplete", "samples_lost")
    assert f"flow 1 at the {server_point(lab, run)}" in run["detail"]
    assert f"removed from the disk of {server.name} by somebody" in run["detail"]


def server_point(lab: Lab, run: dict[str, Any]) -> str:
    (flow,) = lab.call("GET", f"/runs/{run['id']}")["flows"]
    return "sender" if flow["sender"] == "server" else "receiver"


def test_an_agents_own_word_is_checked(lab: Lab) -> None:
    agents = [*pair(lab)]
    until(lab, lab.launch(**ONE), agents, "uploading")
    wrong = {"flow": 1, "point": "sender", "first": 0, "last": 0, "why": "lost interest"}
    assert agents[1].event("uploaded", missing=[wrong]).status_code == 422
