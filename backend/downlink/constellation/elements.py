"""Files of element sets: two lines (TLE) each, with or without a line of the satellite's name before; or messages (OMM)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from sgp4.api import WGS72, Satrec

from downlink.constellation.messages import is_messages, read_messages
from downlink.constellation.orbits import DAY_S, J2000, J2000_JD, Grid, Orbits
from downlink.domain.pathtrace import MAX_SATELLITES, wrong

LINE = 69
CHECKED = slice(0, 68)
OLD_DAYS = 14
MIXED_DAYS = 1
NEWER = "Fetch the file again."


def read_elements(text: str) -> Orbits:
    """Satellites in the order of the file. A first line `PLANES SATELLITES-PER-PLANE` says how they stand in planes.

    Raises InvalidError `path_invalid` with the line that is wrong.
    """
    if is_messages(text):
        return _orbits(tuple(islice(read_messages(text), MAX_SATELLITES + 1)), None)
    lines = [(number, line.rstrip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    counts = lines[0][1].split() if lines else []
    has_planes = len(counts) == 2 and all(each.isdecimal() for each in counts)
    counted = (int(counts[0]), int(counts[1])) if has_planes else None
    sets = islice(_pairs(lines[has_planes:]), MAX_SATELLITES + 1)
    return _orbits(tuple(_satellite(*pair) for pair in sets), counted)


def _orbits(satellites: tuple[Satrec, ...], counts: tuple[int, int] | None) -> Orbits:
    if not satellites:
        raise wrong("element file", "it has no satellites", f"Take a file with 1 to {MAX_SATELLITES:,}.")
    if len(satellites) > MAX_SATELLITES:
        remedy = "Leave out those that the path does not need."
        raise wrong("element file", f"it has more than {MAX_SATELLITES:,} satellites", remedy)
    grid = _grid(*counts, len(satellites)) if counts else None
    days = [_days(each) for each in satellites]
    epoch = J2000 + timedelta(days=sum(days) / len(days))
    return Orbits(satellites, epoch, grid, (max(days) - min(days)) * DAY_S)


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


def _pairs(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """Number of the first line, and both lines, of each element set."""
    at = 0
    while at < len(lines):
        number, line = lines[at]
        if not line.startswith("1 ") or len(line) < LINE - 1:  # a name
            at, is_named = at + 1, True
        else:
            is_named = False
        one, two = (lines[at + each][1] if at + each < len(lines) else "" for each in (0, 1))
        if not (one.startswith("1 ") and two.startswith("2 ")):
            reason = (
                "no element set of two lines follows" if is_named else "the second line of its element set is missing"
            )
            raise wrong(f"element file, line {number}", reason, NEWER)
        yield lines[at][0], one, two
        at += 2


def _satellite(number: int, one: str, two: str) -> Satrec:
    for off, line in enumerate((one, two)):
        if len(line) < LINE or _checksum(line) != line[LINE - 1]:
            raise wrong(f"element file, line {number + off}", "its checksum is wrong or it is cut", NEWER)
    try:
        satellite = Satrec.twoline2rv(one, two, WGS72)
    except ValueError as error:
        raise wrong(f"element file, line {number}", f"it cannot be read ({error})", NEWER) from error
    if satellite.error:
        raise wrong(f"element file, line {number}", "its elements make no orbit around the Earth", NEWER)
    return satellite


def _checksum(line: str) -> str:
    return str(sum(int(each) if each.isdecimal() else each == "-" for each in line[CHECKED]) % 10)


def _grid(planes: int, per_plane: int, satellites: int) -> Grid:
    if planes * per_plane != satellites:
        reason = f"{planes} planes of {per_plane} are {planes * per_plane}, and it has {satellites} satellites"
        raise wrong("element file, line 1", reason, "Correct the line or leave it out.")
    return Grid(planes, per_plane, 0)
