"""What people see of a campaign while it runs: what its flows do, and results after the first runs."""

from __future__ import annotations

from typing import Any

from tests.actions.test_faults import pair
from tests.fixtures.lab import Lab


def look(flow: int, acked_bytes: int) -> dict[str, Any]:
    return {"flow": flow, "acked_bytes": acked_bytes, "rtt_us": 612_000, "cwnd_bytes": 6_200_000}


def test_flows_are_shown_as_their_sender_sees_them_and_results_come_after_the_first_run(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(timetable={"cycles": 2})

    for _ in range(40):
        lab.tick()
        if any(run["state"] == "running" for run in lab.runs(campaign)):
            break
        client.act()
        server.act()
    run = next(run for run in lab.runs(campaign) if run["state"] == "running")
    server.status = "running"
    before = lab.call("GET", f"/campaigns/{campaign}/now")
    assert ([each["id"] for each in before["active"]], before["used_bytes"], before["limit_bytes"]) == (
        [run["id"]],
        0,
        None,
    )
    assert [(each["condition"], each["cycle"]) for each in before["next"]] == [("off", 1)]
    assert before["ends_at"] > max(each["due_at"] for each in lab.runs(campaign))
    for elapsed_s, acked in ((1.0, 1_000_000), (2.0, 11_000_000)):
        flows = [look(1, acked), look(9, acked)]
        server.says = {"progress": {"elapsed_s": elapsed_s, "bytes": acked, "flows": flows}}
        server.poll()
    live = lab.call("GET", f"/runs/{run['id']}")["live"]
    shown = {
        **{"flow": 1, "elapsed_s": 2.0, "heard_s": 2.0, "has_ended": False},
        **{"throughput_bps": 8e7, "rtt_ms": 612.0, "cwnd_bytes": 6_200_000},
    }
    assert live == {"elapsed_s": 2.0, "bytes": 11_000_000, "flows": [shown]}, "its own flow, and no other"
    now = lab.call("GET", f"/campaigns/{campaign}/now")
    assert (now["active"][0]["live"], now["used_bytes"]) == (live, 11_000_000)
    assert server.name in {agent["name"] for agent in lab.call("GET", "/agents")["items"]}
    server.says = {"progress": {"elapsed_s": 3.0, "bytes": 12_000_000}}
    server.poll()
    assert lab.call("GET", f"/runs/{run['id']}")["live"]["flows"] == [{**shown, "heard_s": 3.0}], (
        "an agent that says no more of it was heard, and changes nothing else"
    )
    server.says = {}
    lab.call("GET", f"/campaigns/{campaign}/report", expect=404)
    for _ in range(60):
        lab.tick()
        client.act()
        server.act()
        while lab.work():
            pass
        lab.wait(1)
        if lab.call("GET", f"/campaigns/{campaign}")["counts"]["complete"]:
            break
    assert lab.call("GET", f"/campaigns/{campaign}")["counts"]["complete"] == 1
    while lab.work():
        pass
    groups = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    assert [(group["condition"], group["runs"]) for group in groups] == [("on", 1)]
    runs = lab.drive(campaign, [client, server])
    assert [run["live"] for run in runs] == [None] * 4, "what was watched is not a result"
    after = lab.call("GET", f"/campaigns/{campaign}/now")
    assert (after["active"], after["next"], after["ends_at"]) == ([], [], None)
    carried = [flow["app_bytes"] for each in runs for flow in lab.call("GET", f"/runs/{each['id']}")["flows"]]
    assert after["used_bytes"] == sum(carried) > 0, "by what the flows' ends say, and not by what was watched"


def test_a_flow_ends_by_what_its_own_sender_says_and_not_while_another_speaks(lab: Lab) -> None:
    agents = {name: lab.join(name) for name in ("client", "first", "second")}
    lab.link(senders=("first", "second"))
    flows = [{"cc": "cubic"}, {"cc": "cubic", "sender": 2}]
    campaign = lab.launch(conditions=[{"name": "both", "flows": flows}], timetable={"cycles": 1})
    for _ in range(40):
        lab.tick()
        if any(run["state"] == "running" for run in lab.runs(campaign)):
            break
        for agent in agents.values():
            agent.act()
    [run] = [run for run in lab.runs(campaign) if run["state"] == "running"]

    def hear(name: str, elapsed_s: float, *looks: dict[str, Any]) -> list[tuple[float, float, bool]]:
        agents[name].status = "running"
        agents[name].says = {"progress": {"elapsed_s": elapsed_s, "bytes": 1_000_000, "flows": list(looks)}}
        agents[name].poll()
        return told()

    def told() -> list[tuple[float, float, bool]]:
        said = lab.call("GET", f"/runs/{run['id']}")["live"]["flows"]
        return [(flow["elapsed_s"], flow["heard_s"], flow["has_ended"]) for flow in said]

    hear("first", 10.0, look(1, 1_000_000))
    assert hear("second", 10.5, look(2, 1_000_000)) == [(10.0, 10.0, False), (10.5, 10.5, False)]
    assert hear("second", 22.0, look(2, 2_000_000)) == [(10.0, 10.0, False), (22.0, 22.0, False)], "first is silent"
    assert hear("first", 23.0, look(1, 2_000_000)) == [(23.0, 23.0, False), (22.0, 22.0, False)]
    assert hear("first", 27.0) == [(23.0, 27.0, True), (22.0, 22.0, False)], "it speaks, and not of its flow"
    agents["second"].says = {"progress": None}
    agents["second"].status = "restoring"
    agents["second"].poll()
    assert told() == [(23.0, 27.0, True), (22.0, 22.0, True)], "who restores its host sends no more"
