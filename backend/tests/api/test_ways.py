"""Which way flows really took: another one is another group, and what a link cannot give is marked until a person decides."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import select

from downlink.storage.tables import RunFlow
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import RATE_BYTES_S, RttOfRuns, ScriptedAgent

SHORT: dict[str, Any] = {"conditions": [{"name": "plain"}], "timetable": {"cycles": 4, "pause_s": 1}}
SAT = {"source": "10.0.0.2", "interface": "sat", "next_hop": "10.0.0.1"}
LAN = {"source": "10.9.0.2", "interface": "lan"}


@pytest.fixture
def agents(lab: Lab) -> list[ScriptedAgent]:
    found = [lab.join("client"), lab.join("server")]
    lab.link(nominal_rate_bps=80_000_000)
    return found


def drive(
    lab: Lab, agents: list[ScriptedAgent], ways: list[tuple[Any, Any]], seen: Sequence[str] = (), **changes: Any
) -> tuple[str, list[Any]]:
    """A campaign whose nth run took the nth way, from the beginning and at the end. seen: the receiver's addresses, as its sender says."""
    campaign = lab.launch(**{**SHORT, "timetable": {"cycles": len(ways), "pause_s": 1}, **changes})
    for _ in range(400):
        done = sum(run["state"] == "complete" for run in lab.runs(campaign))
        if done < len(ways):
            start, end = ways[done]
            agents[0].finds_at = {"receiver": {"way": start, "way_at_end": end}}
            if seen:
                agents[1].finds_at = {"sender": {"peer_address": seen[done]}}
        lab.turn(agents)
        if lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete":
            return campaign, [lab.call("GET", f"/runs/{run['id']}") for run in lab.runs(campaign)]
    raise AssertionError(lab.runs(campaign))


def groups(lab: Lab, campaign: str) -> dict[str, int]:
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    return {group["link"]: group["runs"] for group in report["groups"]}


def test_runs_of_one_way_are_one_group_under_the_links_name(lab: Lab, agents: list[ScriptedAgent]) -> None:
    campaign, runs = drive(lab, agents, [(SAT, SAT)] * 2)
    assert groups(lab, campaign) == {"geo": 2}
    assert runs[0]["way"] == {"receiver": "sat via 10.0.0.1", "sender": "", "addresses": ["192.0.2.2"]}


def test_another_way_is_another_group_by_name_and_so_is_a_change_within_a_run(
    lab: Lab, agents: list[ScriptedAgent]
) -> None:
    campaign, _ = drive(lab, agents, [(SAT, SAT), (SAT, SAT), (LAN, LAN), (SAT, LAN)])
    assert groups(lab, campaign) == {
        "geo, over sat via 10.0.0.1": 2, "geo, over lan": 1, "geo, over sat via 10.0.0.1, then lan": 1,
    }  # fmt: skip
    said = lab.call("GET", f"/campaigns/{campaign}/circumstances")["ways"]
    assert [(each["receiver"], each["runs"]) for each in said] == [
        ("sat via 10.0.0.1", 2), ("lan", 1), ("sat via 10.0.0.1, then lan", 1),
    ]  # fmt: skip
    lines = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/runs.csv"))))
    assert [line["receiver_way"] for line in lines] == [
        "sat via 10.0.0.1", "sat via 10.0.0.1", "lan", "sat via 10.0.0.1, then lan",
    ]  # fmt: skip
    for table in ("summary", "statistics", "fairness"):
        lab.call("GET", f"/campaigns/{campaign}/{table}.csv")
    for answer in ("statistics", "exits", "limits", "rates", "delays", "values"):
        lab.call("GET", f"/campaigns/{campaign}/{answer}")


def test_another_public_address_alone_is_shown_and_told_apart_where_a_person_wants_it(
    lab: Lab, agents: list[ScriptedAgent]
) -> None:
    campaign, runs = drive(
        lab, agents, [(SAT, SAT)] * 3, ["203.0.113.7:50000", "203.0.113.7:50002", "198.51.100.9:50000"]
    )
    assert groups(lab, campaign) == {"geo": 3}
    assert [run["way"]["addresses"] for run in runs] == [["203.0.113.7"], ["203.0.113.7"], ["198.51.100.9"]]
    changed = lab.call("PATCH", f"/campaigns/{campaign}", {"splits_by_address": True})
    assert changed["splits_by_address"] is True
    settle(lab)
    assert groups(lab, campaign) == {"geo, seen as 203.0.113.7": 2, "geo, seen as 198.51.100.9": 1}
    lab.call("PATCH", f"/campaigns/{campaign}", {"splits_by_address": False})
    settle(lab)
    assert groups(lab, campaign) == {"geo": 3}


def test_of_a_host_whose_owner_wants_it_so_the_network_alone_is_kept(lab: Lab) -> None:
    shy = {"policy": {"utc_offset_s": 0, "shorten_addresses": True}}
    agents = [lab.join("client"), lab.join("server")]
    agents[0].host.update(shy)
    agents[0].is_new = True
    assert agents[0].poll() is None
    lab.link(nominal_rate_bps=80_000_000)
    _, runs = drive(lab, agents, [(SAT, SAT)] * 2, ["203.0.113.7:50000", "[2001:db8:1:2::7]:50000"])
    assert [run["way"]["addresses"] for run in runs] == [["203.0.113.0/24"], ["2001:db8:1::/48"]]
    with lab.units() as unit:
        stored = unit.session.scalars(select(RunFlow).order_by(RunFlow.run_id)).all()
    receivers = [flow.receiver_outcome for flow in stored if flow.receiver_outcome]
    assert {each.way and each.way.source for each in receivers} == {"10.0.0.0/24"}
    assert {each.local_address for each in receivers} == {"192.0.2.0/24:40000"}
    assert {each.peer_address for each in receivers} == {"192.0.2.2:50000"}, "the sender's owner did not ask for it"


def settle(lab: Lab) -> None:
    lab.tick()
    while lab.work():
        pass


def test_agents_of_before_say_no_way_and_are_one_group(lab: Lab, agents: list[ScriptedAgent]) -> None:
    campaign, runs = drive(lab, agents, [(None, None), (SAT, SAT)])
    assert groups(lab, campaign) == {"geo": 2}
    assert runs[0]["way"] is None


def test_what_the_link_cannot_give_is_marked_until_a_person_decides(lab: Lab, agents: list[ScriptedAgent]) -> None:
    agents[1].draws = RttOfRuns([600, 2, 600])
    campaign, runs = drive(lab, agents, [(None, None)] * 3)
    assert [run["implausible"] is None for run in runs] == [True, False, True]
    (said,) = runs[1]["implausible"]
    assert said == (
        "Flow 1 has round trips of 2.00 ms. Over GEO none is below 477.5 ms, and no proxy on the way was found that would explain it."
    )
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert [(group["runs"], group.get("implausible", 0)) for group in report["groups"]] == [(3, 1)]
    assert lab.call("GET", f"/campaigns/{campaign}/circumstances")["implausible"] == 1
    rtts = [run["metrics"][0]["overall"]["rtt_ms"] for run in runs]
    assert report["groups"][0]["metrics"]["overall"]["rtt_ms"]["mean"] == pytest.approx(sum(rtts) / 3)

    path = f"/runs/{runs[1]['id']}/decision"
    decided = lab.call("PUT", path, {"keeps": False, "why": "It went over the cable."})
    assert (decided["decision"]["keeps"], decided["decision"]["by"]) == (False, "tests")
    lab.tick()
    while lab.work():
        pass
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert [(group["runs"], group.get("implausible", 0)) for group in report["groups"]] == [(2, 0)]
    assert report["groups"][0]["metrics"]["overall"]["rtt_ms"]["mean"] == pytest.approx((rtts[0] + rtts[2]) / 2)
    assert lab.call("GET", f"/campaigns/{campaign}/circumstances")["left_out"] == 1
    assert any("tests leaves out this run: It went over the cable." in str(event) for event in decided["events"])

    lab.call("PUT", path, {"keeps": True, "why": "A test of the cable."})
    lab.call("DELETE", path)
    assert lab.call("DELETE", path, expect=409)["code"] == "nothing_decided"
    lab.tick()
    while lab.work():
        pass
    assert [group["runs"] for group in lab.call("GET", f"/campaigns/{campaign}/report")["groups"]] == [3]


def test_a_rate_above_the_links_own_is_marked_with_its_tolerance(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link = lab.call("GET", "/links")["items"][0]
    lab.call("PATCH", f"/links/{link['id']}", {"nominal_rate_bps": 50_000_000})
    _, (run,) = drive(lab, agents, [(None, None)])
    (said,) = run["implausible"]
    assert "1.6 times the link's nominal rate of 50.0 Mb/s; 50% more" in said
    lab.call("PATCH", f"/links/{link['id']}", {"nominal_rate_bps": 60_000_000})
    _, (run,) = drive(lab, agents, [(None, None)])
    assert run["implausible"] is None


def test_a_run_under_way_is_not_decided_about(lab: Lab, agents: list[ScriptedAgent]) -> None:
    campaign = lab.launch(**SHORT)
    run = lab.runs(campaign)[0]
    refused = lab.call("PUT", f"/runs/{run['id']}/decision", {"keeps": False, "why": "x"}, expect=409)
    assert refused["code"] == "run_under_way"


@pytest.mark.parametrize(("tolerance_percent", "is_marked"), [(50, True), (200, False)])
def test_a_link_says_how_far_its_nominal_rate_may_be_exceeded(
    lab: Lab, tolerance_percent: int, is_marked: bool
) -> None:
    agents = [lab.join("client"), lab.join("server")]
    made = lab.link(orbit="terrestrial", nominal_rate_bps=4 * RATE_BYTES_S)
    assert made["rate_tolerance_percent"] == 50
    lab.call("PATCH", f"/links/{made['id']}", {"rate_tolerance_percent": tolerance_percent})
    _, (run,) = drive(lab, agents, [(None, None)])
    assert bool(run["implausible"]) is is_marked
    if is_marked:
        assert "50% more than nominal is taken for possible" in run["implausible"][0]
