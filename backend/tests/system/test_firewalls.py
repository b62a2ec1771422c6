"""A NAT and firewalls between the ends: what needs no open port works, and what is stopped is named with address and port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.system.conftest import System
from tests.system.networks import Networks, Placed, networks_beside, quick_test, start_agents

pytestmark = pytest.mark.verify("stack")

SERVER, SENDER, RELAY, NAT = "192.0.2.1", "198.51.100.2", "198.51.100.18", "203.0.113.2"
GATEWAYS = {"sender": "198.51.100.1", "relay": "198.51.100.17", "nat": "203.0.113.1", "home": "192.168.7.1"}
PORT = 8410
HOSTS = (
    Placed("far-sender", "sender", "sender", ("--data-port", str(PORT))),
    Placed("far-relay", "relay", "relay", ("--data-port", str(PORT))),
    Placed("at-home", "home", "receiver"),
    # A relay, unlike a sender, looks at who its neighbours are before they come.
    Placed("at-home-by-relay", "home", "receiver", ("--data-host", NAT)),
)
LINK = {"orbit": "LEO", "nominal_rate_bps": 20_000_000, "base_rtt_ms": 5, "senders": ["far-sender"]}
LINKS = (
    {**LINK, "name": "nat", "receiver": "at-home"},
    {**LINK, "name": "nat-relay", "receiver": "at-home-by-relay", "relays": ["far-relay"]},
)
# Nothing comes in that was not asked for from inside, and what goes out has the NAT's own address.
MASQUERADE = """
table ip nat {
  chain out { type nat hook postrouting priority srcnat; oifname "to-net" masquerade; }
}
table ip guard {
  chain in { type filter hook input priority filter; policy drop; ct state established,related accept; }
  chain through {
    type filter hook forward priority filter; policy drop;
    ct state established,related accept; iifname "to-home" accept;
  }
}
"""
STOPPED = """
table ip guard {
  chain in { type filter hook input priority filter; %s; }
}
"""
CAMPAIGN = """
name: Over {link}
links: [{link}]
stop: {{seconds: 3}}
phases: {{startup_s: 1, steady_s: 1}}
timetable: {{cycles: 1}}
limits: {{attempts: 1}}
conditions:
{conditions}
"""
TCP = "  - {name: tcp, flows: [{cc: cubic, pacing_rate_bps: 20000000}, {probe: {every_ms: 50}}]}"
SPLIT = "  - {name: split, flows: [{transport: split, cc: cubic, relay_cc: reno, pacing_rate_bps: 20000000}]}"
INTCP = "  - {name: intcp, flows: [{transport: intcp, offer: {message_bytes: 1000, every_ms: 5}}]}"


@pytest.fixture(scope="module")
def networks(system: System) -> Iterator[Networks]:
    """The receivers at home behind a NAT; sender, relay and server elsewhere."""
    with networks_beside(system) as networks:
        networks.add("net", forwards=True)
        networks.run("net", "ip", "address", "add", f"{SERVER}/32", "dev", "lo")
        for name in GATEWAYS:
            networks.add(name, forwards=name == "nat")
        networks.join("sender", [f"{SENDER}/28"], "net", [f"{GATEWAYS['sender']}/28"])
        networks.join("relay", [f"{RELAY}/28"], "net", [f"{GATEWAYS['relay']}/28"])
        networks.join("nat", [f"{NAT}/24"], "net", [f"{GATEWAYS['nat']}/24"])
        networks.join("home", ["192.168.7.2/24"], "nat", [f"{GATEWAYS['home']}/24"])
        for name, gateway in GATEWAYS.items():
            networks.route(name, gateway)
        networks.filter("nat", MASQUERADE)
        start_agents(system, networks, networks.serve(system.stack, "net", SERVER), HOSTS)
        for link in LINKS:
            system.client.post("/links", link)
        yield networks


@contextmanager
def stopped(networks: Networks, place: str, rule: str) -> Iterator[None]:
    """A firewall before a host, within the block."""
    networks.filter(place, STOPPED % rule)
    try:
        yield
    finally:
        networks.filter(place, "")


def measure(system: System, link: str, *conditions: str) -> dict[str, Any]:
    """The runs of a campaign, once all have ended, by condition."""
    campaign = system.launch(CAMPAIGN.format(link=link, conditions="\n".join(conditions)))
    system.wait_complete(campaign)
    return {run["condition"]: run for run in system.runs(campaign)}


def said_before(system: System, link: str) -> dict[str, Any]:
    """What the pre-flight of a campaign over TCP says of the way to the sender's data port."""
    found = system.client.post("/campaigns/preview", {"source": CAMPAIGN.format(link=link, conditions=TCP)})
    (answer,) = (each for host in found["hosts"] for each in host["answers"] if each["check"] == "data_port")
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize(
    ("action", "sign"),
    [
        ("drop", "did not answer over TCP within"),
        ("reject with tcp reset", "refused the connection over TCP"),
        ("reject with icmp type admin-prohibited", "is out of reach over TCP"),
    ],
)
def test_a_firewall_before_the_sender_is_named_with_address_and_port(
    system: System, networks: Networks, action: str, sign: str
) -> None:
    with stopped(networks, "sender", f"tcp dport {PORT} {action}"):
        run = quick_test(system, "nat")
    assert (run["state"], run["reason"]) == ("failed", "connect_failed")
    assert f"{SENDER}:{PORT} {sign}" in run["detail"]
    before = said_before(system, "nat")
    assert (before["level"], before["run_id"]) == ("note", run["id"])
    assert f"{SENDER}:{PORT} {sign}" in before["sentence"]


def test_a_firewall_that_stops_udp_alone_is_named_by_a_run_with_probes(system: System, networks: Networks) -> None:
    with stopped(networks, "sender", f"udp dport {PORT} drop"):
        run = measure(system, "nat", TCP)["tcp"]
    assert (run["state"], run["reason"]) == ("failed", "connect_failed")
    assert f"{SENDER}:{PORT}" in run["detail"]
    assert "over UDP" in run["detail"]


@pytest.mark.parametrize(
    ("place", "address", "reason"), [("relay", RELAY, "connect_failed"), ("sender", SENDER, "relay_unreachable")]
)
def test_a_firewall_on_either_side_of_a_relay_is_named(
    system: System, networks: Networks, place: str, address: str, reason: str
) -> None:
    with stopped(networks, place, f"tcp dport {PORT} reject with tcp reset"):
        run = measure(system, "nat-relay", SPLIT)["split"]
    assert (run["state"], run["reason"]) == ("failed", reason)
    assert f"{address}:{PORT} refused the connection over TCP" in run["detail"]


@pytest.mark.parametrize(("place", "address", "asker"), [("relay", RELAY, "192.168.7.2"), ("sender", SENDER, RELAY)])
def test_a_firewall_that_stops_udp_before_a_relay_or_behind_it_is_named_by_intcp(
    system: System, networks: Networks, place: str, address: str, asker: str
) -> None:
    with stopped(networks, place, f"udp dport {PORT} drop"):
        run = measure(system, "nat-relay", INTCP)["intcp"]
    assert (run["state"], run["reason"]) == ("failed", "relay_unreachable")
    assert f"{address}:{PORT} did not answer {asker}:" in run["detail"]
    assert "open that UDP port" in run["detail"]


def test_a_receiver_behind_a_nat_needs_no_open_port(system: System, networks: Networks) -> None:
    """It is not even known where it is: it dials sender, relay and server, over TCP and UDP."""
    runs = {**measure(system, "nat", TCP), **measure(system, "nat-relay", SPLIT, INTCP)}
    assert {name: (run["state"], run["detail"]) for name, run in runs.items()} == dict.fromkeys(
        ("tcp", "split", "intcp"), ("complete", None)
    )
    assert said_before(system, "nat")["level"] == "ok"
    hosts = {host["agent"]: host for host in system.client.get(f"/runs/{runs['tcp']['id']}")["hosts"]}
    assert hosts["at-home"]["fingerprint"]["interface"] == "to-nat"
    assert hosts["at-home"]["fingerprint"]["route"] == f"{SENDER} via {GATEWAYS['home']} dev to-nat src 192.168.7.2"
