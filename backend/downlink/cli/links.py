"""`downlink links`: the paths under test."""

from __future__ import annotations

from typing import Annotated

import typer

from downlink.cli.linkfit import fit_command
from downlink.cli.lookup import connect, pick
from downlink.cli.output import AsJson, Column, megabits, megabytes, print_json, say, show

app = typer.Typer(
    help="The links: list, create, delete; fit a profile to what was measured over one.", no_args_is_help=True
)
app.command("fit")(fit_command)

COLUMNS: list[Column] = [
    ("name", lambda k: k["name"]),
    ("orbit", lambda k: k["orbit"]),
    ("rate", lambda k: megabits(k["nominal_rate_bps"])),
    ("base RTT", lambda k: f"{k['base_rtt_ms']:g} ms"),
    ("receiver", lambda k: k["receiver"]),
    ("senders", lambda k: ", ".join(k["senders"])),
    ("allowance", lambda k: megabytes(k["allowance_bytes"])),
    ("kind", lambda k: f"emulated, {k['profile']}" if k["is_emulated"] else k["operator"]),
]


@app.command("list")
def list_links(as_json: AsJson = False) -> None:
    """Links with their agents."""
    show(
        connect().items("/links"),
        COLUMNS,
        as_json,
        "No links yet: `downlink links create --help` shows what one needs.",
    )


@app.command()
def create(
    name: str,
    orbit: Annotated[str, typer.Option(help="GEO, MEO, LEO or terrestrial")],
    rate_bps: Annotated[int, typer.Option(help="Nominal rate towards the receiver")],
    base_rtt_ms: Annotated[float, typer.Option(help="Idle round-trip time")],
    receiver: Annotated[str, typer.Option(help="The agent behind the terminal")],
    sender: Annotated[list[str], typer.Option(help="A sending agent; repeat for several, in order")],
    operator: str = "",
    allowance_bytes: Annotated[int | None, typer.Option(help="The plan's data volume")] = None,
    profile: Annotated[str | None, typer.Option(help="An emulated link's profile; leave out for a real link")] = None,
    as_json: AsJson = False,
) -> None:
    """Name a path and the agents at its ends."""
    body = {
        "name": name,
        "orbit": orbit,
        "operator": operator,
        "nominal_rate_bps": rate_bps,
        "base_rtt_ms": base_rtt_ms,
        "receiver": receiver,
        "senders": sender,
        "allowance_bytes": allowance_bytes,
        "is_emulated": profile is not None,
        "profile": profile,
    }
    link = connect().post("/links", body)
    if as_json:
        print_json(link)
    else:
        say(f"Link {link['name']} is created.")


@app.command()
def delete(name: str) -> None:
    """Forget a link that no campaign needs."""
    client = connect()
    link = pick(client.items("/links"), name, "link")
    client.delete(f"/links/{link['id']}")
    say(f"Link {link['name']} is deleted.")
