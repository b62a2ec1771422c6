"""The demo: emulated links, their agents, and campaigns on them; by default one over a GEO link, then one of INTCP."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from downlink.cli.client import Client
from downlink.cli.path_making import is_made, make_ready
from downlink.cli.watch import follow
from downlink.domain.campaigns.campaign_state import UNDER_WAY
from downlink.domain.links.ready_paths import READY
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


def read_campaigns(files: Sequence[Path]) -> list[str]:
    """The campaigns' texts. InvalidError where one is no campaign."""
    from downlink.codec.campaign_file import parse_campaign

    sources = [file.read_text() for file in files]
    for source in sources:
        parse_campaign(source)
    return sources


def ready_needs(files: Sequence[Path], sources: Sequence[str], profiles: list[str], senders: int) -> list[LinkNeed]:
    """The links that the campaigns of these files need, their paths made. InvalidError where a link has no profile."""
    from downlink.codec.campaign_file import parse_campaign

    campaigns, known = [parse_campaign(source) for source in sources], known_profiles(AGENT)
    refuse_unused(profiles, [link for campaign in campaigns for link in campaign.links])
    needs = merge_needs(
        [
            link_needs(campaign, profiles, known, file.parent, senders)
            for file, campaign in zip(files, campaigns, strict=True)
        ]
    )
    make_paths(needs)
    return needs


def make_paths(needs: Sequence[LinkNeed]) -> None:
    """Make the ready-made paths that the links' profiles name, where none is kept: a minute or two each."""
    from downlink.codec.profile_file import kept_paths

    files = [file for need in needs if (file := Path(need.profile)).is_file()]
    named = {name for file in files if file.suffix == ".yaml" for name in kept_paths(file.read_text())}
    for name in sorted(named & READY.keys()):
        if not is_made(name):
            typer.echo(f"Making the path {name} …")
            make_ready(name)


def seed_recorded(stack: Stack) -> None:
    """Load the recorded campaign, so that there is something to look at before anything has been measured."""
    if RECORDED.exists():
        command(stack.env, "seed", str(RECORDED))


def run_demo(
    stack: Stack, client: Client, sources: Sequence[str], needs: list[LinkNeed], look: Callable[[], None]
) -> list[dict[str, Any]]:
    """Build the links, let their agents join, run one campaign after the other; answer them as they are when they have ended.

    look: looks after the stack meanwhile.
    """
    for source in sources:
        cancel_interrupted(client, source)
    typer.echo(f"Building the emulated link{'s' if len(needs) > 1 else ''} and starting the agents …")
    build_links(stack, client, needs, look)
    return [_run_campaign(stack, client, source, look) for source in sources]


def _run_campaign(stack: Stack, client: Client, source: str, look: Callable[[], None]) -> dict[str, Any]:
    campaign = client.post("/campaigns", {"source": source})
    client.post(f"/campaigns/{campaign['id']}/launch")
    typer.echo(f"  Campaign          {stack.address}/campaigns/{campaign['id']}\n")
    return follow(client, campaign["id"], check=look)


def cancel_interrupted(client: Client, source: str) -> None:
    """An earlier demo that was broken off would go on with its campaign, in the way of the new one."""
    name = client.post("/campaigns/preview", {"source": source})["campaign"]["name"]
    for campaign in client.items("/campaigns"):
        if campaign["name"] == name and campaign["state"] in UNDER_WAY:
            client.post(f"/campaigns/{campaign['id']}/cancel")
