"""Split TCP and INTCP from end to end: real agents, the relay on the ground beside the sender, one emulated link."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from downlink.cli.client import Access, Client
from downlink.cli.table import current_report
from downlink.stack.launcher import running
from downlink.stack.rig import RELAYS, ROUTER, Host, Rig, check_host, wait_online
from tests.system.conftest import AGENT, DASHBOARD, PROFILE, RECEIVER, SENDER, System, link_body

pytestmark = pytest.mark.verify("stack", measures=True)

ONE_WAY_MS, QUEUE_BYTES = 10, 250_000
"""Of the profile, on the way to the receiver."""
BUSY_MS = 100
RELAY = Host("sender-2", "test-relay", "relay")
CAMPAIGN = f"""
name: Over a relay
links: [{PROFILE}]
stop: {{seconds: 5}}
timetable: {{cycles: 1}}
deliveries: true
limits: {{attempts: 3}}
conditions:
  - {{name: split, flows: [{{transport: split, cc: cubic, relay_cc: reno}}]}}
  - {{name: intcp, flows: [{{transport: intcp}}]}}
  - {{name: messages, flows: [{{transport: intcp, offer: {{message_bytes: 16, every_ms: 5}}}}]}}
  - {{name: plain, flows: [{{cc: cubic}}]}}
"""

SITES = (
    Host("receiver", "sites-receiver", "receiver"),
    Host("sender-1", "sites-sender", "sender"),
    Host(RELAYS, "sites-relays", "relay"),
)
WAY = "{rate: {constant_bps: 20000000}, queue: {limit_bytes: 1500000}, delay: {base_ms: 8}, loss: {independent_ratio: %s}}"
HOP = f"  - {{down: {WAY % 0.02}, up: {WAY % 0}}}\n"
THREE_HOPS = f"name: three-hops\norbit: LEO\nseed: 1\nhops:\n{3 * HOP}facts: {{source: chosen}}\n"
OVER_SITES = """
name: Over sites
links: [three-hops]
stop: {seconds: 6}
phases: {startup_s: 2, steady_s: 2}
timetable: {cycles: 1}
limits: {attempts: 3}
conditions:
  - {name: intcp, flows: [{transport: intcp}]}
"""
ROUTED = (
    Host("receiver", "routed-receiver", "receiver"),
    Host("sender-1", "routed-sender", "sender"),
    Host(f"{ROUTER}1", "routed-router", "relay"),
)
SHALLOW = "{rate: {constant_bps: 20000000}, queue: {limit_bytes: 250000}, delay: {base_ms: DELAY}, loss: {independent_ratio: LOSS}}"


def shallow(delay_ms: float, loss_ratio: float) -> str:
    return SHALLOW.replace("DELAY", str(delay_ms)).replace("LOSS", str(loss_ratio))


TWO_HOPS = f"""
name: two-hops
orbit: LEO
seed: 1
hops:
  - {{down: {shallow(2, 0.01)}, up: {shallow(2, 0)}}}
  - {{down: {shallow(40, 0)}, up: {shallow(40, 0)}}}
facts: {{source: chosen}}
"""
AT_A_ROUTER = """
name: At a router
links: [two-hops]
stop: {seconds: 6}
phases: {startup_s: 2, steady_s: 3}
timetable: {cycles: 1}
limits: {attempts: 3}
conditions:
  - {name: end to end, flows: [{cc: reno}]}
  - {name: split, flows: [{transport: split, cc: reno, relay_cc: reno}], relay: {net.ipv4.tcp_rmem: 4096 131072 16000000}}
  - {name: intcp, flows: [{transport: intcp}]}
"""
CROWD = (
    Host("receiver", "along-receiver", "receiver"),
    Host("receiver-2", "along-receiver-2", "receiver"),
    Host("receiver-3", "along-receiver-3", "receiver"),
    Host("sender-1", "along-sender", "sender"),
    Host(RELAYS, "along-relays", "relay"),
)


def still(rate_bps: int) -> str:
    way = f"{{rate: {{constant_bps: {rate_bps}}}, queue: {{limit_bytes: 1500000}}, delay: {{base_ms: 8}}}}"
    return f"down: {way}, up: {way}"


FIRST_HOP_BPS = 4_000_000
ALONG = f"""
name: along
orbit: LEO
seed: 1
hops: [{{{still(FIRST_HOP_BPS)}}}, {{{still(20_000_000)}}}, {{{still(20_000_000)}}}]
receivers: [{{at: 0.5, {still(20_000_000)}}}, {{at: 0, {still(20_000_000)}}}]
facts: {{source: chosen}}
"""
OF_ONE_CONTENT = """
name: Of one content
links: [along]
stop: {seconds: 8}
phases: {startup_s: 2, steady_s: 4}
timetable: {cycles: 1}
limits: {attempts: 4}
vary: {receivers: [3]}
conditions:
  - {name: with, flows: [{transport: intcp}]}
  - {name: without, flows: [{transport: intcp, options: {cache: "off"}}]}
  - {name: tcp, flows: [{cc: cubic}]}
"""


@pytest.fixture(scope="module")
def relayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A stack, a link with two hosts on the ground, and a relay in the second of them."""
    check_host()
    home: Path = tmp_path_factory.mktemp("relayed")
    hosts = (RECEIVER, SENDER, RELAY)
    with running(home, DASHBOARD) as stack:
        client = Client(Access(stack.address, stack.token))
        rig = Rig(stack.supervisor, AGENT, f"relay-{os.getpid()}")
        facts = rig.link_up(PROFILE, senders=2, control=stack.address.removeprefix("http://"))
        for host in hosts:
            rig.join(host, client.post("/agents/enrolments", {"name": host.agent})["token"])
            config = rig.state(host) / "agent.yaml"
            config.write_text(allowed(config.read_text()))
            rig.start_agent(host)
        wait_online(lambda: client.items("/agents"), hosts, stack.supervisor.check)
        client.post("/links", {**link_body(facts), "relays": [RELAY.agent]})
        yield System(stack, rig, client)


def allowed(text: str) -> str:
    """A configuration whose owner allows neighbours at private addresses, as those of a test are."""
    if "relay_private:" in text:
        return re.sub(r"relay_private: \w+", "relay_private: true", text)
    return text.replace("policy:\n", "policy:\n  relay_private: true\n")


def build(
    system: System, name: str, profile: str, hosts: tuple[Host, ...], folder: Path, *, has_router_hosts: bool = False
) -> dict[str, Any]:
    """Another link, with its agents: receiver, sender and relay. Answers what the link says of itself."""
    file = folder / f"{name}.yaml"
    file.write_text(profile)
    rig = Rig(system.stack.supervisor, AGENT, f"{name}-{os.getpid()}")
    control = system.stack.address.removeprefix("http://")
    facts = rig.link_up(str(file), senders=1, control=control, has_router_hosts=has_router_hosts)
    for host in hosts:
        rig.join(host, system.client.post("/agents/enrolments", {"name": host.agent})["token"])
        rig.start_agent(host)
    wait_online(lambda: system.client.items("/agents"), hosts, system.stack.supervisor.check)
    receivers, senders, relays = (
        [host.agent for host in hosts if host.role == role] for role in ("receiver", "sender", "relay")
    )
    ends = {
        "name": name,
        "receiver": receivers[0],
        "senders": senders,
        "relays": relays,
        "further_receivers": receivers[1:],
    }
    system.client.post("/links", {**link_body(facts), **ends})
    return facts


def test_flows_over_a_relay_are_measured_like_tcp(relayed: System) -> None:
    campaign = relayed.launch(CAMPAIGN)
    relayed.wait_complete(campaign, timeout_s=240)
    runs = {run["condition"]: run for run in relayed.runs_in_time(campaign)}
    assert {name: (run["state"], run["detail"]) for name, run in runs.items()} == dict.fromkeys(
        ("split", "intcp", "messages", "plain"), ("complete", None)
    )
    rate_bps = relayed.client.items("/links")[0]["nominal_rate_bps"]
    for name in ("split", "intcp", "messages"):
        (flow,) = relayed.client.get(f"/runs/{runs[name]['id']}")["flows"]
        assert [hop["trace"]["state"] for hop in flow["hops"]] == ["sealed"]
        share = flow["goodput_bps"] / rate_bps
        assert share < 0.01 if name == "messages" else 0.3 < share < 1
    check_delays(relayed, campaign, rate_bps)


def check_delays(relayed: System, campaign: str, rate_bps: float) -> None:
    """No block is quicker than the profile's way, and none of a message or of plain TCP takes longer than a full queue and a busy machine
    make it. All agents run on one kernel."""
    report = current_report(relayed.client, campaign)
    overall = {group["condition"]: group["metrics"]["overall"] for group in report["groups"]}
    queue_ms = 8e3 * QUEUE_BYTES / rate_bps
    for name in ("split", "intcp", "messages", "plain"):
        one_way, in_order = (overall[name][metric]["mean"] for metric in ("one_way_delay_ms", "in_order_delay_ms"))
        assert ONE_WAY_MS <= one_way <= in_order, name
        if name in ("messages", "plain"):
            assert one_way < ONE_WAY_MS + queue_ms + BUSY_MS, name
    found = relayed.client.get(f"/campaigns/{campaign}/delays")
    kinds = {(group["condition"], each["kind"]): each for group in found["groups"] for each in group["delays"]}
    assert {(each["clock_error_ms"], len(each["left_out"])) for each in kinds.values()} == {(0, 0)}
    assert kinds["messages", "one_way_delay"]["p5_ms"] >= 0.995 * ONE_WAY_MS


def test_the_sites_of_an_emulated_link_relay(relayed: System, tmp_path: Path) -> None:
    """Three hops: the routers between them are one agent to the server, which carries INTCP alone."""
    build(relayed, "three-hops", THREE_HOPS, SITES, tmp_path)
    found = relayed.client.post(
        "/campaigns/preview", {"source": OVER_SITES.replace("transport: intcp", "transport: split, cc: cubic")}
    )
    assert ["carry INTCP alone" in each["message"] for each in found["conflicts"]] == [True]
    campaign = relayed.launch(OVER_SITES)
    relayed.wait_complete(campaign, timeout_s=120)
    (run,) = relayed.runs_in_time(campaign)
    assert (run["state"], run["detail"]) == ("complete", None)
    (flow,) = relayed.client.get(f"/runs/{run['id']}")["flows"]
    assert [hop["trace"]["state"] for hop in flow["hops"]] == ["sealed"]
    assert 0.75 < flow["goodput_bps"] / 20e6 < 0.95  # 2 % of loss at each hop, which TCP could not bear
    assert flow["sites"]["state"] == "sealed"
    names = ("site_place", "site_arrived_bytes", "site_lost_packets")
    found = relayed.client.get(f"/runs/{run['id']}/traces/1/sites/samples", column=names, points=10_000)["columns"]
    rows = list(zip(*(found[name]["values"] for name in names), strict=True))
    arrived, lost = ([sum(row[of] for row in rows if row[0] == place) for place in (1, 2)] for of in (1, 2))
    assert arrived[1] == pytest.approx(arrived[0], rel=0.1)
    assert min(lost) > 0


def test_receivers_along_the_way_share_what_relays_keep(relayed: System, tmp_path: Path) -> None:
    """Three receivers ask for one content over a narrow first hop: each has its rate with caches, and a third of it without."""
    facts = build(relayed, "along", ALONG, CROWD, tmp_path)
    assert {"receiver", "receiver-2", "receiver-3"} <= set(facts["hosts"])
    more = relayed.client.post("/campaigns/preview", {"source": OF_ONE_CONTENT.replace("[3]", "[4]")})
    assert [each["code"] for each in more["conflicts"]] == ["unknown_receiver"]
    campaign = relayed.launch(OF_ONE_CONTENT)
    relayed.wait_complete(campaign, timeout_s=240)
    runs = {run["condition"].partition(",")[0]: run for run in relayed.runs_in_time(campaign)}
    assert {name: (run["state"], run["detail"]) for name, run in runs.items()} == dict.fromkeys(
        ("with", "without", "tcp"), ("complete", None)
    )
    flows = {name: relayed.client.get(f"/runs/{run['id']}")["flows"] for name, run in runs.items()}
    shares = {name: [flow["goodput_bps"] / FIRST_HOP_BPS for flow in each] for name, each in flows.items()}
    assert [flow["receiver"] for flow in flows["with"]] == [host.agent for host in CROWD[:3]]
    assert [flow["content"] for flow in flows["with"]] == [1, 1, 1]
    assert min(shares["with"]) > 0.6
    assert max(shares["without"]) < 0.45
    assert 0.6 < sum(shares["without"]) < 1
    assert 0.6 < sum(shares["tcp"]) < 1


def test_a_router_of_an_emulated_link_can_be_a_host_that_ends_tcp(relayed: System, tmp_path: Path) -> None:
    """A lossy short hop before a long one: TCP that ends between them repairs its losses in a twentieth of the time."""
    facts = build(relayed, "two-hops", TWO_HOPS, ROUTED, tmp_path, has_router_hosts=True)
    assert list(facts["hosts"]) == ["receiver", "router-1", "sender-1"]
    campaign = relayed.launch(AT_A_ROUTER)
    relayed.wait_complete(campaign, timeout_s=180)
    runs = {run["condition"]: run for run in relayed.runs_in_time(campaign)}
    assert {name: (run["state"], run["detail"]) for name, run in runs.items()} == dict.fromkeys(
        ("end to end", "split", "intcp"), ("complete", None)
    )
    flows = {name: relayed.client.get(f"/runs/{run['id']}")["flows"][0] for name, run in runs.items()}
    assert {name: len(flow.get("hops", [])) for name, flow in flows.items()} == {
        "end to end": 0,
        "split": 1,
        "intcp": 1,
    }
    (relay,) = [
        host for host in relayed.client.get(f"/runs/{runs['split']['id']}")["hosts"] if host["agent"] == ROUTED[2].agent
    ]
    assert relay["settings_during"]["net.ipv4.tcp_rmem"] == "4096 131072 16000000"
    assert relay["settings_before"] == relay["settings_after"] != relay["settings_during"]
    assert flows["split"]["goodput_bps"] > 2 * flows["end to end"]["goodput_bps"]
    assert flows["intcp"]["goodput_bps"] > 2 * flows["end to end"]["goodput_bps"]
