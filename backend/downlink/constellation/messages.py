"""Element sets as orbit mean-elements messages (OMM, CCSDS 502.0-B-3), in the three forms in which they are offered: CSV, XML, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from sgp4 import omm
from sgp4.api import WGS72, Satrec

from downlink.domain.pathtrace import wrong

HELP = "Take a file of CelesTrak's or Space-Track's, in the form CSV, XML or JSON."
LABELS = {
    "CLASSIFICATION_TYPE": "U",
    "OBJECT_ID": "",
    "EPHEMERIS_TYPE": "0",
    "ELEMENT_SET_NO": "0",
    "REV_AT_EPOCH": "0",
}
"""What names a satellite or its element set, and moves nothing."""


def is_messages(text: str) -> bool:
    return text.lstrip()[:1] in {"<", "[", "{"} or "MEAN_MOTION" in text.split("\n", 1)[0].split(",")


def read_messages(text: str) -> Iterator[Satrec]:
    """Satellites in the order of the file, one after the other.

    Raises InvalidError `path_invalid` with the element set that is wrong, counted from 1.
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
    return iter(omm.parse_csv(io.StringIO(text)))


def _satellite(number: int, fields: Mapping[str, Any]) -> Satrec:
    place = f"element file, element set {number}"
    said = {name: str(value).strip() for name, value in fields.items() if name and value not in (None, "")}
    theory = said.get("MEAN_ELEMENT_THEORY", "SGP4")
    if theory not in {"SGP4", "SGP/SGP4"}:
        raise wrong(place, f"its elements are of {theory}", "Take elements of SGP4.")
    # The catalogue's number is a label too, and newer ones have more digits than SGP4's code takes.
    own = {**LABELS, **said, "NORAD_CAT_ID": str(number), "EPOCH": _moment(said.get("EPOCH", ""))}
    satellite = Satrec()
    try:
        omm.initialize(satellite, own, WGS72)
    except KeyError as error:
        raise wrong(place, f"{error.args[0]} is missing", HELP) from error
    except ValueError as error:
        raise wrong(place, f"it cannot be read ({error})", HELP) from error
    if satellite.error:
        raise wrong(place, "its elements make no orbit around the Earth", "Fetch the file again.")
    return satellite


def _moment(epoch: str) -> str:
    """As the library reads it: with parts of a second, without a zone (the standard's only one is UTC)."""
    bare = epoch.removesuffix("Z")
    return bare if "." in bare else f"{bare}.0"
