"""The measured fields, read from the lists of them: `fields.csv` of flows, `link-fields.csv` of emulated links, both as in `docs`."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal

from downlink.domain.traces.point import ENDS, Point


class FieldKind(StrEnum):
    """TIME increases strictly, a COUNTER never falls, a GAUGE is a state of the moment."""

    TIME = "time"
    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class Field:
    """One measured quantity.

    ends: where it is sampled. min_kernel: first Linux that reports it, None when every kernel does.
    tcp_info_end: least length of `struct tcp_info` that holds it, None when it does not come from there.
    least, most: what an imported file may say, None where any number may stand. most_per_s: how fast a counter may rise.
    """

    name: str
    unit: str
    kind: FieldKind
    ends: frozenset[Point]
    min_kernel: tuple[int, int] | None
    tcp_info_end: int | None
    description: str
    least: int | None = None
    most: int | None = None
    most_per_s: int | None = None


TIME_FIELD = "elapsed_us"


@cache
def fields() -> Mapping[str, Field]:
    """Every field by name, in the order of the list."""
    text = resources.files("downlink.domain").joinpath("fields.csv").read_text(encoding="utf-8")
    return MappingProxyType({row["name"]: _field(row) for row in csv.DictReader(text.splitlines())})


def fields_of(point: Point) -> tuple[Field, ...]:
    """The fields that samples at this point may hold, in the order of the list."""
    if point == Point.LINK:
        return (fields()[TIME_FIELD], *link_fields().values())
    is_hop = point.rank is not None  # a flow comes in there and goes out: fields of both its ends
    return tuple(
        field
        for field in fields().values()
        if field.kind is FieldKind.TIME or point in field.ends or (is_hop and field.ends & _AT_HOPS)
    )


HOP = Point.hop(1)
"""Stands for every relay in the list of fields."""
_AT_HOPS = frozenset({*ENDS, HOP})


WayName = Literal["down", "up"]
WAYS: tuple[WayName, ...] = ("down", "up")
"""Ways of a link: to the receiver, and back."""


@cache
def link_fields() -> Mapping[str, Field]:
    """The fields of an emulated link's log by name: each of the list for both ways."""
    text = resources.files("downlink.domain").joinpath("link-fields.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    fields = [_link_field(f"{way}_{row['name']}", row) for way in WAYS for row in rows]
    return MappingProxyType({field.name: field for field in fields})


def _link_field(name: str, row: Mapping[str, str]) -> Field:
    return Field(name, row["unit"], FieldKind(row["kind"]), frozenset({Point.LINK}), None, None, row["description"])


def _field(row: Mapping[str, str]) -> Field:
    return Field(
        name=row["name"],
        unit=row["unit"],
        kind=FieldKind(row["kind"]),
        ends=_ends(row["ends"]),
        min_kernel=_kernel(row["min_kernel"]),
        tcp_info_end=_whole(row["tcp_info_end"]),
        description=row["description"],
        least=_whole(row["least"]),
        most=_whole(row["most"]),
        most_per_s=_whole(row["most_per_s"]),
    )


def _ends(text: str) -> frozenset[Point]:
    """`both` are a flow's two ends; others are points, joined by a plus; `hop` is any relay."""
    return (
        frozenset(ENDS)
        if text == "both"
        else frozenset(HOP if each == "hop" else Point(each) for each in text.split("+"))
    )


def _whole(text: str) -> int | None:
    return int(text) if text else None


def _kernel(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    major, minor = text.split(".")
    return int(major), int(minor)
