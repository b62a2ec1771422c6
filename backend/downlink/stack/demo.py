"""The demo: an emulated GEO link, two agents, and a campaign of about four minutes on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import typer

from downlink.cli.client import Client
from downlink.cli.watch import follow
from downlink.domain.campaign_state import UNDER_WAY
from downlink.stack.launcher import Stack, command
from downlink.stack.rig import Host, Rig, wait_online

AGENT = Path("agents/bin/downlink-agent")
EXAMPLES = Path("docs/examples")
RECORDED = EXAMPLES / "recorded-hystart.zip"
RECEIVER = Host("receiver", "demo-receiver", "receiver")
SENDER = Host("sender-1", "demo-sender", "sender")


def run_demo(
    stack: Stack, client: Client, profile: str, campaign_file: Path | None, check: Callable[[], None]
) -> dict[str, Any]:
    """Build a link of this profile, let the agents join, run the campaign; answer it as it is when it has ended.

    check looks after the stack meanwhile.
    """
    if RECORDED.exists():
        command(stack.env, "seed", str(RECORDED))
    source = (campaign_file or _own_campaign()).read_text()
    _cancel_interrupted(client, source)
    _build_link(stack, client, profile)
    campaign = client.post("/campaigns", {"source": source})
    client.post(f"/campaigns/{campaign['id']}/launch")
    typer.echo(f"  Campaign          {stack.address}/campaigns/{campaign['id']}\n")
    return follow(client, campaign["id"], check=check)


def _own_campaign() -> Path:
    """HyStart is a setting of the whole kernel, which only root may change; the buffer study stays within a namespace."""
    return EXAMPLES / ("demo-hystart.yaml" if os.geteuid() == 0 else "demo-buffers.yaml")


def _cancel_interrupted(client: Client, source: str) -> None:
    """An earlier demo that was broken off would go on with its campaign, in the way of the new one."""
    name = client.post("/campaigns/preview", {"source": source})["campaign"]["name"]
    for campaign in client.items("/campaigns"):
        if campaign["name"] == name and campaign["state"] in UNDER_WAY:
            client.post(f"/campaigns/{campaign['id']}/cancel")


def _build_link(stack: Stack, client: Client, profile: str) -> None:
    typer.echo("Building the emulated link and starting its agents …")
    rig = Rig(stack.supervisor, AGENT.resolve(), f"demo-{httpx.URL(stack.address).port}")  # two demos may share a host
    facts = rig.link_up(profile, senders=1, control=_control(stack))
    for host in (RECEIVER, SENDER):
        _enrol(rig, client, host)
        rig.start_agent(host)
    wait_online(lambda: client.items("/agents"), (RECEIVER, SENDER), stack.supervisor.check)
    _name_link(client, profile, facts)


def _control(stack: Stack) -> str:
    """How the link's management side reaches the api: by port, or by socket from namespaces that share no network with it."""
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


def _name_link(client: Client, profile: str, facts: dict[str, Any]) -> None:
    name = Path(profile).stem  # of a profile of one's own, given by its path
    body = {
        "name": name,
        "orbit": facts["orbit"],
        "nominal_rate_bps": facts["nominal_rate_bps"],
        "base_rtt_ms": facts["base_rtt_ms"],
        "receiver": RECEIVER.agent,
        "senders": [SENDER.agent],
        "is_emulated": True,
        "profile": name,
    }
    known = {link["name"]: link for link in client.items("/links")}
    if name not in known:
        client.post("/links", body)
    elif not body.items() <= known[name].items():  # a run of a demo that was killed may hold it for some seconds yet
        client.patch(f"/links/{known[name]['id']}", body)
