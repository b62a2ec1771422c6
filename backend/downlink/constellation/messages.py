"""Element sets as orbit mean-elements messages (OMM, CCSDS 502.0-B-3), in the forms in which they are offered: CSV, XML, JSON, KVN."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from sgp4 import omm
from sgp4.api import WGS72, Satrec

from downlink.constellation.orbits import Label
from downlink.domain.partial import LeftOut
from downlink.domain.pathtrace import wrong

Found = tuple[Label, Satrec]
HELP = "Take a file of CelesTrak's or Space-Track's, in the form CSV, XML, JSON or KVN."
NO_ORBIT = "its elements make no orbit around the Earth"
LABELS = {
    "CLASSIFICATION_TYPE": "U",
    "OBJECT_ID": "",
    "EPHEMERIS_TYPE": "0",
    "ELEMENT_SET_NO": "0",
    "REV_AT_EPOCH": "0",
}
"""What names a satellite or its element set, and moves nothing."""


def is_messages(text: str) -> bool:
    first = text.lstrip().split("\n", 1)[0]
    return first[:1] in {"<", "[", "{"} or "MEAN_MOTION" in next(csv.reader([first]), []) or _is_pairs(first)


def _is_pairs(first: str) -> bool:
    """Whether a file begins as key and value (KVN): every message of that form begins with its version."""
    return first.replace(" ", "").startswith("CCSDS_OMM_VERS=")


def read_messages(text: str) -> Iterator[Found | LeftOut]:
    """Satellites in the order of the file, one after the other; a message that cannot be used is left out and named.

    Raises InvalidError `path_invalid` where the file is not of its form; places are element sets, counted from 1.
    """
    try:
        for number, fields in enumerate(_messages(text), start=1):
            yield _satellite(number, fields)
    except (ElementTree.ParseError, json.JSONDecodeError, csv.Error, AttributeError, TypeError) as error:
        raise wrong("element file", f"it cannot be read ({error})", HELP) from error


def _messages(text: str) -> Iterator[Mapping[str, Any]]:
    form = text.lstrip()[:1]
    if form == "<":
        return iter(omm.parse_xml(io.StringIO(text)))
    if form in {"[", "{"}:
        found = json.loads(text)
        return iter([found] if isinstance(found, dict) else found)
    if _is_pairs(text.lstrip()):
        return _pairs(text)
    return iter(omm.parse_csv(io.StringIO(text.lstrip())))


def _pairs(text: str) -> Iterator[Mapping[str, str]]:
    """Messages of lines `KEY = VALUE [unit]`; one begins with its version."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = (each.strip() for each in line.partition("="))
        if _is_pairs(line) and fields:
            yield fields
            fields = {}
        if value:
            fields[key] = value.split("[")[0].strip()
    yield fields


def _satellite(number: int, fields: Mapping[str, Any]) -> Found | LeftOut:
    said = {name: str(value).strip() for name, value in fields.items() if name and value not in (None, "")}
    label = Label(said.get("OBJECT_NAME") or said.get("NORAD_CAT_ID", ""), f"element set {number}")
    theory = said.get("MEAN_ELEMENT_THEORY", "SGP4")
    if theory not in {"SGP4", "SGP/SGP4"}:
        return LeftOut(label.name, label.place, f"its elements are of {theory}, not of SGP4")
    # The catalogue's number is a label too, and newer ones have more digits than SGP4's code takes.
    own = {**LABELS, **said, "NORAD_CAT_ID": str(number), "EPOCH": _moment(said.get("EPOCH", ""))}
    satellite = Satrec()
    try:
        omm.initialize(satellite, own, WGS72)
    except KeyError as error:
        return LeftOut(label.name, label.place, f"{error.args[0]} is missing")
    except (ValueError, OverflowError) as error:
        return LeftOut(label.name, label.place, f"it cannot be read ({error})")
    return LeftOut(label.name, label.place, NO_ORBIT) if satellite.error else (label, satellite)


def _moment(epoch: str) -> str:
    """As the library reads it: with parts of a second, without a zone (the standard's only one is UTC)."""
    bare = epoch.removesuffix("Z")
    return bare if "." in bare else f"{bare}.0"
