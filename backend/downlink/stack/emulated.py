"""Emulated links as a server knows them: built in namespaces, with an agent at each end, and named to the server."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import httpx

from downlink.cli.client import Client
from downlink.domain.errors import ConflictError
from downlink.stack.launcher import Stack
from downlink.stack.needs import LinkNeed, profile_name
from downlink.stack.rig import RECEIVER, RELAYS, ROUTER, Host, Rig, wait_online

AGENT = Path("agents/bin/downlink-agent")
HELD_S = 180.0
"""A run of a demo that was killed holds its link until its agents are heard again, or given up: 75 s of silence, 60 s to restore."""


def build_links(stack: Stack, client: Client, needs: Sequence[LinkNeed], look: Callable[[], None]) -> None:
    """Build each link and wait until the server hears all of its agents. look: looks after the stack meanwhile.

    The namespaces share one kernel: their agents are one host to the server, which keeps runs apart that change it as a whole.
    """
    rigs = [_build(stack, client, number, need) for number, need in enumerate(needs, 1)]
    every = [host for _, hosts in rigs for host in hosts]
    wait_online(lambda: client.items("/agents"), every, look)
    for need, (rig, hosts) in zip(needs, rigs, strict=True):
        _name_link(client, need, rig.facts(), hosts)


def hosts_of(link: str, senders: int) -> list[Host]:
    """The hosts of an emulated link, the receiver first.

    Agents are named by their link, so that a link keeps its agents whichever links the next start on the same data has.
    """
    return [Host("receiver", f"{link}-receiver", "receiver"), *(_sender(link, each) for each in range(1, senders + 1))]


def further_receivers_of(link: str, places: Collection[str]) -> list[Host]:
    """The receivers that hang at the way of a link, by the places that it has."""
    begin = f"{RECEIVER}-"
    further = sorted((site for site in places if site.startswith(begin)), key=lambda site: int(site[len(begin) :]))
    return [Host(site, f"{link}-{site}", "receiver") for site in further]


def _sender(link: str, number: int) -> Host:
    return Host(f"sender-{number}", f"{link}-sender" if number == 1 else f"{link}-sender-{number}", "sender")


def relays_of(link: str, places: Collection[str]) -> list[Host]:
    """Return the hosts that relay between the hops of a link, from the senders on: its routers if they are hosts, else one agent."""
    routers = sorted((site for site in places if site.startswith(ROUTER)), key=lambda site: int(site[len(ROUTER) :]))
    return [Host(site, f"{link}-{site}", "relay") for site in [*routers, *({RELAYS} & set(places))]]


def _build(stack: Stack, client: Client, number: int, need: LinkNeed) -> tuple[Rig, list[Host]]:
    port = httpx.URL(stack.address).port  # two demos may share a host
    rig = Rig(stack.supervisor, AGENT.resolve(), f"demo-{port}" if number == 1 else f"demo-{port}-{number}")
    title = f"the emulated link {need.name}"
    facts = rig.link_up(
        need.profile, need.senders, _control(stack), has_router_hosts=need.has_router_hosts, title=title
    )
    hosts = [
        *hosts_of(need.name, need.senders),
        *further_receivers_of(need.name, facts["hosts"]),
        *relays_of(need.name, facts["hosts"]),
    ]
    for host in hosts:
        _enrol(rig, client, host)
        rig.start_agent(host)
    return rig, hosts


def _control(stack: Stack) -> str:
    """Return the api's address for the link's management side: a port, or a socket for namespaces without a network to it."""
    return stack.address.removeprefix("http://") if os.geteuid() == 0 else f"unix:{stack.socket}"


def _enrol(rig: Rig, client: Client, host: Host) -> None:
    """Let the agent join, unless it did so in an earlier demo on the same database."""
    known = {agent["name"]: agent for agent in client.items("/agents") if not agent["revoked_at"]}
    if host.agent in known and rig.has_joined(host):
        rig.move(host)
        return
    if host.agent in known:
        client.delete(f"/agents/{known[host.agent]['id']}")
    rig.join(host, client.post("/agents/enrolments", {"name": host.agent})["token"])


def _name_link(client: Client, need: LinkNeed, facts: dict[str, Any], hosts: Sequence[Host]) -> None:
    receiver, *further = (host.agent for host in hosts if host.role == "receiver")
    body = {
        "name": need.name,
        "orbit": facts["orbit"],
        "nominal_rate_bps": facts["nominal_rate_bps"],
        "base_rtt_ms": facts["base_rtt_ms"],
        "receiver": receiver,
        "senders": [host.agent for host in hosts if host.role == "sender"],
        "relays": [host.agent for host in hosts if host.role == "relay"],
        "further_receivers": further,
        "is_emulated": True,
        "profile": profile_name(need.name),
    }
    known = {link["name"]: {"further_receivers": [], **link} for link in client.items("/links")}
    if need.name not in known:
        client.post("/links", body)
    elif not body.items() <= known[need.name].items():
        _change_when_free(client, f"/links/{known[need.name]['id']}", body)


def _change_when_free(client: Client, path: str, body: dict[str, Any]) -> None:
    until = time.monotonic() + HELD_S
    while True:
        try:
            client.patch(path, body)
            return
        except ConflictError as error:
            if error.code != "link_busy" or time.monotonic() > until:
                raise
            time.sleep(1)
