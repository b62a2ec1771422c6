"""`downlink campaigns share`: links that give people without an account read access to one campaign."""

from __future__ import annotations

from typing import Annotated

import typer

from downlink.cli.campaign_results import Which
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, Column, moment, note, print_json, say, show

COLUMNS: list[Column] = [
    ("link", lambda s: s["id"]),
    ("for", lambda s: s["name"]),
    ("made by", lambda s: s["created_by"]),
    ("expires", lambda s: moment(s["expires_at"])),
    ("opened", lambda s: s["opened"]),
    ("last opened", lambda s: moment(s["opened_at"])),
]


def share(
    campaign: Which,
    name: Annotated[str, typer.Option("--for", help="Label: what, or whom, it is for")] = "command line",
    days: Annotated[int, typer.Option(help="Days until it expires: 1, 7, 30 or 90")] = 30,
    as_json: AsJson = False,
) -> None:
    """Create a read-only share link to the campaign's report, results and tables, and print it (shown only once)."""
    client = connect()
    made = client.post(f"/campaigns/{campaign_id(client, campaign)}/shares", {"name": name, "expires_in_days": days})
    if as_json:
        print_json(made)
        return
    say(made["link"])
    note(
        f"Anyone with this link can read the campaign until {moment(made['expires_at'])}. `campaigns unshare` revokes it."
    )


def shares(campaign: Which, as_json: AsJson = False) -> None:
    """List the share links to a campaign that still work."""
    client = connect()
    links = client.get(f"/campaigns/{campaign_id(client, campaign)}/shares")["items"]
    show(links, COLUMNS, as_json, "No links: `downlink campaigns share C` makes one.")


def unshare(campaign: Which, link: Annotated[str, typer.Argument(help="Id, as `campaigns shares` lists it")]) -> None:
    """Revoke a share link, from the next request on."""
    client = connect()
    client.delete(f"/campaigns/{campaign_id(client, campaign)}/shares/{link}")
    say("Revoked.")


COMMANDS = (share, shares, unshare)
