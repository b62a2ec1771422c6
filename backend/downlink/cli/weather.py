"""`downlink weather`: what it was like around a link, beside what was measured over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from downlink.cli.client import Client
from downlink.cli.lookup import campaign_id, connect, pick
from downlink.cli.output import AsJson, Column, moment, note, print_json, print_table, say, show
from downlink.codec.station_csv import StationForm, lines_above_header, parse_station
from downlink.domain.errors import DownlinkError, InvalidError, UnavailableError
from downlink.domain.partial import told

app = typer.Typer(
    help="Weather and dish over time: import, list, correlate; the weather service that the server asks.",
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
"""Of one call: three bytes for a character at most, and a MiB for a body."""
OfLink = Annotated[str, typer.Option("--link", help="A link by name")]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The CSV of a weather station")],
    link: OfLink,
    source: Annotated[str, typer.Option(help="Whose it is")] = "station",
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="A header of the file and its quantity: 'Rain Rate=weather.rain_mm_per_h'; repeat for several"
        ),
    ] = None,
    time_zone: Annotated[str | None, typer.Option(help="Of times without an offset; the link's own otherwise")] = None,
    missing: Annotated[
        list[str] | None, typer.Option(help="What stands for no value in this file: -999; repeat for several")
    ] = None,
    time_column: Annotated[
        str | None, typer.Option(help="The header of the times, where it is not time or date")
    ] = None,
    time_format: Annotated[
        str | None, typer.Option(help="How they are written, in the signs of strptime: '%d/%m/%Y %H:%M'")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a file with a row or a cell that cannot be read")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Store a weather station's values as quantities of a link. The same file twice adds nothing."""
    columns = dict(_pair(each) for each in column or [])
    client = connect()
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidError("station_unreadable", f"{file.name} is not a text in UTF-8; convert it first.") from None
    found = pick(client.items("/links"), link, "link")
    # The whole file is read before a part of it is sent: a file that is refused leaves nothing behind.
    form = StationForm(
        columns, time_zone or found["time_zone"], missing or (), time_column, time_format, is_strict=strict
    )
    read = parse_station(text, source, form, most=None)
    path = f"/links/{found['id']}/observations/import"
    said: dict[str, Any] = {"source": source, "columns": columns, "time_zone": time_zone}
    further = {"missing": missing, "time_column": time_column, "time_format": time_format, "strict": strict}
    said |= {
        name: value for name, value in further.items() if value
    }  # a server of an earlier version knows none of them
    made = _send(client, path, text, said)
    partial = told(read.left_out)
    if as_json:
        print_json({**made, "left_out": len(read.left_out), "partial": partial})
        return
    say(_sentence(made))
    if partial:
        note(f"Left out: {len(read.left_out)} that cannot be read. {'; '.join(partial)}.")


def _send(client: Client, path: str, text: str, said: dict[str, Any]) -> dict[str, int]:
    """The file in its parts, and what became of its values. A refusal says what was stored before it."""
    made = {"values": 0, "stored": 0, "differing": 0}
    parts = list(_parts(text, said.get("time_column")))
    for first_line, part in parts:
        body = {**said, "text": part, **({"first_line": first_line} if len(parts) > 1 else {})}
        try:
            answer = client.post(path, body)
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


def _parts(text: str, time_column: str | None) -> Iterator[tuple[int, str]]:
    """A long file as several, each with the header, and the number of the line behind it."""
    every = text.splitlines(keepends=True) or [""]
    above = lines_above_header(every, time_column)
    header, *lines = every[above:]
    if len(text) <= PART_CHARACTERS:
        yield 2, text
        return
    first, part, size = above + 2, [header], len(header)
    for number, line in enumerate(lines, above + 2):
        if size + len(line) > PART_CHARACTERS:
            yield first, "".join(part)
            first, part, size = number, [header], len(header)
        part.append(line)
        size += len(line)
    yield first, "".join(part)


def _pair(text: str) -> tuple[str, str]:
    name, separator, quantity = text.rpartition("=")
    if not separator:
        raise InvalidError("column_invalid", f"{text!r}: write it as 'Rain Rate=weather.rain_mm_per_h'.")
    return name, quantity


@app.command("list")
def list_command(link: OfLink, as_json: AsJson = False) -> None:
    """The quantities of a link, and from when to when they are known."""
    client = connect()
    found = client.get(f"/links/{_id_of(client, link)}/quantities")["items"]
    show(
        found,
        QUANTITIES,
        as_json,
        "Nothing is known yet: `downlink weather import FILE --link L` adds a station's values.",
    )


@app.command("try")
def try_command(link: OfLink, as_json: AsJson = False) -> None:
    """Ask the server's weather service for a link's place now, and show what would be stored; nothing is. Exit status 6 where it fails."""
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
    """For which places the server asks a weather service, and what came of it."""
    found = connect().get("/weather")
    nothing = (
        "No link has a place: `downlink links change L --latitude 39.47 --longitude -0.38` gives it one."
        if found["is_on"]
        else "The server asks no weather service; its admin names one with DOWNLINK_WEATHER_URL."
    )
    if as_json:
        print_json(found)
    else:
        show(found["places"], PLACES, as_json, nothing)


@app.command()
def correlate(
    campaign: str,
    metric: Annotated[str, typer.Option(help="A metric of a run")] = "throughput_bps",
    phase: Annotated[str, typer.Option(help="startup, steady, overall or a window")] = "overall",
    as_json: AsJson = False,
) -> None:
    """How the quantities of a campaign's links go with one of its metrics: Spearman's rank correlation, run by run."""
    client = connect()
    found = client.get(f"/campaigns/{campaign_id(client, campaign)}/correlations", metric=metric, phase=phase)["items"]
    show(
        found, CORRELATIONS, as_json, "No run has both: `downlink weather list --link L` says what is known of a link."
    )
