"""`downlink paths`: paths through a constellation, made, shown and checked on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from downlink.cli.files import make_folder, write_bytes
from downlink.cli.output import AsJson, duration, megabits, note, print_json, say, show
from downlink.domain.errors import InvalidError
from downlink.domain.links.pathtrace import Route
from downlink.domain.links.ready_paths import READY

if TYPE_CHECKING:
    from downlink.constellation.summary import PathSpread, PathSummary
    from downlink.domain.links.pathtrace import PathHeader
from downlink.cli.path_making import (
    LEFT_OUT,
    SUFFIX,
    Elements,
    base_of_path,
    cache_folder,
    cached,
    made,
    orbits_of,
    path_content,
    path_progress,
    read_path_file,
    read_utc,
    usable,
)

app = typer.Typer(help="Paths through satellite constellations over time (docs/paths.md).", no_args_is_help=True)


@app.command("make")
def make_command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(READY)}, or a name of your own with --station")],
    stations: Annotated[
        list[str] | None,
        typer.Option("--station", help="Place, or NAME,LATITUDE,LONGITUDE[,METRES]; two or more, in order"),
    ] = None,
    constellation: Annotated[str | None, typer.Option(help="Code, such as D:1150:53.0:1600/32/5")] = None,
    elements: Elements = None,
    hours: Annotated[float | None, typer.Option(min=0.0001, max=168, help="Length in hours")] = None,
    start: Annotated[datetime | None, typer.Option(help="First moment, UTC (default: the elements' epoch)")] = None,
    elevation: Annotated[float | None, typer.Option(help="Least elevation in degrees")] = None,
    isl: Annotated[str | None, typer.Option(help="+grid or none")] = None,
    rule: Annotated[str | None, typer.Option(help="shortest, hold or slots")] = None,
    stay_s: Annotated[float | None, typer.Option("--stay-s", help="shortest: least time between changes")] = None,
    slot_s: Annotated[float | None, typer.Option("--slot-s", help="slots: their length")] = None,
    step_ms: Annotated[int | None, typer.Option("--step-ms", help="Interval between route computations")] = None,
    links: Annotated[
        list[str] | None, typer.Option("--link", help="A number of the link model: radio.bandwidth_mhz=20")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the handover gaps")] = None,
    to: Annotated[Path | None, typer.Option(help="File to write (default: in the cache)")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse an element file of which a satellite cannot be used")
    ] = False,
) -> None:
    """Create a path trace and summarise it. One day takes one or two minutes."""
    from downlink.constellation.requests import with_numbers

    named = {
        key: value
        for key, value in locals().items()
        if value not in (None, [], False) and key not in {"to", "with_numbers"}
    }
    asked = base_of_path(name, stations or [], constellation, elements)
    route = {"rule": rule, "stay_s": stay_s, "slot_s": slot_s}
    changes: dict[str, Any] = {
        "duration_us": round(hours * 3_600e6) if hours else None,
        "start": start and read_utc(start),
        "least_elevation_deg": elevation,
        "isl": isl,
        "route": Route(**{key: value for key, value in route.items() if value is not None}),  # type: ignore[arg-type]
        "links": with_numbers(asked.links, links or []),
        "step_ms": step_ms,
        "seed": seed,
        "named": {key: value if isinstance(value, int | float | list) else str(value) for key, value in named.items()},
    }
    asked = replace(asked, **{key: value for key, value in changes.items() if value is not None})
    if elements:
        asked = usable(asked, strict)
    file = to or cached(name)
    make_folder(file.parent)
    write_bytes(file, made(asked))
    note(f"{file} is written.")
    _show(read_path_file(file))


@app.command("show")
def show_command(
    path: Annotated[str, typer.Argument(help="File, or name of a built-in path, which is created if missing")],
    as_json: AsJson = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Every hop's stretches as CSV (docs/paths.md section 4)")
    ] = False,
) -> None:
    """Show delay, hops, route changes a minute and rates of a path trace, and the parameters that made it."""
    if as_json and as_csv:
        raise InvalidError("two_forms", "--csv and --json are two forms of the answer. Name one of them.")
    if as_csv:
        _print_csv(path_content(path))
    else:
        _show(path_content(path), as_json)


def _print_csv(content: bytes) -> None:
    from downlink.codec.path import decode_path
    from downlink.codec.path_csv import path_csv

    for piece in path_csv(*decode_path(content)):
        typer.echo(piece.encode(), nl=False)


def _show(content: bytes, as_json: bool = False) -> None:
    from downlink.codec.path import decode_path, header_document
    from downlink.constellation.summary import summarise

    header, columns = decode_path(content)
    summary = summarise(header, columns)
    if as_json:
        print_json({"header": header_document(header), "summary": asdict(summary)})
        return
    for what, value in _facts(header, summary).items():
        say(f"{what:<30}{value}")


@app.command("check")
def check_command(
    path: Annotated[str, typer.Argument(help="File, or name of a path in the cache")],
    elements: Elements = None,
    as_json: AsJson = False,
) -> None:
    """Check a path trace against the format's rules and the exact orbits. Exit status 2 if a check fails."""
    from downlink.codec.path import decode_path
    from downlink.constellation.exact import hold_against

    header, columns = decode_path(path_content(path, may_make=False))
    with path_progress("checked", header.duration_us) as done:
        check = hold_against(header, columns, orbits_of(header, elements), done)
    if as_json:
        print_json({"is_right": True, **asdict(check)})
        return
    say(f"{header.name}: right. Delays are at most {check.most_error_ns:.0f} ns off the exact orbits.")
    if check.least_elevation_deg is not None:
        say(
            f"The least elevation used is {check.least_elevation_deg:.2f} degrees, asked for are {header.least_elevation_deg:g}."
        )
    if check.least_isl_height_km is not None:
        say(f"The lowest hop between satellites is {check.least_isl_height_km:.0f} km above ground.")


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List the built-in paths and those in the cache."""
    files = {file.stem: file for file in sorted(cache_folder().glob(f"*{SUFFIX}"))}
    rows = [
        {
            "name": name,
            "what": READY[name].what if name in READY else "your own",
            "file": str(files[name]) if name in files else None,
            "size_bytes": files[name].stat().st_size if name in files else None,
        }
        for name in [*READY, *(each for each in files if each not in READY)]
    ]
    columns = [
        (key.removesuffix("_bytes"), lambda row, key=key: row[key]) for key in ("name", "what", "size_bytes", "file")
    ]
    show(rows, columns, as_json, "There are none.")


def _facts(header: PathHeader, summary: PathSummary) -> dict[str, str]:
    route, model = header.route, header.links
    rule = {"shortest": f"shortest, stays {route.stay_s:g} s", "slots": f"slots of {route.slot_s:g} s"}.get(
        route.rule, route.rule
    )
    gaps = [f"{each.least_ms:g} to {each.most_ms:g} ms" for each in (model.gsl_gap, model.isl_gap)]
    return {
        "path": f"{header.name}: {' - '.join(each.name for each in header.stations)}",
        "constellation": header.constellation.code or header.constellation.file or "",
        **({"left out": _left_out(header)} if LEFT_OUT in header.asked else {}),
        "from": f"{header.start:%Y-%m-%d %H:%M:%SZ}, for {duration(header.duration_us / 1e6)}",
        "least elevation": f"{header.least_elevation_deg:g} degrees",
        "between satellites": header.isl,
        "route": f"{rule}, looked at each {header.step_ms / 1e3:g} s",
        "delay, one way": _range(summary.delay_ms, lambda value: f"{value:.2f} ms"),
        "RTT": _range(summary.delay_ms, lambda value: f"{2 * value:.2f} ms"),
        "hops": _range(summary.hops, lambda value: f"{value:.0f}"),
        "rate, ground hops": _range(summary.rate_bps, megabits),
        "loss, ground hops": _range(summary.loss_ratio, lambda value: f"{value:.2g}"),
        "rate, loss between satellites": f"{megabits(model.isl_rate_bps)}, {model.isl_loss_ratio:.2g}",
        "gap of a changed hop": f"{gaps[0]} with the ground, {gaps[1]} between satellites",
        "changes of path": f"{summary.path_changes}, {summary.changes_per_minute:.2f} a minute",
        "… of a ground hop": f"{summary.ground_changes_per_minute:.2f} a minute",
        "unreachable": duration(summary.unreachable_s),
    }


def _left_out(header: PathHeader) -> str:
    """Describe how many satellites of the file could not be used, and the first of them."""
    satellites = header.asked[LEFT_OUT]
    if not isinstance(satellites, dict):
        return str(satellites)
    return f"{satellites.get('satellites')} of the file: {'; '.join(map(str, satellites.get('first') or ()))}"


def _range(spread: PathSpread | None, text_of: Callable[[float], str]) -> str:
    """Least, median and most."""
    return "none" if spread is None else f"{text_of(spread.least)} / {text_of(spread.median)} / {text_of(spread.most)}"
