"""Files of element sets: two lines (TLE) each, with or without a line of the satellite's name before; or messages (OMM)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from sgp4.api import WGS72, Satrec

from downlink.constellation.fallen_satellites import without
from downlink.constellation.messages import CatalogueLabel, Found, beyond_bounds, is_messages, read_messages
from downlink.constellation.orbits import DAY_S, J2000, J2000_JD, Grid, Label, Orbits
from downlink.domain.links.pathtrace import MAX_SATELLITES, wrong
from downlink.domain.partial import LeftOut

LINE = 69
CHECKED = slice(0, 68)
OLD_DAYS = 14
MIXED_DAYS = 1
DAYS_OF_YEAR = 366
NEWER = "Fetch the file again."
NO_BREAK = "\N{NO-BREAK SPACE}"
"""Copied from a web page, lines have these."""
BYTE_ORDER_MARK = "\ufeff"
PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh91AY": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}


class NoSet(LeftOut):
    """A line that belongs to no element set."""

    __slots__ = ()


def elements_text(content: bytes) -> str:
    """The text of a file, also as PowerShell writes it (UTF-16). Raises InvalidError `path_invalid` for one that is packed."""
    for begins, form in PACKED.items():
        if content.startswith(begins):
            raise wrong("element file", f"it is packed ({form})", "Unpack it, and name the file that comes out.")
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if is_utf16 else "utf-8", errors="replace")


def read_elements(text: str) -> Orbits:
    """Satellites in the order of the file. A first line `PLANES SATELLITES-PER-PLANE` says how they stand in planes.

    A set that cannot be read, or makes no orbit, is left out and named. Raises InvalidError `path_invalid` where none can be used.
    """
    text = text.replace(BYTE_ORDER_MARK, "")  # several where files were joined
    if is_messages(text):
        return _orbits(list(islice(read_messages(text), MAX_SATELLITES + 1)), None)
    lines = [(number, line.replace(NO_BREAK, " ").strip()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    counts = lines[0][1].split() if lines else []
    has_planes = len(counts) == 2 and all(each.isdecimal() for each in counts)
    counted = (int(counts[0]), int(counts[1])) if has_planes else None
    return _orbits(list(islice(_sets(lines[has_planes:]), MAX_SATELLITES + 1)), counted)


def _orbits(read: list[Found | LeftOut], counts: tuple[int, int] | None) -> Orbits:
    readable = [each for each in read if not isinstance(each, LeftOut)]
    left_out = [each for each in read if isinstance(each, LeftOut)]
    if not read:
        raise wrong("element file", "it has no satellites", f"Take a file with 1 to {MAX_SATELLITES:,}.")
    if len(read) > MAX_SATELLITES:
        remedy = "Leave out those that the path does not need."
        raise wrong("element file", f"it has more than {MAX_SATELLITES:,} satellites", remedy)
    if not readable:
        raise wrong(f"element file, {left_out[0].place}", left_out[0].reason, NEWER)
    grid = _grid(*counts, read) if counts else None
    newest = _one_each(readable, lambda days: -days)
    epoch, spread_s = _times([readable[number][1] for number in newest])
    labels, satellites = zip(*readable, strict=True)
    return Orbits(satellites, epoch, grid, spread_s, labels, tuple(left_out))


def one_of_each(orbits: Orbits, start: datetime) -> Orbits:
    """Keep one set per satellite, as a history has several: the nearest to a path's start; the others go to `left_out`."""
    sets = list(zip(orbits.labels, orbits.satellites, strict=False))
    start_days = (start - J2000) / timedelta(days=1)
    used = _one_each(sets, lambda days: abs(days - start_days))
    if not sets or len(used) == len(sets):
        return orbits
    place_of = {_which(number, orbits.labels[number]): orbits.labels[number].place for number in used}
    further = {
        number: f"the set of {place_of[_which(number, orbits.labels[number])]} is of the same satellite and of an epoch "
        "at least as near to the path's start"
        for number in set(range(len(sets))) - set(used)
    }
    epoch, spread_s = _times([orbits.satellites[number] for number in used])
    return replace(without(orbits, further), epoch=epoch, spread_s=spread_s)


def _one_each(sets: Sequence[tuple[Label, Satrec]], far: Callable[[float], float]) -> list[int]:
    """Numbers of one set of each satellite, that whose epoch is the least far; of two alike the first."""
    nearest: dict[object, tuple[float, int]] = {}
    for number, (label, satellite) in enumerate(sets):
        which = _which(number, label)
        nearest[which] = min(nearest.get(which, (math.inf, number)), (far(_days(satellite)), number))
    return sorted(number for _, number in nearest.values())


def _which(number: int, label: Label) -> object:
    """The satellite that a set is of: files that were joined may use a number for two of different names."""
    catalogue = label.number if isinstance(label, CatalogueLabel) else ""
    return (catalogue, label.name) if catalogue else number


def _times(satellites: Sequence[Satrec]) -> tuple[datetime, float]:
    """Mean epoch of the elements, and the seconds between the first and the last."""
    days = [_days(satellite) for satellite in satellites]
    return J2000 + timedelta(days=sum(days) / len(days)), (max(days) - min(days)) * DAY_S


def _days(satellite: Satrec) -> float:
    """The elements' epoch, since J2000."""
    days: float = satellite.jdsatepoch - J2000_JD + satellite.jdsatepochF
    return days


def warnings(orbits: Orbits, start: datetime) -> list[str]:
    """Return warnings about the elements' age, for people."""
    sentences = []
    if orbits.spread_s > MIXED_DAYS * DAY_S:
        spread_days = orbits.spread_s / DAY_S
        old = sum(abs(_days(each) - (start - J2000) / timedelta(days=1)) > OLD_DAYS for each in orbits.satellites)
        more = (
            f", and {old} of {len(orbits.satellites)} are beyond {OLD_DAYS} days from the path's start" if old else ""
        )
        sentences.append(
            f"The element sets are of different epochs, up to {spread_days:.1f} days apart{more}: satellites of the oldest ones are "
            f"kilometres off. Take a file that was made at one time, or leave those out."
        )
    age_days = abs((start - orbits.epoch).total_seconds()) / DAY_S
    if age_days > OLD_DAYS:
        reason = f"The path begins {age_days:.0f} days from the elements' epoch, {orbits.epoch:%Y-%m-%d}"
        sentences.append(f"{reason}: beyond {OLD_DAYS} days satellites are kilometres off. {NEWER}")
    return sentences


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
        if _is_part(line):
            other = "second" if _is_first(line) else "first"
            yield LeftOut(name, f"line {number}", f"the {other} line of its element set is missing")
        elif not _is_part(follows):
            yield NoSet("", f"line {number}", f"no element set of two lines follows {line[:40]!r}")
        at, name = at + 1, "" if _is_part(line) else _name(line)


def _is_part(line: str) -> bool:
    """Return whether a line is one of the two of an element set; a satellite may be called `1 KUNS-PF`."""
    return line.startswith(("1 ", "2 ")) and len(line) >= LINE - 1


def _is_first(line: str) -> bool:
    return line.startswith("1 ") and _is_part(line)


def _name(line: str) -> str:
    """Return a name as it is written before a set; some files put a 0 before it."""
    return line.removeprefix("0 ")[:40]


def _satellite(name: str, first: tuple[int, str], second: tuple[int, str]) -> Found | LeftOut:
    """A set's satellite, or why there is none."""
    label = CatalogueLabel(name, f"line {first[0]}", _number(first[1]).lstrip("0"))
    for number, line in (first, second):
        if len(line) < LINE or _checksum(line) != line[LINE - 1]:
            return LeftOut(name, f"line {number}", "its checksum is wrong or it is cut")
    numbers = [_number(line) for _, line in (first, second)]
    if numbers[0] != numbers[1]:
        reason = f"its lines are of two satellites, {numbers[0]} and {numbers[1]}: lines between them are missing"
        return LeftOut(name, label.place, reason)
    try:
        satellite = Satrec.twoline2rv(first[1], second[1], WGS72)
    except ValueError as error:
        return LeftOut(name, label.place, f"it cannot be read ({error})")
    if not 1 <= satellite.epochdays < DAYS_OF_YEAR + 1:
        reason = f"its epoch is day {satellite.epochdays:g} of a year, which has at most {DAYS_OF_YEAR}"
        return LeftOut(name, label.place, reason)
    beyond = beyond_bounds(satellite)
    return LeftOut(name, label.place, beyond) if beyond else (label, satellite)


def _number(line: str) -> str:
    """The satellite's in the catalogue, which both lines of its set have."""
    return line[2:7].strip().zfill(5)


def _checksum(line: str) -> str:
    return str(sum(int(each) if each.isdecimal() else each == "-" for each in line[CHECKED]) % 10)


def _grid(planes: int, per_plane: int, read: list[Found | LeftOut]) -> Grid:
    """Other lines stand for no satellite, unless each of them has to: then a set is lost, and its name is left."""
    sets = [each for each in read if not isinstance(each, NoSet)]
    standing = read if planes * per_plane == len(read) else sets
    if planes * per_plane != len(standing):
        other = f" (other lines: {len(read) - len(sets)})" if len(read) > len(sets) else ""
        reason = f"{planes} planes of {per_plane} are {planes * per_plane}, and it has {len(sets)} element sets{other}"
        raise wrong("element file, line 1", reason, "Correct the line or leave it out.")
    there = tuple(number for number, each in enumerate(standing) if not isinstance(each, LeftOut))
    return Grid(planes, per_plane, 0, None if len(there) == len(standing) else there)
