"""Translation of names and words to the parameters of a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from downlink.constellation.code import parse_code
from downlink.constellation.maker import Asked
from downlink.constellation.orbits import Orbits, walker_orbits
from downlink.domain.links.pathtrace import LinkModel, Station, wrong
from downlink.domain.links.ready_paths import PLACES, READY

CODE_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
DAY_US = 86_400_000_000
T = TypeVar("T")


def code_orbits(code: str, epoch: datetime = CODE_EPOCH) -> Orbits:
    return walker_orbits(parse_code(code), epoch)


def ready_path(name: str, program: str) -> Asked:
    """A ready-made path of 24 h. Raises InvalidError that lists the names there are."""
    if name not in READY:
        raise wrong(
            "name", f"there is no ready-made path {name!r}", f"Take one of {', '.join(READY)}, or name stations."
        )
    ready = READY[name]
    orbits = code_orbits(ready.code)
    stations = [PLACES[each] for each in ready.stations]
    return Asked(
        name, program, orbits, stations, CODE_EPOCH, DAY_US, ready.code,
        least_elevation_deg=ready.least_elevation_deg, isl=ready.isl,
    )  # fmt: skip


def station(text: str) -> Station:
    """`beijing`, or `NAME,LATITUDE,LONGITUDE[,METRES]`."""
    name, *numbers = text.split(",")
    if not numbers:
        if name not in PLACES:
            remedy = f"Take one of {', '.join(PLACES)}, or write NAME,LATITUDE,LONGITUDE."
            raise wrong("station", f"{name!r} is not known", remedy)
        return PLACES[name]
    try:
        latitude, longitude, *height = (float(each) for each in numbers)
    except ValueError as error:
        raise wrong(
            "station", f"{text!r} cannot be read", "Write NAME,LATITUDE,LONGITUDE[,METRES] in degrees."
        ) from error
    if len(height) > 1:
        raise wrong("station", f"{text!r} has too many numbers", "Write NAME,LATITUDE,LONGITUDE[,METRES].")
    return Station(name, latitude, longitude, *height)


def with_numbers(links: LinkModel, settings: Sequence[str]) -> LinkModel:
    """A link model in which numbers are replaced, each said as `radio.bandwidth_mhz=20`."""
    for each in settings:
        key, equals, text = each.partition("=")
        if not equals:
            raise wrong("links", f"{each!r} has no value", "Write KEY=VALUE, such as isl_rate_bps=20000000.")
        links = _replaced(links, key, key.split("."), text)
    return links


def _replaced(model: T, key: str, names: Sequence[str], text: str) -> T:
    known = {each.name for each in fields(model)} if is_dataclass(model) else set()
    if not names or names[0] not in known:
        raise wrong("links", f"there is no key {key!r}", f"Take one of {', '.join(_keys(LinkModel()))}.")
    old: Any = getattr(model, names[0])
    if is_dataclass(old):
        return _with(model, names[0], _replaced(old, key, names[1:], text))
    try:
        value = int(text) if isinstance(old, int) else float(text)
    except ValueError as error:
        raise wrong(f"links, {key}", f"{text!r} is no number", "Write KEY=VALUE.") from error
    if len(names) > 1:
        raise wrong("links", f"there is no key {key!r}", f"Take one of {', '.join(_keys(LinkModel()))}.")
    return _with(model, names[0], value)


def _with(model: T, name: str, value: object) -> T:
    changed: T = replace(model, **{name: value})  # type: ignore[type-var]
    return changed


def _keys(model: object, above: str = "") -> list[str]:
    keys: list[str] = []
    for each in fields(model):  # type: ignore[arg-type]
        value = getattr(model, each.name)
        keys += _keys(value, f"{above}{each.name}.") if is_dataclass(value) else [above + each.name]
    return keys
