"""`downlink campaigns share`: links by which people without an account read one campaign."""

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
    name: Annotated[str, typer.Option("--for", help="What, or whom, it is for: to recognise it by")] = "command line",
    days: Annotated[int, typer.Option(help="How long it works: 1, 7, 30 or 90 days")] = 30,
    as_json: AsJson = False,
) -> None:
    """Make a link by which whoever has it reads the campaign's report, results and tables; print it. It is shown this once."""
    client = connect()
    made = client.post(f"/campaigns/{campaign_id(client, campaign)}/shares", {"name": name, "expires_in_days": days})
    if as_json:
        print_json(made)
        return
    say(made["link"])
    note(f"Whoever has it reads this campaign until {moment(made['expires_at'])}. `campaigns unshare` ends it.")


def shares(campaign: Which, as_json: AsJson = False) -> None:
    """The links to a campaign that still work."""
    client = connect()
    found = client.get(f"/campaigns/{campaign_id(client, campaign)}/shares")["items"]
    show(found, COLUMNS, as_json, "No links: `downlink campaigns share C` makes one.")


def unshare(campaign: Which, link: Annotated[str, typer.Argument(help="Id, as `campaigns shares` lists it")]) -> None:
    """Revoke a link: the next request by it is refused."""
    client = connect()
    client.delete(f"/campaigns/{campaign_id(client, campaign)}/shares/{link}")
    say("Revoked.")


COMMANDS = (share, shares, unshare)
