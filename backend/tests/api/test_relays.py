"""Runs over relays: what links name, what is refused before a launch, what each agent is told, and what comes of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from downlink.domain.campaigns.flow_plan import Intcp
from tests.fixtures.lab import CAMPAIGN, Lab
from tests.fixtures.relays import NUMBER, OPTIONS, join
from tests.fixtures.scripted_agent import RATE_BYTES_S, ScriptedAgent

pytestmark = pytest.mark.sampled("faults")

INTCP_FLOW = {"transport": "intcp", "offer": {"message_bytes": 16, "every_ms": 5}}
SPLIT_FLOW = {"transport": "split", "cc": "cubic", "relay_cc": "dl_hybla"}


def crew(
    lab: Lab, *, relays: tuple[str, ...] = ("near", "far"), host_roles: tuple[str, ...] = ("relay",), **facts: Any
) -> dict[str, ScriptedAgent]:
    agents = {
        "client": join(lab, "client", ("receiver",)),
        "server": join(lab, "server", ("sender",)),
        **{name: join(lab, name, host_roles, **facts) for name in relays},
    }
    lab.link(relays=list(relays))
    return agents


def conditions(*flows: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"c{number}", "flows": [flow]} for number, flow in enumerate(flows, 1)]


def conflicts(lab: Lab, *flows: dict[str, Any]) -> list[tuple[str, str, str]]:
    campaign = {**CAMPAIGN, "conditions": conditions(*flows)}
    found = lab.call("POST", "/campaigns/preview", {"campaign": campaign})["conflicts"]
    return [(each["code"], each["place"], each["message"]) for each in found]


def test_a_link_names_its_relays_in_order_and_each_agent_once(lab: Lab) -> None:
    crew(lab)
    (link,) = lab.call("GET", "/links")["items"]
    assert link["relays"] == ["near", "far"]
    changed = lab.call("PATCH", f"/links/{link['id']}", {"relays": ["far"]})
    assert changed["relays"] == ["far"]
    refused = lab.call("PATCH", f"/links/{link['id']}", {"relays": ["server"]}, expect=422)
    assert "once only" in refused["message"]
    assert lab.call("PATCH", f"/links/{link['id']}", {"relays": ["nobody"]}, expect=404)["code"] == "agent_not_found"


def test_without_relays_neither_split_nor_intcp_is_launched(lab: Lab) -> None:
    crew(lab, relays=())
    ((code, place, message),) = conflicts(lab, INTCP_FLOW)
    assert (code, place) == ("relays_missing", "conditions[0].flows[0].transport")
    assert "downlink links change geo --relay AGENT" in message
    assert conflicts(lab, {"cc": "cubic"}) == []


@pytest.mark.parametrize(
    ("facts", "flow", "place", "words"),
    [
        ({"transports": ["tcp"]}, INTCP_FLOW, "transport", "carries no intcp flows"),
        ({"transports": ["intcp"]}, SPLIT_FLOW, "transport", "carry INTCP alone: for split TCP name relays"),
        ({}, {**INTCP_FLOW, "options": {"buffer_bytes": 24_000_000}}, "transport", "buffer_bytes of intcp must be a whole"),
        ({"data_mtu": 1400}, INTCP_FLOW, "transport", "takes 1,400: raise its MTU"),
        ({}, {**SPLIT_FLOW, "relay_cc": "dl_pcc"}, "relay_cc", "does not have the control dl_pcc"),
        ({"host_roles": ("sender",)}, SPLIT_FLOW, None, "near may not be a relay"),
    ],
)  # fmt: skip
def test_what_a_relay_cannot_do_is_said_before_a_launch(
    lab: Lab, facts: dict[str, Any], flow: dict[str, Any], place: str | None, words: str
) -> None:
    crew(lab, relays=("near",), **facts)
    found = [each for each in conflicts(lab, flow) if "near" in each[2]]
    assert [words in each[2] for each in found] == [True]
    assert place is None or found[0][1] == f"conditions[0].flows[0].{place}"


def test_a_relays_buffer_is_bounded_by_the_relays_owners_alone(lab: Lab) -> None:
    """The ends allow less than they would as relays: they have no such buffer here."""
    far = {**OPTIONS, "buffer_bytes": {**NUMBER, "max": 200_000_000}}
    crew(lab, relays=("near", "far"), transport_options={"intcp": far})
    assert conflicts(lab, {**INTCP_FLOW, "options": {"buffer_bytes": 100_000_000}}) == []
    found = conflicts(lab, {**INTCP_FLOW, "options": {"buffer_bytes": 300_000_000}})
    assert [("200000000" in said, "on near" in said, "on far" in said) for _, _, said in found] == [
        (True, True, False),
        (True, False, True),
    ]


def test_an_offer_needs_an_agent_that_sends_messages(lab: Lab) -> None:
    crew(lab, relays=("near",))
    offer = {"cc": "cubic", "offer": {"message_bytes": 16, "every_ms": 5}}
    assert conflicts(lab, offer) == []
    lab.join("plain", roles=("sender",))
    lab.link(name="other", senders=("plain",), receiver="client")
    found = lab.call(
        "POST", "/campaigns/preview", {"campaign": {**CAMPAIGN, "links": ["other"], "conditions": conditions(offer)}}
    )
    assert found["conflicts"] == []  # an agent that says nothing of itself is not judged


def prepared(agents: dict[str, ScriptedAgent]) -> dict[str, dict[str, Any]]:
    orders: dict[str, dict[str, Any]] = {}
    for name, agent in agents.items():
        order = agent.act()
        assert order, f"{name} has no order"
        assert order["kind"] == "prepare"
        orders[name] = order
    return orders


def test_a_relays_host_gets_the_settings_of_relays_and_no_other(lab: Lab) -> None:
    agents = crew(lab)
    buffer = {"net.ipv4.tcp_rmem": "4096 131072 64000000"}
    lab.launch(conditions=[{**conditions(SPLIT_FLOW)[0], "relay": buffer}])
    lab.tick()
    settings = {name: order["settings"] for name, order in prepared(agents).items()}
    assert settings["near"] == settings["far"] == buffer
    assert buffer.keys().isdisjoint(settings["client"] | settings["server"])


def test_a_setting_that_a_relays_host_refuses_is_said_before_a_launch(lab: Lab) -> None:
    crew(lab, relays=("near",), settings_writable=[])
    campaign = {
        **CAMPAIGN,
        "conditions": [{**conditions(SPLIT_FLOW)[0], "relay": {"net.ipv4.tcp_rmem": "4096 131072 64000000"}}],
    }
    found = lab.call("POST", "/campaigns/preview", {"campaign": campaign})["conflicts"]
    assert "conditions[0].relay.net.ipv4.tcp_rmem" in [each["place"] for each in found]


def test_each_agent_learns_its_neighbours_and_the_keys_of_its_own_hops(lab: Lab) -> None:
    agents = crew(lab)
    lab.launch(conditions=conditions(INTCP_FLOW))
    lab.tick()
    orders = prepared(agents)
    flows = {name: order["flows"][0] for name, order in orders.items()}
    way = ["server", "near", "far", "client"]
    assert [flows[name].get("place") for name in way] == [None, 1, 2, None]
    assert [orders[name]["settings"] == {} for name in way] == [False, True, True, False]
    keys = []
    for hop, (above, below) in enumerate(pairwise(way), 1):
        (down,) = flows[above]["downstream"]
        up = flows[below]["upstream"]
        assert (down["agent"], up["agent"], down["hop"], up["hop"]) == (below, above, hop, hop)
        assert down["key"] == up["key"]
        keys.append(up["key"])
    assert len(set(keys)) == 3
    assert ["content_seed" in flows[name] for name in way] == [True, False, False, True]
    assert flows["server"]["content_seed"] == flows["client"]["content_seed"]
    assert flows["near"]["transport"] == {"kind": "intcp", "options": {**vars(Intcp())}}
    assert flows["near"]["offer"] == {"message_bytes": 16, "every_ms": 5}


def shared(lab: Lab, **facts: Any) -> tuple[dict[str, ScriptedAgent], list[dict[str, Any]]]:
    """Agents of a link with a further receiver, and a condition of a flow to each, both of content 4."""
    knows = {"transport_options": {"intcp": {**OPTIONS, "content": {**NUMBER, "max": 64}}}, **facts}
    roles = {"client": "receiver", "second": "receiver", "server": "sender", "near": "relay"}
    agents = {name: join(lab, name, (role,), **knows) for name, role in roles.items()}
    lab.link(relays=["near"], further_receivers=["second"])
    own = {"transport": "intcp", "content": 4}
    return agents, [{"name": "a", "flows": [own, {**own, "receiver": 2}]}]


def test_each_receiver_has_a_hop_of_its_own_and_flows_of_one_content_its_seed(lab: Lab) -> None:
    agents, asked = shared(lab)
    lab.launch(conditions=asked)
    lab.tick()
    orders = prepared(agents)
    assert {name: len(order["flows"]) for name, order in orders.items()} == {
        "client": 1, "second": 1, "server": 2, "near": 2,
    }  # fmt: skip
    assert [flow["receivers"][0]["agent"] for flow in orders["server"]["flows"]] == ["client", "second"]
    everywhere = [flow for order in orders.values() for flow in order["flows"]]
    assert {flow["content"] for flow in everywhere} == {1}  # the first flow of content 4
    assert len({flow["content_seed"] for flow in everywhere if "content_seed" in flow}) == 1
    down = [flow["downstream"][0] for flow in orders["near"]["flows"]]
    assert [(each["agent"], each["hop"]) for each in down] == [("client", 2), ("second", 3)]
    assert [orders[each["agent"]]["flows"][0]["upstream"]["key"] for each in down] == [each["key"] for each in down]
    assert down[0]["key"] != down[1]["key"]
    assert {flow["upstream"]["hop"] for flow in orders["near"]["flows"]} == {1}


def test_hops_of_flows_that_share_a_content_say_so(lab: Lab) -> None:
    agents, asked = shared(lab)
    (run,) = lab.drive(lab.launch(conditions=asked), list(agents.values()))
    flows = lab.call("GET", f"/runs/{run['id']}/hops")["flows"]
    assert [(flow["flow"], flow["is_of_content"]) for flow in flows] == [(1, True), (2, True)]
    assert [flow["hops"][-1]["ends_at"] for flow in flows] == ["client", "second"]


def test_an_agent_that_knows_no_shared_content_is_named_before_a_launch(lab: Lab) -> None:
    _, asked = shared(lab, transport_options={"intcp": OPTIONS})
    found = lab.call("POST", "/campaigns/preview", {"campaign": {**CAMPAIGN, "conditions": asked}})["conflicts"]
    assert {each["code"] for each in found} == {"control_unfit"}
    assert all("knows of no content that flows share" in each["message"] for each in found)


def test_everybody_dials_upstream_and_the_run_is_measured_at_each_place(lab: Lab) -> None:
    agents = crew(lab)
    for number, agent in enumerate(agents.values(), 1):
        agent.listens_at = f"192.0.2.1:{40_000 + number}"
        agent.keeps_delivery = True
    campaign = lab.launch(conditions=conditions(INTCP_FLOW, SPLIT_FLOW))
    told: dict[str, dict[str, str]] = {}
    for agent in agents.values():
        agent._on_go = lambda order, of=agent: (
            told.update({of.name: order["peers"]}),
            setattr(of, "status", "running"),
        )  # type: ignore[method-assign]
    runs = lab.drive(campaign, list(agents.values()))
    assert [run["state"] for run in runs] == ["complete"] * 2
    assert told == {
        "server": {},
        "near": {"1": "192.0.2.1:40002"},
        "far": {"1": "192.0.2.1:40003"},
        "client": {"1": "192.0.2.1:40004"},
    }
    for run in runs:
        detail = lab.call("GET", f"/runs/{run['id']}")
        (flow,) = detail["flows"]
        kind = flow["carrier"]["kind"]
        hops = [(hop["point"], hop["agent"], hop["trace"]["state"]) for hop in flow["hops"]]
        assert hops == [("hop-1", "near", "sealed"), ("hop-2", "far", "sealed")]
        assert {half: trace["state"] for half, trace in flow["delivery"].items()} == {
            "sent": "sealed",
            "delivered": "sealed",
        }
        if kind == "intcp":
            assert flow["goodput_bps"] == pytest.approx(8 * RATE_BYTES_S, rel=0.01)
            steady = detail["metrics"][0]["steady"]
            assert steady["rtt_ms"] == pytest.approx(80)
            assert steady["retransmission_percent"] == pytest.approx(10, rel=0.01)
            assert (steady["cwnd_bytes"], steady["in_flight_bytes"]) == (2_000_000, 900_000)
            samples = lab.call("GET", f"/runs/{run['id']}/traces/1/hop-2/samples?column=backlog_bytes")
            assert samples["columns"]["backlog_bytes"]["values"][0] == 30_000
            (of_flow,) = lab.call("GET", f"/runs/{run['id']}/hops")["flows"]
            assert [(hop["begins_at"], hop["ends_at"]) for hop in of_flow["hops"]] == list(
                pairwise(["server", "near", "far", "client"])
            )
            assert (of_flow["kind"], of_flow["is_summed"]) == ("intcp", False)
            assert of_flow["hops"][1]["arrived_bps"] == pytest.approx([8 * RATE_BYTES_S] * 25)
            assert of_flow["hops"][2]["totals"]["lost_packets"] == 5
            lines = lab.call("GET", f"/runs/{run['id']}/hops.csv").splitlines()
            assert lines[0].startswith("flow,hop,from,to,time_s,node,asked_bps,arrived_bps")
            assert lines[1].startswith("1,1,server,near,0.0,,")
            assert len(lines) == 1 + 3 * 25
    assert {agent.orders.count("upload") for agent in agents.values()} == {2}


@pytest.mark.parametrize(
    ("who", "ended", "reason"),
    [("client", "content_wrong", "content_wrong"), ("client", "refused", "relay_refused"), ("near", "link_lost", "link_lost")],
)  # fmt: skip
def test_what_one_on_the_way_says_is_why_the_run_failed(lab: Lab, who: str, ended: str, reason: str) -> None:
    agents = crew(lab, relays=("near",))
    agents[who].ends_with = ended
    if who == "client":
        agents["server"].ends_with = "peer_closed"  # the symptom
    order = [agents[who], *agents.values()]
    runs = lab.drive(lab.launch(conditions=conditions(INTCP_FLOW), limits={"attempts": 1}), order)
    assert [(run["state"], run["reason"]) for run in runs] == [("failed", reason)]


def test_hops_are_said_to_be_missing_where_no_flow_passes_relays(lab: Lab) -> None:
    agents = crew(lab)
    (run,) = lab.drive(lab.launch(conditions=conditions({"cc": "cubic"})), list(agents.values()))
    assert lab.call("GET", f"/runs/{run['id']}/hops", expect=404)["code"] == "hops_not_found"
    assert lab.call("GET", f"/runs/{run['id']}/hops.csv", expect=404)["code"] == "hops_not_found"


def test_a_relay_that_nobody_reaches_fails_the_run_with_both_addresses(lab: Lab) -> None:
    agents = crew(lab, relays=("near",))
    words = "192.0.2.1:4000 does not answer at 192.0.2.2:4001; open UDP port 4001 there."
    agents["client"].fails_with = {"reason": "relay_unreachable", "detail": words}
    runs = lab.drive(lab.launch(conditions=conditions(INTCP_FLOW), limits={"attempts": 1}), list(agents.values()))
    assert [(run["state"], run["reason"]) for run in runs] == [("failed", "relay_unreachable")]
    assert words in runs[0]["detail"]


def test_a_run_over_relays_waits_for_a_relay_and_tcp_does_not(lab: Lab) -> None:
    agents = crew(lab, relays=("near",))
    agents["near"].says = {"status": "blocked", "detail": "paused"}
    agents["near"].poll()
    assert [code for code, _, _ in conflicts(lab, INTCP_FLOW)] == ["agent_blocked"]
    assert conflicts(lab, {"cc": "cubic"}) == []


def test_a_relay_that_can_again_starts_the_run_that_waits_for_it(lab: Lab) -> None:
    lab.stop_clock()
    near = crew(lab, relays=("near",))["near"]
    campaign = lab.launch(conditions=conditions(INTCP_FLOW))
    near.says = {"status": "blocked", "detail": "paused"}
    near.poll()
    lab.tick()
    assert lab.runs(campaign)[0]["state"] == "planned"
    near.says = {}
    near.poll()
    lab.tick()
    assert lab.runs(campaign)[0]["state"] == "leased"
