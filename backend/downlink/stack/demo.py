"""The demo: emulated links, their agents, and a campaign on them; by default of about four minutes on a GEO link."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from downlink.cli.client import Client
from downlink.cli.paths import is_made, make_ready
from downlink.cli.watch import follow
from downlink.domain.campaign_state import UNDER_WAY
from downlink.domain.readypaths import READY
from downlink.stack.emulated import AGENT, build_links
from downlink.stack.launcher import Stack, command
from downlink.stack.needs import LinkNeed, link_needs
from downlink.stack.rig import known_profiles

EXAMPLES = Path("docs/examples")
RECORDED = EXAMPLES / "recorded-hystart.zip"


def own_campaign() -> Path:
    """HyStart is a setting of the whole kernel, which only root may change; the buffer study stays within a namespace."""
    return EXAMPLES / ("demo-hystart.yaml" if os.geteuid() == 0 else "demo-buffers.yaml")


def read_needs(campaign_file: Path, profiles: list[str], senders: int) -> tuple[str, list[LinkNeed]]:
    """The campaign's text, and the links that it needs. Errors come before anything is started."""
    from downlink.codec.campaign_file import parse_campaign

    source = campaign_file.read_text()
    return source, link_needs(parse_campaign(source), profiles, known_profiles(AGENT), campaign_file.parent, senders)


def make_paths(needs: Sequence[LinkNeed]) -> None:
    """Make the ready-made paths that the links' profiles name, where none is kept: a minute or two each."""
    from downlink.codec.profile_file import kept_paths

    files = [file for need in needs if (file := Path(need.profile)).is_file()]
    named = {name for file in files if file.suffix == ".yaml" for name in kept_paths(file.read_text())}
    for name in sorted(named & READY.keys()):
        if not is_made(name):
            typer.echo(f"Making the path {name} …")
            make_ready(name)


def run_demo(
    stack: Stack, client: Client, source: str, needs: list[LinkNeed], check: Callable[[], None]
) -> dict[str, Any]:
    """Build the links, let their agents join, run the campaign; answer it as it is when it has ended.

    check looks after the stack meanwhile.
    """
    if RECORDED.exists():
        command(stack.env, "seed", str(RECORDED))
    cancel_interrupted(client, source)
    typer.echo("Building the emulated link and starting its agents …")
    build_links(stack, client, needs)
    campaign = client.post("/campaigns", {"source": source})
    client.post(f"/campaigns/{campaign['id']}/launch")
    typer.echo(f"  Campaign          {stack.address}/campaigns/{campaign['id']}\n")
    return follow(client, campaign["id"], check=check)


def cancel_interrupted(client: Client, source: str) -> None:
    """An earlier demo that was broken off would go on with its campaign, in the way of the new one."""
    name = client.post("/campaigns/preview", {"source": source})["campaign"]["name"]
    for campaign in client.items("/campaigns"):
        if campaign["name"] == name and campaign["state"] in UNDER_WAY:
            client.post(f"/campaigns/{campaign['id']}/cancel")
