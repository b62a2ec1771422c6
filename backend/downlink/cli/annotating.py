"""`downlink annotations`: what happened at a time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, Column, moment, print_json, say, show
from downlink.domain.campaigns.annotation import AnnotationKind

app = typer.Typer(
    help="Annotations: notes on what happened when, such as weather or maintenance.", no_args_is_help=True
)

COLUMNS: list[Column] = [
    ("annotation", lambda k: k["id"]),
    ("from", lambda k: moment(k["from_at"])),
    ("to", lambda k: moment(k["to_at"])),
    ("kind", lambda k: k["kind"]),
    ("of", lambda k: k["link"] or "campaign"),
    ("text", lambda k: k["text"]),
]
OfCampaign = Annotated[str | None, typer.Option("--campaign", help="Id, start of the id, or name")]
OfLink = Annotated[str | None, typer.Option("--link", help="A link by name")]


@app.command("list")
def list_annotations(campaign: OfCampaign = None, link: OfLink = None, as_json: AsJson = False) -> None:
    """List annotations of a campaign, of a link, or all."""
    client = connect()
    asked = {"campaign_id": campaign and campaign_id(client, campaign), "link": link}
    annotations = client.items("/annotations", **{key: value for key, value in asked.items() if value})
    show(annotations, COLUMNS, as_json, "No annotations: `downlink annotations add --help` shows how to make one.")


@app.command()
def add(
    text: str,
    from_at: Annotated[str, typer.Option("--from", help="Start, such as 2026-11-23T14:00Z")],
    to_at: Annotated[str | None, typer.Option("--to", help="End; leave out for a single moment")] = None,
    campaign: OfCampaign = None,
    link: OfLink = None,
    kind: Annotated[AnnotationKind, typer.Option(help="Kind of event")] = AnnotationKind.NOTE,
    as_json: AsJson = False,
) -> None:
    """Add a note to a campaign (--campaign), to a link in every campaign (--link), or to one link of a campaign (both)."""
    client = connect()
    body: dict[str, Any] = {"text": text, "kind": kind.value, "from_at": from_at, "to_at": to_at, "link": link}
    made = client.post("/annotations", {**body, "campaign_id": campaign and campaign_id(client, campaign)})
    if as_json:
        print_json(made)
    else:
        say(made["id"])


@app.command()
def delete(annotation: str) -> None:
    """Delete an annotation by its id."""
    connect().delete(f"/annotations/{annotation}")
    say("Deleted.")
