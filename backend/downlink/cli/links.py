"""`downlink links`: the paths under test."""

from __future__ import annotations

from typing import Annotated

import typer

from downlink.cli.linkfit import fit_command
from downlink.cli.lookup import connect, pick
from downlink.cli.output import AsJson, Column, Row, local_day, megabits, megabytes, print_json, say, show
from downlink.domain.errors import InvalidError

app = typer.Typer(help="Links: list, create, change, delete; fit a profile to measurements.", no_args_is_help=True)
app.command("fit")(fit_command)


def _left(month: Row, zone: str | None) -> str:
    """Return what is left of an allowance, and the day on which the next month begins by the link's clock."""
    return f"{megabytes(month['left_bytes'])}, until {local_day(month['resets_at'], zone)}"


COLUMNS: list[Column] = [
    ("name", lambda k: k["name"]),
    ("orbit", lambda k: k["orbit"]),
    ("rate", lambda k: megabits(k["nominal_rate_bps"])),
    ("base RTT", lambda k: f"{k['base_rtt_ms']:g} ms"),
    ("receiver", lambda k: ", ".join((k["receiver"], *k.get("further_receivers", ())))),
    ("senders", lambda k: ", ".join(k["senders"])),
    ("relays", lambda k: ", ".join(k.get("relays", ()))),
    ("allowance", lambda k: megabytes(k["allowance_bytes"])),
    (
        "left this month",
        lambda k: _left(k["month"], k["time_zone"]) if k["month"] else "",
    ),
    ("time zone", lambda k: k["time_zone"] or ""),
    ("kind", lambda k: f"emulated, {k['profile']}" if k["is_emulated"] else k["operator"]),
]


@app.command("list")
def list_links(as_json: AsJson = False) -> None:
    """List links with their agents."""
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
    sender: Annotated[list[str], typer.Option(help="Sending agent; repeat for several, in order")],
    relay: Annotated[
        list[str] | None, typer.Option(help="Relay agent; repeat in order from sender to receiver")
    ] = None,
    further_receiver: Annotated[
        list[str] | None, typer.Option(help="Further receiver; repeat in order, from the second")
    ] = None,
    operator: str = "",
    rate_tolerance_percent: Annotated[
        float, typer.Option(help="How far a run may exceed the nominal rate before it is marked implausible")
    ] = 50,
    allowance_bytes: Annotated[int | None, typer.Option(help="Monthly data volume of the plan")] = None,
    reset_day: Annotated[int, typer.Option(min=1, max=28, help="Day of the month on which it resets")] = 1,
    profile: Annotated[str | None, typer.Option(help="An emulated link's profile; leave out for a real link")] = None,
    time_zone: Annotated[
        str | None, typer.Option(help="Time zone of the terminal, such as Europe/Madrid: shades nights in charts")
    ] = None,
    latitude: Annotated[float | None, typer.Option(help="Terminal's latitude, degrees north: for its weather")] = None,
    longitude: Annotated[float | None, typer.Option(help="Terminal's longitude, degrees east")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a link: a path and the agents at its ends."""
    body = {
        "name": name,
        "orbit": orbit,
        "operator": operator,
        "nominal_rate_bps": rate_bps,
        **({} if rate_tolerance_percent == 50 else {"rate_tolerance_percent": rate_tolerance_percent}),
        "base_rtt_ms": base_rtt_ms,
        "receiver": receiver,
        "senders": sender,
        **({"relays": relay} if relay else {}),
        **({"further_receivers": further_receiver} if further_receiver else {}),
        "allowance_bytes": allowance_bytes,
        "reset_day": reset_day,
        "is_emulated": profile is not None,
        "profile": profile,
        "time_zone": time_zone,
        **({} if latitude is None and longitude is None else {"latitude": latitude, "longitude": longitude}),
    }
    link = connect().post("/links", body)
    if as_json:
        print_json(link)
    else:
        say(f"Link {link['name']} is created.")


@app.command()
def change(
    name: str,
    time_zone: Annotated[str | None, typer.Option(help="Such as Europe/Madrid; '' removes it")] = None,
    operator: Annotated[str | None, typer.Option(help="Who runs the link")] = None,
    rate_tolerance_percent: Annotated[
        float | None, typer.Option(help="How far a run may exceed the nominal rate before it is marked implausible")
    ] = None,
    allowance_bytes: Annotated[int | None, typer.Option(help="Monthly data volume of the plan; 0 for none")] = None,
    reset_day: Annotated[int | None, typer.Option(min=1, max=28, help="Day of the month on which it resets")] = None,
    relay: Annotated[
        list[str] | None,
        typer.Option(help="Relay agents, replacing the present ones; repeat in order. '' for none"),
    ] = None,
    further_receiver: Annotated[
        list[str] | None,
        typer.Option(help="Further receivers, replacing the present ones; repeat in order. '' for none"),
    ] = None,
    latitude: Annotated[float | None, typer.Option(help="Terminal's latitude, degrees north: for its weather")] = None,
    longitude: Annotated[float | None, typer.Option(help="Terminal's longitude, degrees east")] = None,
    is_placeless: Annotated[bool, typer.Option("--no-place", help="Remove latitude and longitude")] = False,
) -> None:
    """Change a link's description; not while a run uses it."""
    asked = {"time_zone": time_zone, "operator": operator, "allowance_bytes": allowance_bytes, "reset_day": reset_day}
    # The API's word for none is null; an operator may be empty.
    body: dict[str, object] = {
        key: value if value or key == "operator" else None for key, value in asked.items() if value is not None
    }
    if rate_tolerance_percent is not None:
        body["rate_tolerance_percent"] = rate_tolerance_percent
    if relay:
        body["relays"] = [name for name in relay if name]
    if further_receiver:
        body["further_receivers"] = [name for name in further_receiver if name]
    body |= _place(latitude, longitude, is_placeless=is_placeless)
    if not body:
        raise InvalidError("nothing_to_change", "Say what to change; `downlink links change --help` lists it.")
    client = connect()
    link = pick(client.items("/links"), name, "link")
    client.patch(f"/links/{link['id']}", body)
    say(f"Link {link['name']} is changed.")


def _place(latitude: float | None, longitude: float | None, *, is_placeless: bool) -> dict[str, float | None]:
    asked = {"latitude": latitude, "longitude": longitude}
    given = {key: value for key, value in asked.items() if value is not None}
    if is_placeless and given:
        raise InvalidError("link_invalid", "Give a place, or --no-place, and not both.")
    return asked if is_placeless else {**given}


@app.command()
def delete(name: str) -> None:
    """Delete a link that no campaign needs."""
    client = connect()
    link = pick(client.items("/links"), name, "link")
    client.delete(f"/links/{link['id']}")
    say(f"Link {link['name']} is deleted.")
