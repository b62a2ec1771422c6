"""The server goes away for minutes, or an agent does: no run is ended for it, and no sample is lost."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults")

SAMPLES = 2 * 501
"""Of a run of 5 s, both ends."""


def samples_stored(lab: Lab) -> int:
    with lab.units() as unit:
        return int(unit.session.execute(text("SELECT coalesce(sum(samples), 0) FROM chunks")).scalar_one())


def ends(lab: Lab, campaign: str) -> list[tuple[int, str, str | None]]:
    return [(run["attempt"], run["state"], run["reason"]) for run in lab.runs(campaign)]


def work(lab: Lab) -> None:
    while lab.work():
        pass


def into(lab: Lab, campaign: str, agents: list[ScriptedAgent], state: str) -> None:
    until(lab, campaign, agents, state if state != "restoring" else "running")
    if state == "restoring":
        for agent in agents:
            agent.act()  # `go`
        agents[0].act()
        agents[1].holds_back = True
        agents[1].act()
        assert lab.runs(campaign)[0]["state"] == "restoring"
        agents[1].holds_back = False


@pytest.mark.parametrize("state", ["preparing", "running", "restoring", "uploading"])
def test_three_minutes_without_a_server_are_nobodys_silence(lab: Lab, state: str) -> None:
    agents = [*pair(lab)]
    campaign = lab.launch(**ONE)
    into(lab, campaign, agents, state)
    lab.go_away(180)
    lab.tick()  # the server is back before any agent has called
    runs = lab.drive(campaign, agents)
    assert [(run["attempt"], run["state"], run["reason"]) for run in runs] == [(1, "complete", None)]
    assert samples_stored(lab) == SAMPLES


@pytest.mark.parametrize("away", ["api", "conductor"])
def test_time_without_one_of_them_does_not_count(lab: Lab, away: str) -> None:
    agents = [*pair(lab)]
    campaign = lab.launch(**ONE)
    until(lab, campaign, agents, "running")
    for _ in range(30):
        lab.go_away(9)
        lab.mark("conductor" if away == "api" else "api")
    lab.tick()
    assert lab.runs(campaign)[0]["state"] == "running"
    lab.wait(200)
    lab.tick()
    assert lab.runs(campaign)[0]["reason"] == "agent_lost", "from then on it counts"


def test_an_hour_without_a_server_costs_no_run_its_turn(lab: Lab) -> None:
    agents = [*pair(lab)]
    campaign = lab.launch(**ONE)
    lab.go_away(5000)
    lab.tick()
    assert [run["state"] for run in lab.drive(campaign, agents)] == ["complete"]


def lose_uploads(lab: Lab, agents: list[ScriptedAgent]) -> str:
    """A run whose sender vanishes before it has uploaded."""
    campaign = lab.launch(**ONE)
    until(lab, campaign, agents, "uploading")
    agents[0].act()
    lab.wait(400)
    lab.tick()
    work(lab)
    assert ends(lab, campaign) == [(1, "incomplete", "upload_timeout")]
    return campaign


def test_samples_that_come_late_complete_their_run_and_renew_the_report(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lose_uploads(lab, [client, server])
    work(lab)
    assert lab.call("GET", f"/campaigns/{campaign}/report")["groups"] == []
    lab.wait(3 * 86_400)
    server.act()
    assert server.orders[-1] == "upload"
    work(lab)
    assert ends(lab, campaign) == [(1, "complete", None)]
    assert samples_stored(lab) == SAMPLES
    assert lab.call("GET", f"/campaigns/{campaign}/report")["groups"][0]["runs"] == 1
    flow = lab.call("GET", f"/runs/{lab.runs(campaign)[0]['id']}")["flows"][0]
    assert [flow["traces"][end]["state"] for end in ("sender", "receiver")] == ["sealed", "sealed"]
    server.act()
    assert not server.spool


def test_late_chunks_do_not_keep_an_agent_from_its_next_run(lab: Lab) -> None:
    client, server = pair(lab)
    lose_uploads(lab, [client, server])
    server.is_stuck = True  # it says that it uploads, and goes on saying so
    server.act()
    assert server.status == "uploading"
    client.act()
    campaign = lab.launch(**ONE)
    lab.tick()
    server.is_stuck = False
    server.act()
    assert server.orders[-1] == "prepare"
    assert len(server.spool) == 1, "its late chunks wait"
    assert lab.drive(campaign, [client, server])[0]["state"] == "complete"


def test_late_chunks_are_not_asked_for_while_another_run_holds_the_link(lab: Lab) -> None:
    """Nor while one is on another link of the same host: the agent itself is in neither."""
    client, server, other = lab.join("client"), lab.join("server"), lab.join("other")
    lab.link(senders=("server", "other"))
    twin, far = lab.join("twin", boot_id="boot-of-server"), lab.join("far")
    lab.link("leo", receiver="far", senders=("twin",))
    lose_uploads(lab, [client, server])
    by_other = {"conditions": [{"name": "other", "flows": [{"sender": 2}]}]}
    plain = {"conditions": [{"name": "plain"}], "links": ["leo"]}
    for changes, agents in ((by_other, [client, other]), (plain, [far, twin])):
        for agent in agents:
            agent.poll()
        campaign = lab.launch(**changes)
        until(lab, campaign, agents, "running")
        lab.wait(61)
        assert server.act() is None
        assert len(server.spool) == 1, "its late chunks wait"
        assert lab.drive(campaign, agents)[0]["state"] == "complete"
    order = server.act()
    assert order is not None
    assert order["kind"] == "upload"


def test_a_late_upload_waits_while_a_run_holds_the_link_and_goes_on_after_it(lab: Lab) -> None:
    """The uploading agent is in no run."""
    client, server, other = lab.join("client"), lab.join("server"), lab.join("other")
    lab.link(senders=("server", "other"))
    lose_uploads(lab, [client, server])
    server.is_stuck = True  # on a slow way
    for agent in (client, other, server):
        agent.act()
    assert (server.orders[-1], server.status) == ("upload", "uploading")
    assert server.act() is None
    assert not server.is_held, "no run is in its way yet"
    by_other = lab.launch(conditions=[{"name": "other", "flows": [{"sender": 2}]}])
    lab.tick()
    assert lab.runs(by_other)[0]["state"] == "leased"
    assert server.act() is None
    assert (server.is_held, server.status, len(server.spool)) == (True, "idle", 1)
    server.is_stuck = False
    assert lab.drive(by_other, [client, other, server])[0]["state"] == "complete"
    lab.wait(61)
    server.act()
    assert not server.spool


@pytest.mark.parametrize(("late", "is_held"), [("client", True), ("server", False)])
def test_a_late_upload_waits_for_every_link_behind_which_its_agent_is(lab: Lab, late: str, is_held: bool) -> None:
    """Its run's link is another one; what a receiver sends crosses the link that it receives for all the same. Senders are
    on the Internet: theirs crosses none."""
    ends = {name: lab.join(name) for name in ("client", "server", "leo-client", "far")}
    lab.link()
    early = next(name for name in ("client", "server") if name != late)
    lose_uploads(lab, [ends[early], ends[late]])
    lab.link("leo", receiver="leo-client", senders=("far", "server"), further_receivers=["client"])
    ends[late].is_stuck = True
    for agent in ends.values():
        agent.act()
    assert ends[late].status == "uploading"
    campaign = lab.launch(conditions=[{"name": "plain"}], links=["leo"])
    lab.tick()
    assert lab.runs(campaign)[0]["state"] == "leased"
    ends[late].act()
    assert ends[late].is_held is is_held


def test_observations_wait_for_runs_of_others_on_the_links_behind_which_their_agent_is(lab: Lab) -> None:
    ends = {name: lab.join(name) for name in ("client", "server", "beside", "elsewhere")}
    lab.link(further_receivers=["beside"])
    lab.link("leo", receiver="elsewhere", senders=("server",))

    def held() -> dict[str, bool]:
        headers = {name: {"Authorization": f"Bearer {agent.secret}"} for name, agent in ends.items()}
        answers = {name: lab.client.get("/api/v1/agent/observations", headers=headers[name]) for name in ends}
        return {name: answer.json()["hold"] for name, answer in answers.items()}

    assert not any(held().values())
    for agent in ends.values():
        agent.act()
    campaign = lab.launch(**ONE)
    lab.tick()
    assert lab.runs(campaign)[0]["state"] == "leased"
    assert held() == {"client": True, "server": True, "beside": True, "elsewhere": False}
    assert lab.drive(campaign, [*ends.values()])[0]["state"] == "complete"
    assert not any(held().values())


def test_no_attempt_takes_chunks_of_another(lab: Lab) -> None:
    """Each has its own run: chunks of the first are kept with the first, and with no address with the second."""
    agents = [*pair(lab)]
    server = agents[1]
    campaign = lose_uploads(lab, agents)
    key = next(iter(server.spool))
    place, content = next(iter(server.spool[key].items()))
    lab.call("POST", f"/campaigns/{campaign}/rerun")
    until(lab, campaign, agents, "running")
    first, second = lab.runs(campaign)
    assert (first["id"], 1) == key
    stored = samples_stored(lab)
    for run, attempt in ((second["id"], 1), (second["id"], 2), (first["id"], 2)):
        assert server.put(run, attempt, place, content).status_code in (409, 422)
    assert samples_stored(lab) == stored
    assert server.put(*key, place, content).status_code == 200
    with lab.units() as unit:
        of_second = text("SELECT count(*) FROM chunks WHERE run_id = :run")
        assert unit.session.scalar(of_second, {"run": second["id"]}) == 0


def lose_a_sender(lab: Lab, agents: list[ScriptedAgent], **changes: Any) -> str:
    """A run whose sender measured to the end and was not heard of it; the next attempt is planned."""
    client, server = agents
    campaign = lab.launch(**ONE, **changes)
    until(lab, campaign, agents, "running")
    client.act()
    server.act()
    client.act()
    for _ in range(2):
        lab.wait(600)
        lab.tick()
    client.act()
    lab.tick()
    work(lab)
    return campaign


def test_a_lost_run_that_comes_back_whole_takes_the_place_of_an_attempt_that_has_not_begun(lab: Lab) -> None:
    agents = [*pair(lab)]
    client, server = agents
    campaign = lose_a_sender(lab, agents)
    assert ends(lab, campaign) == [(1, "failed", "agent_lost"), (2, "planned", None)]
    server._finish()  # its outbox gets through
    client.act()
    for _ in range(2):
        server.act()
        client.act()
    work(lab)
    assert ends(lab, campaign) == [(1, "complete", None), (2, "cancelled", "cancelled")]
    assert samples_stored(lab) == SAMPLES
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete"


def test_a_lost_run_keeps_its_samples_and_its_end_when_the_next_attempt_has_begun(lab: Lab) -> None:
    agents = [*pair(lab)]
    client, server = agents
    campaign = lose_a_sender(lab, agents)
    lost = server.run
    server.forget()
    lab.drive(campaign, agents)
    server.run = lost
    server._finish()
    for _ in range(4):
        server.act()
        client.act()
        work(lab)
    assert ends(lab, campaign) == [(1, "failed", "agent_lost"), (2, "complete", None)]
    assert "arrived when the next attempt had begun" in lab.runs(campaign)[0]["detail"]
    assert samples_stored(lab) == 2 * SAMPLES


def test_only_what_a_person_gave_up_is_discarded(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lose_uploads(lab, [client, server])
    work(lab)
    lab.call("DELETE", f"/campaigns/{campaign}")
    server.act()
    assert server.orders[-1] == "discard"
    assert not server.spool


@pytest.mark.parametrize(
    ("step_s", "why"), [(2, "no chunk came for 300 s"), (0.5, "no chunk came after 100 orders to upload")]
)
def test_an_upload_without_progress_ends_by_name_and_frees_the_link(lab: Lab, step_s: float, why: str) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "uploading")
    following = lab.launch(**ONE)
    waited_s = 0.0
    while lab.runs(campaign)[0]["state"] == "uploading" and waited_s < 400:
        for agent in (client, server):
            if step_s == 0.5:
                agent.poll()  # it asks again and again, and fails each time
            else:
                agent.status, agent.run = (
                    "uploading",
                    {"run_id": lab.runs(campaign)[0]["id"], "attempt": 1, "roles": []},
                )
                agent.poll()
        lab.wait(step_s)
        waited_s += step_s
        lab.tick()
        lab.work()
    run = lab.runs(campaign)[0]
    assert (run["state"], run["reason"]) == ("incomplete", "upload_timeout")
    assert why in run["detail"]
    assert lab.runs(following)[0]["state"] in ("leased", "preparing"), "the link is free for the next run"


def test_an_agent_whose_chunks_are_refused_on_the_way_frees_its_link_at_once(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "uploading")
    client.act()
    server.status, server.says = "uploading", {"reason": "upload_refused", "detail": "413 from a proxy"}
    server.poll()
    work(lab)
    run = lab.runs(campaign)[0]
    assert (run["state"], run["reason"]) == ("incomplete", "upload_refused")
    assert "413 from a proxy" in run["detail"]
    server.status, server.says = "restored", {}
    lab.wait(60)
    server.act()
    work(lab)
    assert ends(lab, campaign) == [(1, "complete", None)]
