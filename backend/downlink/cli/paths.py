"""`downlink paths`: paths through a constellation, made, shown and checked on this machine."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from downlink.cli.files import make_folder, write_bytes
from downlink.cli.output import AsJson, duration, megabits, note, print_json, say, show
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.domain.links.pathtrace import Route, wrong
from downlink.domain.links.ready_paths import READY

if TYPE_CHECKING:
    from downlink.constellation.maker import Asked
    from downlink.constellation.orbits import Orbits
    from downlink.constellation.summary import Spread, Summary
    from downlink.domain.links.pathtrace import PathHeader

SUFFIX = ".dlpath"
LEFT_OUT = "left_out"
"""What a header's `asked` says of the satellites that could not be used."""

app = typer.Typer(help="Paths through satellite constellations over time (docs/paths.md).", no_args_is_help=True)
Elements = Annotated[
    Path | None, typer.Option("--elements", help="File of element sets (TLE, or OMM as CSV, XML or JSON)")
]


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
    asked = _base(name, stations or [], constellation, elements)
    route = {"rule": rule, "stay_s": stay_s, "slot_s": slot_s}
    changes: dict[str, Any] = {
        "duration_us": round(hours * 3_600e6) if hours else None,
        "start": start and _utc(start),
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
        asked = _usable(asked, strict)
    file = to or cached(name)
    make_folder(file.parent)
    write_bytes(file, made(asked))
    note(f"{file} is written.")
    _show(_read(file))


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
        _print_csv(_content(path))
    else:
        _show(_content(path), as_json)


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

    header, columns = decode_path(_content(path, may_make=False))
    with _progress("checked", header.duration_us) as done:
        check = hold_against(header, columns, _orbits_of(header, elements), done)
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


def made(asked: Asked) -> bytes:
    """The file of a path, with a bar of progress; notes what is to know of the elements."""
    from downlink.codec.path import encode_path
    from downlink.constellation.elements import warnings
    from downlink.constellation.maker import make_path, sky_of_asked
    from downlink.constellation.visibility import check_seen, unseen

    for warning in warnings(asked.orbits, asked.start) if asked.file else []:
        note(f"Warning: {warning}")
    dark = unseen(sky_of_asked(asked), asked.duration_us)
    check_seen(dark, asked.least_elevation_deg)
    for each in dark:
        note(f"Warning: {each.sentence(asked.least_elevation_deg)}")
    with _progress("made", asked.duration_us) as done:
        header, columns = make_path(asked, done)
    return encode_path(header, columns)


def _usable(asked: Asked, strict: bool) -> Asked:
    """Leave out the satellites that cannot be used; they are printed, and named in the path's header."""
    from downlink.constellation.elements import one_of_each
    from downlink.constellation.fallen_satellites import without_lost
    from downlink.domain.partial import check_whole, told

    orbits = without_lost(one_of_each(asked.orbits, asked.start), asked.start, asked.duration_us)
    if not orbits.left_out:
        return asked
    total = len(orbits.satellites) + len(orbits.left_out)
    if strict:
        check_whole(orbits.left_out, total, "satellites")
    names = told(orbits.left_out)
    note(f"{len(orbits.left_out):,} of {total:,} satellites are left out: {'; '.join(names)}.")
    about = {LEFT_OUT: {"satellites": len(orbits.left_out), "first": names}}
    return replace(asked, orbits=orbits, named={**asked.named, **about})


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "downlink" / "paths"


def cached(name: str) -> Path:
    return cache_folder() / f"{name}{SUFFIX}"


def _base(name: str, stations: list[str], code: str | None, elements: Path | None) -> Asked:
    """Return the parameters of a ready-made path, or of one between stations; with other satellites where these are named."""
    from downlink.constellation.elements import elements_text, read_elements
    from downlink.constellation.maker import Asked
    from downlink.constellation.requests import CODE_EPOCH, DAY_US, code_orbits, ready_path, station
    from downlink.domain.links.ready_paths import REFERENCE

    if code and elements:
        raise wrong("constellation", "a code and an element file are named", "Name one of the two.")
    if not stations:
        asked = ready_path(name, _program())
    else:
        places = [station(each) for each in stations]
        asked = Asked(name, _program(), code_orbits(code or REFERENCE), places, CODE_EPOCH, DAY_US, code or REFERENCE)
    if elements:
        content = _read(elements)
        orbits = read_elements(elements_text(content))
        digest = hashlib.sha256(content).hexdigest()
        return replace(
            asked, orbits=orbits, code=None, file=elements.name, file_sha256=digest, start=orbits.epoch,
            isl=asked.isl if orbits.grid else "none",
        )  # fmt: skip
    return replace(asked, orbits=code_orbits(code), code=code) if code else asked


def _orbits_of(header: PathHeader, elements: Path | None) -> Orbits:
    from downlink.constellation.elements import elements_text, one_of_each, read_elements
    from downlink.constellation.fallen_satellites import without_lost
    from downlink.constellation.requests import code_orbits

    if header.constellation.code:
        return code_orbits(header.constellation.code, header.epoch)
    if elements is None:
        raise wrong(
            "constellation", f"its elements are in {header.constellation.file}", "Name the file with --elements."
        )
    content = _read(elements)
    if hashlib.sha256(content).hexdigest() != header.constellation.file_sha256:
        raise wrong("constellation", f"{elements} is not the file that the path was made of", "Name that one.")
    orbits = read_elements(elements_text(content))
    if LEFT_OUT not in header.asked:
        return orbits
    used = without_lost(one_of_each(orbits, header.start), header.start, header.duration_us)
    if len(used.satellites) == header.constellation.satellites:
        return used
    return without_lost(orbits, header.start, header.duration_us)  # as earlier versions used every set


def is_made(name: str) -> bool:
    return cached(name).exists()


def make_ready(name: str) -> None:
    """Make a ready-made path and keep it."""
    from downlink.constellation.requests import ready_path

    content = made(ready_path(name, _program()))
    make_folder(cache_folder())
    write_bytes(cached(name), content)


def _content(path: str, may_make: bool = True) -> bytes:
    file = Path(path) if "/" in path or path.endswith(SUFFIX) else cached(path)
    if may_make and path in READY and not is_made(path):
        make_ready(path)
    if not file.exists():
        raise NotFoundError(
            "path_unknown", f"There is no {file}. Make it with `downlink paths make`, see `downlink paths list`."
        )
    return _read(file)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidError("file_unreadable", f"Cannot read {file}: {error.strerror}.") from error


def _program() -> str:
    return f"downlink {version('downlink')}"


def _utc(moment: datetime) -> datetime:
    from datetime import UTC

    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


@contextmanager
def _progress(what: str, total_us: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while the work goes on, on a terminal alone."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.percentage:3.0f} % " + what), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total_us)
        yield lambda done_us: progress.update(task, completed=done_us)


def _facts(header: PathHeader, summary: Summary) -> dict[str, str]:
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


def _range(spread: Spread | None, text_of: Callable[[float], str]) -> str:
    """Least, median and most."""
    return "none" if spread is None else f"{text_of(spread.least)} / {text_of(spread.median)} / {text_of(spread.most)}"
