"""Element sets as orbit mean-elements messages (OMM, CCSDS 502.0-B-3), in the forms in which they are offered: CSV, XML, JSON, KVN."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree

from sgp4 import omm
from sgp4.api import WGS72, Satrec

from downlink.constellation.orbits import Label
from downlink.domain.links.pathtrace import wrong
from downlink.domain.partial import LeftOut

HELP = "Take a file of CelesTrak's or Space-Track's, in the form CSV, XML, JSON or KVN."
NO_ORBIT = "its elements make no orbit around the Earth"
LABELS = {
    "CLASSIFICATION_TYPE": "U",
    "OBJECT_ID": "",
    "EPHEMERIS_TYPE": "0",
    "ELEMENT_SET_NO": "0",
    "REV_AT_EPOCH": "0",
}
"""Fields that name a satellite or its element set, and move nothing."""
NUMBERS = (
    "MEAN_MOTION", "ECCENTRICITY", "INCLINATION", "RA_OF_ASC_NODE", "ARG_OF_PERICENTER", "MEAN_ANOMALY", "BSTAR",
    "MEAN_MOTION_DOT", "MEAN_MOTION_DDOT",
)  # fmt: skip
OF_ANY = {"OBJECT_NAME", "EPOCH", "MEAN_MOTION"}
MOMENT = "2026-11-24T12:00:00.000000"
NEARLY_DEG = 1e-9
COMMENTS = ("#", "COMMENT")


@dataclass(frozen=True, slots=True)
class CatalogueLabel(Label):
    """A label with the satellite's number in the catalogue, without zeros before it; empty where there is none."""

    number: str = ""


Found = tuple[CatalogueLabel, Satrec]


def is_messages(text: str) -> bool:
    first = _without_comments(text).split("\n", 1)[0]
    return first[:1] in {"<", "[", "{"} or _delimiter(first) is not None or _is_pairs(first)


def _without_comments(text: str) -> str:
    """Return the text from its first line that is neither empty nor a comment, with uniform line ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((number for number, line in enumerate(lines) if not _is_comment(line)), len(lines))
    return "\n".join(lines[first:]).lstrip()


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(COMMENTS)


def _delimiter(first: str) -> str | None:
    """Return the delimiter of a table of messages; None if a line is no such heading."""
    return next((each for each in ",;\t" if "MEAN_MOTION" in _heading(first, each)), None)


def _heading(line: str, delimiter: str) -> list[str]:
    return [each.strip().upper() for each in _cells(line, delimiter)]


def _cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line, so that a quote without an end takes no other line with it."""
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []


def _is_pairs(first: str) -> bool:
    """Return whether a file begins as key and value (KVN): every message of that form begins with its version."""
    return first.replace(" ", "").upper().startswith("CCSDS_OMM_VERS=")


def read_messages(text: str) -> Iterator[Found | LeftOut]:
    """Satellites in the order of the file, one after the other; a message that cannot be used is left out and named.

    Raises InvalidError `path_invalid` where the file is not of its form; places are element sets, counted from 1.
    """
    try:
        for number, fields in enumerate(_messages(_without_comments(text)), start=1):
            yield _satellite(number, fields)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise wrong("element file", f"it cannot be read ({error})", HELP) from error


def _messages(text: str) -> Iterable[object]:
    if text.startswith("<"):
        return _segments(text)
    if text.startswith(("[", "{")):
        return _objects(text)
    return _pairs(text) if _is_pairs(text) else _rows(text.split("\n"))


def _objects(text: str) -> list[object]:
    document = json.loads(text)
    if isinstance(document, dict):
        if not OF_ANY & {name.upper() for name in document}:
            remedy = "Fetch it again, signed in where its source asks for that. Of a longer answer take the list of messages."
            raise wrong("element file", f"it has no element sets, but {text[:100]!r}", remedy)
        return [document]
    if document and not any(isinstance(each, dict) for each in document):
        raise ValueError("its list has no messages")
    return list(document)


def _segments(text: str) -> Iterator[dict[str, str | None]]:
    """Messages of a file of XML, with or without a namespace."""
    root = ElementTree.fromstring(text)  # noqa: S314  expat bounds what entities may become
    for segment in root.iterfind(".//{*}segment"):
        parts = [segment.find(path) for path in ("{*}metadata", "{*}data/{*}meanElements", "{*}data/{*}tleParameters")]
        yield {field.tag.rpartition("}")[2]: field.text for part in parts if part is not None for field in part}


def _rows(lines: list[str]) -> Iterator[dict[str, str]]:
    """Messages of a table, whose first line has their names."""
    delimiter = _delimiter(lines[0]) or ","
    heading = _heading(lines[0], delimiter)
    for line in lines[1:]:
        is_comment = line.startswith("#") and delimiter not in line
        if line.strip() and not is_comment:
            yield dict(zip(heading, _cells(line, delimiter), strict=False))


def _pairs(text: str) -> Iterator[dict[str, str]]:
    """Messages of lines `KEY = VALUE [unit]`; one begins with its version."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = (each.strip() for each in line.partition("="))
        if _is_pairs(line) and fields:
            yield fields
            fields = {}
        if value and not _is_comment(line):
            fields[key] = value.split("[")[0].strip()
    yield fields


def _satellite(number: int, fields: object) -> Found | LeftOut:
    position = f"element set {number}"
    if not isinstance(fields, Mapping):
        return LeftOut("", position, "it is no message of elements")
    texts = {str(name).strip().upper(): str(value).strip() for name, value in fields.items() if value is not None}
    texts = {name: value for name, value in texts.items() if value}
    catalogue = texts.get("NORAD_CAT_ID", "")
    label = CatalogueLabel(texts.get("OBJECT_NAME", catalogue), position, catalogue.lstrip("0"))
    if flaw := _flaw(texts):
        return LeftOut(label.name, position, flaw)
    # The catalogue's number is a label too, and newer ones have more digits than SGP4's code takes.
    own = {**LABELS, **texts, "NORAD_CAT_ID": str(number), "EPOCH": _moment(texts["EPOCH"])}
    satellite = Satrec()
    try:
        omm.initialize(satellite, own, WGS72)
    except (ValueError, TypeError, OverflowError) as error:
        return LeftOut(label.name, position, f"it cannot be read ({error})")
    beyond = beyond_bounds(satellite)
    return LeftOut(label.name, position, beyond) if beyond else (label, satellite)


def _flaw(texts: Mapping[str, str]) -> str | None:
    """Explain why the texts of a message describe no orbit; None if they do."""
    theory = texts.get("MEAN_ELEMENT_THEORY", "SGP4")
    if theory not in {"SGP4", "SGP/SGP4"}:
        return f"its elements are of {theory}, not of SGP4"
    for name in ("EPOCH", *NUMBERS):
        if name not in texts:
            return f"{name} is missing"
    try:
        datetime.strptime(_moment(texts["EPOCH"]), "%Y-%m-%dT%H:%M:%S.%f")  # noqa: DTZ007
    except ValueError:
        return f"it cannot be read (EPOCH {texts['EPOCH'][:40]!r} is no moment in UTC such as {MOMENT})"
    return next((flaw for name in NUMBERS if (flaw := _no_number(name, texts[name]))), None)


def _no_number(name: str, text: str) -> str | None:
    try:
        value = float(text)
    except ValueError:
        return f"it cannot be read ({name} {text[:40]!r} is no number; decimals have a point)"
    return None if math.isfinite(value) else f"its elements are no numbers ({name} is {text[:40]})"


def beyond_bounds(satellite: Satrec) -> str | None:
    """Explain why readable elements describe no orbit; SGP4 accepts some of these all the same."""
    if not (0 <= satellite.ecco < 1 and satellite.no_kozai > 0) or satellite.error:
        return NO_ORBIT
    inclination_deg = math.degrees(satellite.inclo)
    if not -NEARLY_DEG <= inclination_deg <= 180 + NEARLY_DEG:
        return f"its inclination of {inclination_deg:g} degrees is not from 0 to 180"
    for name, angle in (("node", satellite.nodeo), ("pericentre", satellite.argpo), ("anomaly", satellite.mo)):
        if not abs(math.degrees(angle)) <= 360 + NEARLY_DEG:
            return f"the angle of its {name}, {math.degrees(angle):g} degrees, is beyond a turn"
    return None


def _moment(epoch: str) -> str:
    """Return an epoch as the library reads it: with parts of a second, without a zone (the standard's only one is UTC)."""
    bare = epoch.removesuffix("Z")
    return bare if "." in bare else f"{bare}.0"
