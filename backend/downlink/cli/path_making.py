"""The making of path files on this machine, without a server."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from downlink.cli.files import make_folder, write_bytes
from downlink.cli.output import note
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.domain.links.pathtrace import wrong
from downlink.domain.links.ready_paths import READY

if TYPE_CHECKING:
    from downlink.constellation.maker import Asked
    from downlink.constellation.orbits import Orbits
    from downlink.domain.links.pathtrace import PathHeader


SUFFIX = ".dlpath"
LEFT_OUT = "left_out"
"""Key of a header's `asked` that counts the satellites that could not be used."""
Elements = Annotated[
    Path | None, typer.Option("--elements", help="File of element sets (TLE, or OMM as CSV, XML or JSON)")
]


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
    with path_progress("made", asked.duration_us) as done:
        header, columns = make_path(asked, done)
    return encode_path(header, columns)


def usable(asked: Asked, strict: bool) -> Asked:
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


def base_of_path(name: str, stations: list[str], code: str | None, elements: Path | None) -> Asked:
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
        content = read_path_file(elements)
        orbits = read_elements(elements_text(content))
        digest = hashlib.sha256(content).hexdigest()
        return replace(
            asked, orbits=orbits, code=None, file=elements.name, file_sha256=digest, start=orbits.epoch,
            isl=asked.isl if orbits.grid else "none",
        )  # fmt: skip
    return replace(asked, orbits=code_orbits(code), code=code) if code else asked


def orbits_of(header: PathHeader, elements: Path | None) -> Orbits:
    from downlink.constellation.elements import elements_text, one_of_each, read_elements
    from downlink.constellation.fallen_satellites import without_lost
    from downlink.constellation.requests import code_orbits

    if header.constellation.code:
        return code_orbits(header.constellation.code, header.epoch)
    if elements is None:
        raise wrong(
            "constellation", f"its elements are in {header.constellation.file}", "Name the file with --elements."
        )
    content = read_path_file(elements)
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


def path_content(path: str, may_make: bool = True) -> bytes:
    file = Path(path) if "/" in path or path.endswith(SUFFIX) else cached(path)
    if may_make and path in READY and not is_made(path):
        make_ready(path)
    if not file.exists():
        raise NotFoundError(
            "path_unknown", f"There is no {file}. Make it with `downlink paths make`, see `downlink paths list`."
        )
    return read_path_file(file)


def read_path_file(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidError("file_unreadable", f"Cannot read {file}: {error.strerror}.") from error


def _program() -> str:
    return f"downlink {version('downlink')}"


def read_utc(moment: datetime) -> datetime:
    from datetime import UTC

    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


@contextmanager
def path_progress(what: str, total_us: int) -> Iterator[Callable[[int], None]]:
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
