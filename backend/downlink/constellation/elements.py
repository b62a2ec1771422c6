"""Files of element sets: two lines (TLE) each, with or without a line of the satellite's name before; or messages (OMM)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from sgp4.api import WGS72, Satrec

from downlink.constellation.messages import NO_ORBIT, Found, is_messages, read_messages
from downlink.constellation.orbits import DAY_S, J2000, J2000_JD, Grid, Label, Orbits
from downlink.domain.partial import LeftOut
from downlink.domain.pathtrace import MAX_SATELLITES, wrong

LINE = 69
CHECKED = slice(0, 68)
OLD_DAYS = 14
MIXED_DAYS = 1
NEWER = "Fetch the file again."
NO_BREAK = "\N{NO-BREAK SPACE}"
"""Copied from a web page, lines have these."""


def read_elements(text: str) -> Orbits:
    """Satellites in the order of the file. A first line `PLANES SATELLITES-PER-PLANE` says how they stand in planes.

    A set that cannot be read, or makes no orbit, is left out and named. Raises InvalidError `path_invalid` where none can be used.
    """
    if is_messages(text):
        return _orbits(list(islice(read_messages(text), MAX_SATELLITES + 1)), None)
    lines = [(number, line.replace(NO_BREAK, " ").strip()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    counts = lines[0][1].split() if lines else []
    has_planes = len(counts) == 2 and all(each.isdecimal() for each in counts)
    counted = (int(counts[0]), int(counts[1])) if has_planes else None
    return _orbits(list(islice(_sets(lines[has_planes:]), MAX_SATELLITES + 1)), counted)


def _orbits(read: list[Found | LeftOut], counts: tuple[int, int] | None) -> Orbits:
    found = [each for each in read if not isinstance(each, LeftOut)]
    left_out = [each for each in read if isinstance(each, LeftOut)]
    if not read:
        raise wrong("element file", "it has no satellites", f"Take a file with 1 to {MAX_SATELLITES:,}.")
    if len(read) > MAX_SATELLITES:
        remedy = "Leave out those that the path does not need."
        raise wrong("element file", f"it has more than {MAX_SATELLITES:,} satellites", remedy)
    if not found:
        raise wrong(f"element file, {left_out[0].place}", left_out[0].reason, NEWER)
    grid = _grid(*counts, read) if counts else None
    days = [_days(satellite) for _, satellite in found]
    epoch = J2000 + timedelta(days=sum(days) / len(days))
    labels, satellites = zip(*found, strict=True)
    return Orbits(satellites, epoch, grid, (max(days) - min(days)) * DAY_S, labels, tuple(left_out))


def _days(satellite: Satrec) -> float:
    """The elements' epoch, since J2000."""
    days: float = satellite.jdsatepoch - J2000_JD + satellite.jdsatepochF
    return days


def warnings(orbits: Orbits, start: datetime) -> list[str]:
    """What people should know of the elements' age."""
    said = []
    if orbits.spread_s > MIXED_DAYS * DAY_S:
        spread_days = orbits.spread_s / DAY_S
        old = sum(abs(_days(each) - (start - J2000) / timedelta(days=1)) > OLD_DAYS for each in orbits.satellites)
        more = (
            f", and {old} of {len(orbits.satellites)} are beyond {OLD_DAYS} days from the path's start" if old else ""
        )
        said.append(
            f"The element sets are of different epochs, up to {spread_days:.1f} days apart{more}: satellites of the oldest ones are "
            f"kilometres off. Take a file that was made at one time, or leave those out."
        )
    age_days = abs((start - orbits.epoch).total_seconds()) / DAY_S
    if age_days > OLD_DAYS:
        reason = f"The path begins {age_days:.0f} days from the elements' epoch, {orbits.epoch:%Y-%m-%d}"
        said.append(f"{reason}: beyond {OLD_DAYS} days satellites are kilometres off. {NEWER}")
    return said


def _sets(lines: list[tuple[int, str]]) -> Iterator[Found | LeftOut]:
    """Each element set, and each part of the file that is none; a line right before a set is its satellite's name."""
    at, name = 0, ""
    while at < len(lines):
        number, line = lines[at]
        follows = lines[at + 1][1] if at + 1 < len(lines) else ""
        if _is_first(line) and follows.startswith("2 "):
            yield _satellite(name or line[2:7].strip(), (number, line), lines[at + 1])
            at, name = at + 2, ""
            continue
        if _is_first(line):
            yield LeftOut(name, f"line {number}", "the second line of its element set is missing")
        elif not _is_first(follows):
            yield LeftOut("", f"line {number}", f"no element set of two lines follows {line[:40]!r}")
        at, name = at + 1, "" if _is_first(line) else _name(line)


def _is_first(line: str) -> bool:
    return line.startswith("1 ") and len(line) >= LINE - 1


def _name(line: str) -> str:
    """As it is written before a set; some files put a 0 before it."""
    return line.removeprefix("0 ")[:40]


def _satellite(name: str, first: tuple[int, str], second: tuple[int, str]) -> Found | LeftOut:
    """A set's satellite, or why there is none."""
    label = Label(name, f"line {first[0]}")
    for number, line in (first, second):
        if len(line) < LINE or _checksum(line) != line[LINE - 1]:
            return LeftOut(name, f"line {number}", "its checksum is wrong or it is cut")
    try:
        satellite = Satrec.twoline2rv(first[1], second[1], WGS72)
    except ValueError as error:
        return LeftOut(name, label.place, f"it cannot be read ({error})")
    if satellite.error:
        return LeftOut(name, label.place, NO_ORBIT)
    return label, satellite


def _checksum(line: str) -> str:
    return str(sum(int(each) if each.isdecimal() else each == "-" for each in line[CHECKED]) % 10)


def _grid(planes: int, per_plane: int, read: list[Found | LeftOut]) -> Grid:
    if planes * per_plane != len(read):
        reason = f"{planes} planes of {per_plane} are {planes * per_plane}, and it has {len(read)} satellites"
        raise wrong("element file, line 1", reason, "Correct the line or leave it out.")
    there = tuple(number for number, each in enumerate(read) if not isinstance(each, LeftOut))
    return Grid(planes, per_plane, 0, None if len(there) == len(read) else there)
