"""`downlink weather`: what it was like around a link, beside what was measured over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from downlink.cli.client import Client
from downlink.cli.lookup import campaign_id, connect, pick
from downlink.cli.output import AsJson, Column, moment, note, print_json, print_table, say, show
from downlink.codec.station_csv import parse_station
from downlink.codec.station_table import StationForm
from downlink.domain.errors import DownlinkError, InvalidError, UnavailableError
from downlink.domain.links.observation import Observation
from downlink.domain.partial import told
from downlink.domain.zone import check_zone

app = typer.Typer(
    help="Weather and dish quantities over time: import, list, correlate; the server's weather service.",
    no_args_is_help=True,
)

QUANTITIES: list[Column] = [
    ("quantity", lambda k: k["quantity"]),
    ("unit", lambda k: k["unit"]),
    ("source", lambda k: k["source"]),
    ("from", lambda k: moment(k["first_at"])),
    ("to", lambda k: moment(k["last_at"])),
]
PLACES: list[Column] = [
    ("latitude", lambda p: f"{p['latitude']:.2f}"),
    ("longitude", lambda p: f"{p['longitude']:.2f}"),
    ("links", lambda p: ", ".join(p["links"])),
    ("values of", lambda p: moment(p["reading_at"])),
    ("asked", lambda p: moment(p["asked_at"])),
    ("next", lambda p: moment(p["due_at"])),
    ("problem", lambda p: f"{p['problem']}: {p['detail']}" if p["problem"] else ""),
]
VALUES: list[Column] = [
    ("quantity", lambda v: v["quantity"]),
    ("value", lambda v: f"{v['value']:g}"),
    ("unit", lambda v: v["unit"]),
    ("source", lambda v: v["source"]),
    ("at", lambda v: moment(v["at"])),
]
CORRELATIONS: list[Column] = [
    ("link", lambda k: k["link"]),
    ("condition", lambda k: k["condition"]),
    ("flow", lambda k: k["flow"]),
    ("quantity", lambda k: k["quantity"]),
    ("source", lambda k: k["source"]),
    ("runs", lambda k: k["n"]),
    ("rho", lambda k: _number(k["rho"])),
    ("95 % interval", lambda k: f"{_number(k['low'])} to {_number(k['high'])}" if k["low"] is not None else ""),
    ("", lambda k: k["why"]),
]
PART_CHARACTERS = 300_000
"""Characters of one call: each has at most three bytes, and a body at most a MiB."""
OfLink = Annotated[str, typer.Option("--link", help="A link by name")]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="CSV file of a weather station")],
    link: OfLink,
    source: Annotated[str, typer.Option(help="Name of the source")] = "station",
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="A header of the file and its quantity: 'Rain Rate=weather.rain_mm_per_h'; repeat for several"
        ),
    ] = None,
    time_zone: Annotated[
        str | None,
        typer.Option(help="Time zone of times without an offset (default: the file's, or the link's)"),
    ] = None,
    missing: Annotated[
        list[str] | None, typer.Option(help="Marker of a missing value in this file: -999; repeat for several")
    ] = None,
    time_column: Annotated[
        str | None, typer.Option(help="Header of the time column, where it is not time or date")
    ] = None,
    time_format: Annotated[str | None, typer.Option(help="Time format in strptime notation: '%d/%m/%Y %H:%M'")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a file with a row or a cell that cannot be read")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import a weather station's values as quantities of a link. Importing a file twice adds nothing."""
    columns = dict(_pair(each) for each in column or [])
    if time_zone:
        check_zone(time_zone)
    client = connect()
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidError("station_unreadable", f"{file.name} is not a text in UTF-8; convert it first.") from None
    chosen = pick(client.items("/links"), link, "link")
    # The whole file is read before a part of it is sent: a file that is refused leaves nothing behind.
    form = StationForm(columns, time_zone, missing or (), time_column, time_format, strict, chosen["time_zone"])
    read = parse_station(text, source, form, most=None)
    made = _send(client, f"/links/{chosen['id']}/observations/import", source, read.observations)
    partial = told(read.left_out)
    if as_json:
        print_json({**made, "left_out": len(read.left_out), "partial": partial})
        return
    say(_sentence(made))
    if partial:
        note(f"Left out: {len(read.left_out)} that cannot be read. {'; '.join(partial)}.")


def _send(client: Client, path: str, source: str, read: Sequence[Observation]) -> dict[str, int]:
    """Send what was read, in parts; return how many values the server took. A refusal says what was stored before it.

    What a part of the file means may depend on the whole of it (its time zone, the order of its times), so no part of it is sent.
    """
    made = {"values": 0, "stored": 0, "differing": 0}
    headers = _headers(read)
    columns = {name: f"{quantity} [{unit}]" for (quantity, unit), name in headers.items() if name.startswith("value")}
    for first_line, part in _parts(headers, read):
        try:
            answer = client.post(path, {"source": source, "columns": columns, "text": part, "first_line": first_line})
        except DownlinkError as error:
            if not made["stored"]:
                raise
            message = (
                f"{error.message} {made['stored']} values of lines before were stored; the same command again is safe."
            )
            raise type(error)(error.code, message, error.details) from error
        made = {key: made[key] + answer.get(key, 0) for key in made}
    return made


def _sentence(made: dict[str, int]) -> str:
    differing = made["differing"]
    kept = f" {differing} differ from what is stored for their moments, which stays." if differing else ""
    return f"{made['values']} values, {made['stored']} of them new.{kept}"


def _id_of(client: Client, link: str) -> str:
    return str(pick(client.items("/links"), link, "link")["id"])


def _headers(read: Sequence[Observation]) -> dict[tuple[str, str], str]:
    """Each quantity with its unit, and its header: one of its own where the unit might be taken for several cells."""
    quantities = dict.fromkeys((each.quantity, each.unit) for each in read)
    return {
        (quantity, unit): f"value{column}" if set(unit) & set(',;\t"') else f"{quantity} [{unit}]"
        for column, (quantity, unit) in enumerate(quantities)
    }


def _parts(headers: Mapping[tuple[str, str], str], read: Sequence[Observation]) -> Iterator[tuple[int, str]]:
    """Rows below a header, in several texts where they are long, and the number of the first row of each."""
    places = {quantity: column for column, quantity in enumerate(headers)}
    header = ",".join(["time", *headers.values()]) + "\n"
    first, part, size = 2, [header], len(header)
    for number, (at, same) in enumerate(groupby(read, key=lambda each: each.at), 2):
        cells = [""] * len(headers)
        for each in same:
            cells[places[each.quantity, each.unit]] = repr(each.value)
        row = f"{at.isoformat()},{','.join(cells)}\n"
        if size + len(row) > PART_CHARACTERS and len(part) > 1:
            yield first, "".join(part)
            first, part, size = number, [header], len(header)
        part.append(row)
        size += len(row)
    yield first, "".join(part)


def _pair(text: str) -> tuple[str, str]:
    name, separator, quantity = text.rpartition("=")
    if not separator:
        raise InvalidError("column_invalid", f"{text!r}: write it as 'Rain Rate=weather.rain_mm_per_h'.")
    return name, quantity


@app.command("list")
def list_command(link: OfLink, as_json: AsJson = False) -> None:
    """List the quantities of a link and the time each covers."""
    client = connect()
    quantities = client.get(f"/links/{_id_of(client, link)}/quantities")["items"]
    show(
        quantities,
        QUANTITIES,
        as_json,
        "Nothing is known yet: `downlink weather import FILE --link L` adds a station's values.",
    )


@app.command("try")
def try_command(link: OfLink, as_json: AsJson = False) -> None:
    """Query the server's weather service for a link's location now and show the answer, without storing it. Exit status 6 if it fails."""
    client = connect()
    tried = client.post(f"/links/{_id_of(client, link)}/weather/try")
    if as_json:
        print_json(tried)
    elif tried["values"]:
        print_table(tried["values"], VALUES)
    if tried["problem"]:
        raise UnavailableError(tried["problem"], f"{tried['host']}: {tried['detail']} ({tried['problem']})")


@app.command("places")
def places_command(as_json: AsJson = False) -> None:
    """List the places that the server asks a weather service about, with the last answer of each."""
    weather = connect().get("/weather")
    nothing = (
        "No link has a place: `downlink links change L --latitude 39.47 --longitude -0.38` gives it one."
        if weather["is_on"]
        else "The server asks no weather service; its admin names one with DOWNLINK_WEATHER_URL."
    )
    if as_json:
        print_json(weather)
    else:
        show(weather["places"], PLACES, as_json, nothing)


@app.command()
def correlate(
    campaign: str,
    metric: Annotated[str, typer.Option(help="Metric of a run")] = "throughput_bps",
    phase: Annotated[str, typer.Option(help="startup, steady, overall or a window")] = "overall",
    as_json: AsJson = False,
) -> None:
    """Correlate quantities of a campaign's links with one of its metrics: Spearman's rank correlation over runs."""
    client = connect()
    correlations = client.get(f"/campaigns/{campaign_id(client, campaign)}/correlations", metric=metric, phase=phase)[
        "items"
    ]
    show(
        correlations,
        CORRELATIONS,
        as_json,
        "No run has both: `downlink weather list --link L` says what is known of a link.",
    )
