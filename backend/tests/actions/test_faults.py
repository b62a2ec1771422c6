"""What goes wrong is named, its hosts are let go, and the run is tried again where that may help."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text

from downlink.actions.runs import progress as runs
from downlink.domain.runs.run import MOST_PASSING, Reason, RunState
from downlink.storage.runs import run_store
from downlink.storage.tables import Event
from tests.fixtures.lab import CAMPAIGN, Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults")

RUN_BYTES = 90_000_000
"""What a run of the lab's campaign may take at most: 5 s at 144 Mb/s."""
ONE = {"conditions": [{"name": "on", "sender": {"tcp_cubic.hystart": 1}}]}


def pair(lab: Lab) -> tuple[ScriptedAgent, ScriptedAgent]:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    return client, server


def until(lab: Lab, campaign: str, agents: list[ScriptedAgent], state: str) -> dict[str, Any]:
    """Act in turns until the newest run is in this state."""
    for _ in range(40):
        lab.tick()
        for agent in [None, *agents]:
            if agent:
                agent.act()
            run = lab.runs(campaign)[-1]
            if run["state"] == state:
                return run
    raise AssertionError(f"never {state}: {lab.runs(campaign)}")


def test_an_agent_that_cannot_fails_the_run_once_with_its_own_words(lab: Lab) -> None:
    client, server = pair(lab)
    server.fails_with = {
        "reason": "cc_unavailable",
        "detail": 'congestion control "hybla" is not available on this host',
    }
    runs = lab.drive(lab.launch(**ONE), [client, server])
    assert [(run["state"], run["reason"], run["attempt"]) for run in runs] == [("failed", "cc_unavailable", 1)]
    assert "server: congestion control" in runs[0]["detail"]
    assert client.status == "idle"


def test_a_run_on_a_busy_host_is_tried_again_a_while_later(lab: Lab) -> None:
    client, server = pair(lab)
    server.fails_with = {"reason": "host_busy", "detail": "host-wide settings are held by another agent"}
    campaign = lab.launch(**ONE)
    assert until(lab, campaign, [client, server], "planned")["attempt"] == 2
    server.fails_with = None
    lab.tick()
    assert lab.runs(campaign)[-1]["state"] == "planned", "the other agent may still be at it"
    lab.wait(61)
    runs = lab.drive(campaign, [client, server])
    assert [(run["state"], run["reason"]) for run in runs] == [("failed", "host_busy"), ("complete", None)]


def attempt_until(lab: Lab, campaign: str, agents: list[ScriptedAgent], attempts: int) -> None:
    """Let everybody act until the campaign's one run has so many attempts."""
    for _ in range(20):
        lab.turn(agents)
        if len(lab.runs(campaign)) == attempts:
            return
    raise AssertionError(lab.runs(campaign))


@pytest.mark.parametrize("reason", ["clock_unsure", "host_busy"])
def test_what_passes_by_itself_uses_no_attempt_up_and_is_waited_for(lab: Lab, reason: str) -> None:
    """A server that answered slowly once, a host with another run: campaigns with one attempt are measured all the same."""
    client, server = pair(lab)
    server.fails_with = {"reason": reason, "detail": "known only within 13.6 s"}
    campaign = lab.launch(**ONE, limits={"attempts": 1})
    for attempts in range(2, 6):
        attempt_until(lab, campaign, [client, server], attempts)
        lab.tick()
        assert lab.runs(campaign)[-1]["state"] == "planned", "what it waits for has not passed yet"
        lab.wait(61)
    server.fails_with = None
    runs = lab.drive(campaign, [client, server])
    assert [(run["state"], run["reason"]) for run in runs] == [("failed", reason)] * 4 + [("complete", None)]


def test_what_never_passes_ends_the_run(lab: Lab) -> None:
    client, server = pair(lab)
    server.fails_with = {"reason": "clock_unsure", "detail": "known only within 13.6 s"}
    campaign = lab.launch(**ONE, limits={"attempts": 1})
    for attempts in range(2, MOST_PASSING + 2):
        attempt_until(lab, campaign, [client, server], attempts)
        lab.wait(61)
    runs = lab.drive(campaign, [client, server])
    assert {run["state"] for run in runs} == {"failed"}
    assert len(runs) == MOST_PASSING + 1


def test_a_restarted_sender_fails_the_run_and_the_next_attempt_completes(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "running")
    server.act()
    server.forget()
    runs = lab.drive(campaign, [server, client])
    assert [(run["attempt"], run["state"], run["reason"]) for run in runs] == [
        (1, "failed", "agent_restarted"),
        (2, "complete", None),
    ]
    assert "server was restarted" in runs[0]["detail"]
    assert not client.spool


def test_samples_of_an_agent_that_was_killed_are_named_and_stay_on_its_host(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    run = until(lab, campaign, [client, server], "running")
    server.act()
    server.spool[run["id"], 1] = {(1, "sender", sequence): b"" for sequence in range(3)}
    server.forget()
    server.act()
    failed = lab.runs(campaign)[0]
    assert failed["reason"] == "agent_restarted"
    assert failed["detail"].endswith("It keeps 3 chunks of samples aside, for `downlink-agent spool` on its host.")
    lab.drive(campaign, [client, server])
    assert ("discard" in server.orders, server.spool) == (True, {})


def test_the_next_attempt_gets_its_turn_although_the_link_was_given_back_before(lab: Lab) -> None:
    """A job ends the run a while after its upload: by then the tick has looked at the free link, and found nothing to start."""
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    run = until(lab, campaign, [client, server], "uploading")
    for _ in range(10):
        server.act()
        client.act()
        lab.tick()
    with lab.units() as unit:
        row = run_store.get_run(unit, UUID(run["id"]), is_locked=True)
        assert row.released_at is not None
        runs.finish(unit, row, RunState.FAILED, lab.now(), Reason.AGENT_RESTARTED, "The agent was restarted.")
    found = lab.drive(campaign, [server, client])
    assert [(run["attempt"], run["state"]) for run in found] == [(1, "failed"), (2, "complete")]


@pytest.mark.parametrize("symptom", ["link_lost", "connect_failed"])
def test_the_cause_replaces_the_symptom_at_the_other_end(lab: Lab, symptom: str) -> None:
    """A receiver sees of a sender that was killed that the link is lost, or that nobody answers."""
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "running")
    client.act()
    if symptom == "link_lost":
        client.ends_with = symptom
        client.act()
    else:
        client.event("failed", reason=symptom, detail="no answer")
        client.forget()
    client.act()
    assert lab.runs(campaign)[0]["reason"] == symptom
    client.ends_with = None
    server.forget()
    server.act()
    assert lab.runs(campaign)[0]["reason"] == "agent_restarted"


@pytest.mark.parametrize(
    ("reason", "attempts"), [("policy_refused", 1), ("host_busy", 2), ("clock_unsure", 2), ("cc_unavailable", 1)]
)
def test_what_a_sender_says_of_itself_counts_although_its_receiver_was_heard_first(
    lab: Lab, reason: str, attempts: int
) -> None:
    """An owner's limits and pause cut the connections: the other end sees that they are closed, and may say so first."""
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "running")
    client.act()
    client.ends_with = "peer_closed"
    client.act()
    assert lab.runs(campaign)[0]["reason"] == "link_lost"
    client.ends_with = None
    server.event("failed", reason=reason, detail="its owner's word")
    server.forget()
    runs = lab.drive(campaign, [server, client])
    assert (runs[0]["state"], runs[0]["reason"], len(runs)) == ("failed", reason, attempts)
    assert runs[0]["detail"] == "server: its owner's word"


def test_an_agent_restarted_after_its_transfer_still_uploads(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "running")
    client.act()
    server.act()
    server.status = "restored"  # as if it had died between `finished` and `restored`
    outcomes = [server._measure(flow) for flow in server.run["flows"]] if server.run else []
    assert server.event("finished", flows=outcomes).status_code == 204
    server.forget()
    runs = lab.drive(campaign, [server, client])
    assert [(run["attempt"], run["state"]) for run in runs] == [(1, "complete")]


def test_a_sender_that_never_comes_back_is_named_and_its_hosts_are_let_go(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE, limits={"attempts": 1})
    until(lab, campaign, [client, server], "running")
    server.poll()
    assert server_seen(lab) == ("ready", True)
    lab.wait(90)
    assert server_seen(lab) == ("ready", True), "silent by design"
    lab.wait(510)
    lab.tick()
    client.act()
    lab.wait(600)
    lab.tick()
    run = lab.runs(campaign)[0]
    assert (run["state"], run["reason"]) == ("failed", "agent_lost")
    assert "server" in run["detail"]
    assert lab.call("GET", "/links")["items"][0]["run_id"] is None
    assert server_seen(lab) == ("ready", False), "a run that has ended explains no silence"


def server_seen(lab: Lab) -> tuple[str, bool]:
    """What the server's agent said last, and whether it counts as online."""
    (found,) = [agent for agent in lab.call("GET", "/agents")["items"] if agent["name"] == "server"]
    return found["status"], found["is_online"]


def test_a_long_transfer_without_a_word_is_no_failure(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE, stop={"seconds": 120})
    until(lab, campaign, [client, server], "running")
    lab.wait(119)
    runs = lab.drive(campaign, [client, server])
    assert [run["state"] for run in runs] == ["complete"]


def test_chunks_that_never_come_leave_the_run_incomplete_with_their_numbers(lab: Lab) -> None:
    client, server = pair(lab)
    server.loses_chunks = {1}
    campaign = lab.launch(**ONE)
    runs = lab.drive(campaign, [client, server])
    assert runs[0]["state"] == "incomplete"
    assert "flow 1 at the sender: 1" in runs[0]["detail"]
    flow = lab.call("GET", f"/runs/{runs[0]['id']}")["flows"][0]
    assert flow["traces"]["sender"] | {"samples": 0} == {
        **flow["traces"]["sender"], "state": "incomplete", "missing_chunks": [1], "samples": 0
    }  # fmt: skip
    assert flow["traces"]["receiver"]["state"] == "sealed"


def test_an_upload_that_stops_ends_the_run_incomplete(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "uploading")
    client.act()
    lab.wait(400)
    lab.tick()
    while lab.work():
        pass
    run = lab.runs(campaign)[0]
    assert (run["state"], run["reason"]) == ("incomplete", "upload_timeout")
    assert "server did not upload its samples: not heard for 120 s" in run["detail"]
    assert lab.call("GET", "/links")["items"][0]["run_id"] is None
    assert server.spool, "nothing of it is stored"


def test_an_agent_given_up_during_prepare_is_told_to_abort(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE, limits={"attempts": 1})
    until(lab, campaign, [client], "preparing")
    lab.wait(120)
    lab.tick()
    assert lab.runs(campaign)[0]["reason"] == "agent_lost"
    client.act()
    assert client.orders == ["prepare", "abort"]
    server.act()
    assert server.orders == []
    lab.tick()
    assert lab.runs(campaign)[0]["state"] == "failed"


def test_cancelling_stops_restores_and_forgets(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    run = until(lab, campaign, [client, server], "running")
    client.act()
    assert lab.call("POST", f"/runs/{run['id']}/cancel")["state"] == "restoring"
    runs = lab.drive(campaign, [client, server])
    assert [(run["state"], run["reason"]) for run in runs] == [("cancelled", "cancelled")]
    assert client.orders[-1] == server.orders[-1] == "abort"


def test_cancel_works_in_every_state_and_lets_everything_go(lab: Lab) -> None:
    client, server = pair(lab)
    for state in ("planned", "leased", "preparing", "running", "restoring", "uploading"):
        campaign = lab.launch(**ONE)
        if state != "planned":
            until(lab, campaign, [client, server], state) if state not in ("leased", "restoring") else _into(
                lab, campaign, client, server, state
            )
        lab.call("POST", f"/campaigns/{campaign}/cancel")
        runs = lab.drive(campaign, [client, server])
        for _ in range(6):
            client.act()
            server.act()
            lab.tick()
        assert [run["state"] for run in lab.runs(campaign)] == ["cancelled"], (state, runs)
        assert (client.status, server.status, client.spool, server.spool) == ("idle", "idle", {}, {}), state
        assert lab.call("GET", "/links")["items"][0]["run_id"] is None


def _into(lab: Lab, campaign: str, client: ScriptedAgent, server: ScriptedAgent, state: str) -> None:
    if state == "leased":
        lab.tick()
    else:
        until(lab, campaign, [client, server], "running")
        client.act()
        client.act()
        server.act()
        outcomes = [server._measure(flow) for flow in server.run["flows"]] if server.run else []
        assert server.event("finished", flows=outcomes).status_code == 204
    assert lab.runs(campaign)[-1]["state"] == state


def test_a_run_whose_hour_has_gone_by_is_missed_and_says_who_was_away(lab: Lab) -> None:
    client, _ = pair(lab)
    campaign = lab.launch(**ONE)
    for _ in range(2):
        lab.wait(2000)
        client.act()
        lab.tick()
    run = lab.runs(campaign)[0]
    assert (run["state"], run["reason"]) == ("missed", "agent_lost")
    assert run["detail"] == "server was not heard from."
    while lab.work():
        pass
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete"


def test_a_campaign_stops_when_its_data_volume_is_used_up(lab: Lab) -> None:
    client, server = pair(lab)
    runs = lab.drive(lab.launch(limits={"bytes": RUN_BYTES}), [client, server])
    assert [(run["state"], run["reason"]) for run in runs] == [("complete", None), ("missed", "over_budget")]


def _asked(lab: Lab, *agents: ScriptedAgent) -> dict[str, Any]:
    """The budgets of the orders that these agents get now, by agent."""
    lab.tick()
    for agent in agents:
        agent.act()
    return {agent.name: (agent.run or {}).get("budget") for agent in agents}


def test_what_a_campaigns_limit_leaves_goes_with_the_order_and_is_shared_by_its_links(lab: Lab) -> None:
    ends = [lab.join(name) for name in ("client", "server", "client-2", "server-2")]
    lab.link()
    lab.link("leo", "client-2", ("server-2",))
    limit = 5 * RUN_BYTES
    campaign = lab.launch(**ONE, links=["geo", "leo"], limits={"bytes": limit})
    asked = _asked(lab, *ends)
    assert asked["client"] == asked["server"]
    assert asked["client-2"] == asked["server-2"]
    assert asked["client"] == {"bytes": RUN_BYTES + 3 * RUN_BYTES // 2, "of": "campaign"}
    assert asked["client"]["bytes"] + asked["client-2"]["bytes"] == limit
    runs = lab.drive(campaign, ends)
    assert [run["state"] for run in runs] == ["complete", "complete"]


def test_what_is_left_of_a_limit_or_an_allowance_goes_with_each_order(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    link = lab.link()
    campaign = lab.launch(**ONE, limits={"bytes": 4 * RUN_BYTES})
    assert _asked(lab, client, server)["client"] == {"bytes": 4 * RUN_BYTES, "of": "campaign"}
    lab.drive(campaign, [client, server])
    lab.call("PATCH", f"/links/{link['id']}", {"allowance_bytes": 3 * RUN_BYTES})
    carried = lab.call("GET", "/links")["items"][0]["month"]["used_bytes"]
    assert carried > 0
    campaign = lab.launch(**ONE, limits={"bytes": 4 * RUN_BYTES})
    assert _asked(lab, client, server)["server"] == {"bytes": 3 * RUN_BYTES - carried, "of": "link"}
    lab.drive(campaign, [client, server])


def test_a_run_without_budgets_says_nothing_of_any(lab: Lab) -> None:
    client, server = pair(lab)
    lab.launch(**ONE)
    lab.tick()
    assert "budget" not in (client.act() or {})
    assert server.act() is not None


def test_a_transfer_that_ends_at_its_budget_fails_the_run_whoever_says_first_that_it_broke_off(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE, limits={"bytes": 2 * RUN_BYTES})
    client.ends_with, server.ends_with = "peer_closed", "over_budget"
    server.finds = {"detail": "the campaign has a limit (limits.bytes), and 9 bytes were left for this run"}
    until(lab, campaign, [client, server], "running")
    client.act()
    server.act()
    for agent in (client, server):
        agent._finish()  # both have ended when the first of them says so
    (run,) = lab.drive(campaign, [client, server])
    assert (run["state"], run["reason"], run["attempt"]) == ("failed", "over_budget", 1)
    assert run["detail"] == (
        "server, flow 1: what was left for the run is used up "
        "(the campaign has a limit (limits.bytes), and 9 bytes were left for this run)."
    )


def test_an_agent_of_before_gets_no_run_with_a_budget_until_it_is_updated(lab: Lab) -> None:
    client, server = pair(lab)
    limited = {**CAMPAIGN, **ONE, "limits": {"bytes": 2 * RUN_BYTES}}
    campaign = lab.launch(**limited)
    del server.host["holds_budget"]
    server.forget()
    server.act()
    for _ in range(3):
        lab.turn([client, server])
    assert lab.runs(campaign)[0]["state"] == "planned"
    conflicts = lab.call("POST", "/campaigns/preview", {"campaign": limited})["conflicts"]
    assert "budget_unheld" in [conflict["code"] for conflict in conflicts if conflict["is_blocking"]]
    server.host["holds_budget"] = True
    server.forget()
    server.act()
    lab.wait(31)
    (run,) = lab.drive(campaign, [client, server])
    assert run["state"] == "complete"


def test_what_a_hosts_owner_does_not_allow_is_said_before_a_launch(lab: Lab) -> None:
    client, _ = pair(lab)
    client.host["policy"] = {"max_seconds": 4.0, "utc_offset_s": 0, "quiet_hours": ["daily 00:00-24:00"]}
    client.forget()
    client.act()
    conflicts = lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})["conflicts"]
    places = {each["code"]: each["place"] for each in conflicts if each["is_blocking"]}
    assert places == {"owner_seconds": "conditions[0].stop", "owner_quiet": "conditions[0].stop"}
    made = lab.call("POST", "/campaigns", {"campaign": CAMPAIGN})
    refused = lab.call("POST", f"/campaigns/{made['id']}/launch", expect=409)
    assert "have the owner raise it in the agent's policy" in refused["message"]


def test_a_link_carries_no_more_than_its_allowance_a_month(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    link = lab.link(allowance_bytes=RUN_BYTES, reset_day=7, time_zone="Europe/Madrid")
    assert link["month"]["left_bytes"] == RUN_BYTES
    runs = lab.drive(lab.launch(), [client, server])
    assert [(run["state"], run["reason"]) for run in runs] == [("complete", None), ("missed", "over_budget")]
    (shown,) = lab.call("GET", "/links")["items"]
    carried = lab.call("GET", "/calendar")["links"][0]["carried_bytes"]
    assert (shown["month"]["used_bytes"], shown["month"]["left_bytes"]) == (carried, RUN_BYTES - carried)
    assert runs[1]["detail"].startswith(
        f"geo may carry {RUN_BYTES} bytes a month; {RUN_BYTES - carried} are left until"
    )


def test_pause_holds_what_is_planned_and_resume_moves_it(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch()
    lab.call("POST", f"/campaigns/{campaign}/pause")
    due_at = lab.runs(campaign)[0]["due_at"]
    lab.wait(5000)
    client.act()
    server.act()
    lab.tick()
    assert {run["state"] for run in lab.runs(campaign)} == {"planned"}
    lab.call("POST", f"/campaigns/{campaign}/resume")
    assert lab.runs(campaign)[0]["due_at"] > due_at
    assert {run["state"] for run in lab.drive(campaign, [client, server])} == {"complete"}


def test_a_job_that_always_fails_ends_its_run_with_a_sentence(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "uploading")
    for _ in range(3):
        client.act()
        server.act()
    for _ in range(10):  # sent again and again, and nobody works
        lab.tick()
        lab.wait(31)
    assert lab.runs(campaign)[0]["state"] == "uploading", "waiting for a worker is no try"
    with lab.units() as unit:
        unit.session.execute(text("UPDATE run_flows SET sender_outcome = sender_outcome - 'chunks'"))
    for _ in range(5):
        with pytest.raises(KeyError):  # as any fault of the program would end it
            lab.work()
        lab.wait(31)
    lab.tick()
    run = lab.runs(campaign)[0]
    assert (run["state"], run["reason"]) == ("incomplete", "internal")
    assert "`seal` failed 5 times" in run["detail"]


def test_a_campaign_is_complete_with_its_report_and_not_before(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    lab.drive(campaign, [client, server])
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert report["is_current"]
    assert [group["runs"] for group in report["groups"]] == [1]
    with lab.units() as unit:
        kinds = unit.session.scalars(select(Event.kind).where(Event.run_id.is_(None)).order_by(Event.id)).all()
    assert kinds[-2:] == ["report", "campaign"]


def test_a_campaign_whose_report_fails_for_ever_ends_all_the_same(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    until(lab, campaign, [client, server], "uploading")
    while lab.runs(campaign)[0]["state"] != "complete":
        client.act()
        server.act()
        lab.work(lost="report")
    lab.tick()
    lab.work(lost="report")
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "running"
    lab.wait(16 * 60)
    lab.tick()
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete"
