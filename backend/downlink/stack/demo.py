"""The demo: emulated links, their agents, and campaigns on them; by default four minutes on a GEO link, then two of INTCP."""

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
from downlink.stack.needs import LinkNeed, link_needs, merge_needs, refuse_unused
from downlink.stack.rig import known_profiles

EXAMPLES = Path("docs/examples")
RECORDED = EXAMPLES / "recorded-hystart.zip"


def own_campaigns() -> list[Path]:
    """HyStart is a setting of the whole kernel, which only root may change; the buffer study stays within a namespace."""
    first = "demo-hystart.yaml" if os.geteuid() == 0 else "demo-buffers.yaml"
    return [EXAMPLES / first, EXAMPLES / "intcp-taste.yaml"]


def read_needs(files: Sequence[Path], profiles: list[str], senders: int) -> tuple[list[str], list[LinkNeed]]:
    """The campaigns' texts, and the links that they need. Errors come before anything is started."""
    from downlink.codec.campaign_file import parse_campaign

    sources = [file.read_text() for file in files]
    campaigns, known = [parse_campaign(source) for source in sources], known_profiles(AGENT)
    refuse_unused(profiles, [link for campaign in campaigns for link in campaign.links])
    wanted = [
        link_needs(campaign, profiles, known, file.parent, senders)
        for file, campaign in zip(files, campaigns, strict=True)
    ]
    return sources, merge_needs(wanted)


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
    stack: Stack, client: Client, sources: Sequence[str], needs: list[LinkNeed], check: Callable[[], None]
) -> list[dict[str, Any]]:
    """Build the links, let their agents join, run one campaign after the other; answer them as they are when they have ended.

    check looks after the stack meanwhile.
    """
    if RECORDED.exists():
        command(stack.env, "seed", str(RECORDED))
    for source in sources:
        cancel_interrupted(client, source)
    typer.echo(f"Building the emulated link{'s' if len(needs) > 1 else ''} and starting the agents …")
    build_links(stack, client, needs)
    return [_run_campaign(stack, client, source, check) for source in sources]


def _run_campaign(stack: Stack, client: Client, source: str, check: Callable[[], None]) -> dict[str, Any]:
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
