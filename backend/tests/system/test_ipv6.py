"""Runs over IPv6 alone: three hosts and the server on networks that have no other addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.system.conftest import System
from tests.system.networks import Networks, Placed, networks_beside, start_agents
from tests.system.test_data_port import query

pytestmark = pytest.mark.verify("stack")

SERVER = "2001:db8::1"
ADDRESS = {"v6-sender": "2001:db8:a::2", "v6-relay": "2001:db8:b::2", "v6-receiver": "2001:db8:c::2"}
HOSTS = tuple(Placed(name, name, name.removeprefix("v6-")) for name in ADDRESS)
LINK = {
    "name": "v6",
    "orbit": "LEO",
    "nominal_rate_bps": 20_000_000,
    "base_rtt_ms": 5,
    "receiver": "v6-receiver",
    "senders": ["v6-sender"],
    "relays": ["v6-relay"],
}
CAMPAIGN = """
name: Over IPv6
links: [v6]
stop: {seconds: 3}
phases: {startup_s: 1, steady_s: 1}
timetable: {cycles: 1}
conditions:
  - {name: tcp, flows: [{cc: cubic, pacing_rate_bps: 20000000}, {probe: {every_ms: 50}}]}
  - {name: split, flows: [{transport: split, cc: cubic, relay_cc: reno, pacing_rate_bps: 20000000}]}
  - {name: intcp, flows: [{transport: intcp, offer: {message_bytes: 1000, every_ms: 5}}]}
"""

PEERS = """
SELECT array_agg(DISTINCT substring(receiver_outcome->>'peer_address' FROM '^(.*):')) FROM run_flows WHERE run_id = :run
"""


def gateway(name: str) -> str:
    return ADDRESS[name].removesuffix("2") + "1"


@pytest.fixture(scope="module")
def ipv6(system: System) -> Iterator[Networks]:
    """A router that the server's address is at, and behind it each host on a network of its own."""
    with networks_beside(system) as networks:
        networks.add("router", forwards=True)
        networks.run("router", "ip", "address", "add", f"{SERVER}/128", "dev", "lo", "nodad")
        for name, address in ADDRESS.items():
            networks.add(name)
            networks.join(name, [f"{address}/64"], "router", [f"{gateway(name)}/64"])
            networks.route(name, gateway(name))
        start_agents(system, networks, networks.serve(system.stack, "router", SERVER), HOSTS)
        system.client.post("/links", LINK)
        yield networks


def test_tcp_split_and_intcp_go_over_ipv6_and_say_by_which_way(system: System, ipv6: Networks) -> None:
    campaign = system.launch(CAMPAIGN)
    system.wait_complete(campaign)
    runs = {run["condition"]: run for run in system.runs(campaign)}
    assert {name: (run["state"], run["detail"]) for name, run in runs.items()} == dict.fromkeys(
        ("tcp", "split", "intcp"), ("complete", None)
    )
    found = {name: system.client.get(f"/runs/{run['id']}") for name, run in runs.items()}
    for name, run in found.items():
        upstream = "v6-sender" if name == "tcp" else "v6-relay"
        assert query(system, PEERS, run=run["id"]) == [f"[{ADDRESS[upstream]}]"], name
        check_ways(run, {"v6-sender": "v6-receiver" if name == "tcp" else "v6-relay", "v6-receiver": upstream})


def check_ways(run: dict[str, Any], peers: dict[str, str]) -> None:
    """Each end's record has the interface of its data path, and the route to its peer as the kernel has it."""
    hosts = {host["agent"]: host["fingerprint"] for host in run["hosts"]}
    for name, peer in peers.items():
        route = f"{ADDRESS[peer]} via {gateway(name)} dev to-router src {ADDRESS[name]}"
        assert (hosts[name]["interface"], hosts[name]["mtu_bytes"]) == ("to-router", 1500)
        assert hosts[name]["route"] == route
