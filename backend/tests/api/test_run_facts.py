"""What agents report of flows and hosts reaches the pages as it was said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.lab import Lab

pytestmark = pytest.mark.sampled("faults")

FACTS = ("cc_version", "hystart_exits", "sampling", "dropped_samples")


def facts_of(lab: Lab, **finds: Any) -> list[Any]:
    """The flow's facts after a run in which the sender found this."""
    client, server = lab.join("client"), lab.join("server")
    server.finds = finds
    lab.link()
    run = lab.drive(lab.launch(), [client, server])[0]
    flow = lab.call("GET", f"/runs/{run['id']}")["flows"][0]
    return [flow[name] for name in FACTS]


def test_a_flow_tells_how_it_was_recorded_and_what_controlled_it(lab: Lab) -> None:
    finds = {"cc_version": 3, "hystart_exits": {"train": 1, "delay": 0}, "sampling": "per_ack", "dropped_samples": 12}
    assert facts_of(lab, **finds) == [3, {"train": 1, "delay": 0}, "per_ack", 12]


def test_an_agent_that_says_nothing_of_it_has_polled(lab: Lab) -> None:
    assert facts_of(lab) == [None, None, "polled", 0]


def test_before_the_end_nothing_is_known(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch()
    lab.tick()
    flow = lab.call("GET", f"/runs/{lab.runs(campaign)[0]['id']}")["flows"][0]
    assert [flow[name] for name in FACTS] == [None] * 4


def test_a_host_tells_which_controls_it_cannot_run_and_why(lab: Lab) -> None:
    reason = "load dl_vivace: this kernel has no BTF"
    agent = lab.join("client")
    agent.host["controls_unavailable"] = {"dl_vivace": reason}
    agent.forget()
    agent.poll()
    assert lab.call("GET", "/agents")["items"][0]["host"]["controls_unavailable"] == {"dl_vivace": reason}


def test_a_campaign_tells_how_its_senders_record(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link()
    made = lab.launch(sampling="per_ack"), lab.launch()
    assert [lab.call("GET", f"/campaigns/{each}")["spec"]["sampling"] for each in made] == ["per_ack", "polled"]


def test_the_series_of_a_run_name_the_control_that_ran_beside_the_one_asked_for(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    server.finds = {"actual_cc": "bbr"}
    lab.link()
    run = lab.drive(lab.launch(), [client, server])[0]
    (flow,) = lab.call("GET", f"/runs/{run['id']}/series")["flows"]
    assert (flow["cc"], flow["asked_cc"]) == ("bbr", "cubic")


def test_a_run_knows_its_campaign_and_the_runs_around_it(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link()
    ids = [run["id"] for run in lab.runs(lab.launch(name="Around", conditions=[{"name": "a"}, {"name": "b"}]))]
    runs = [lab.call("GET", f"/runs/{each}") for each in ids]
    assert {run["campaign_name"] for run in runs} == {"Around"}
    assert {run["runs_in_cycle"] for run in runs} == {2}
    assert [run["previous_run_id"] for run in runs] == [None, *ids[:-1]]
    assert [run["next_run_id"] for run in runs] == [*ids[1:], None]
