"""A weather service that the server asks over HTTP: what an admin says of it, whom it is asked for, and when it is asked again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from downlink.domain.errors import InvalidError
from downlink.domain.links.observation import NAME, unit_of
from downlink.domain.notices.delivery import check_url
from downlink.domain.text import is_storable
from downlink.domain.zone import check_zone

LEAST_EVERY_MIN, EVERY_MIN, MOST_EVERY_MIN = 5, 15, 1440
MOST_MAPPED = 50
MOST_SOURCE = 60
LONGEST_PAUSE = timedelta(hours=6)
DECIMALS = 2
"""Decimals of degrees as they leave the server: about a kilometre. A forecast's cell is no smaller, and links of
one site are one place."""
FIELDS = ("{latitude}", "{longitude}")
_RULE = re.compile(
    rf"(?P<name>{NAME})\s*(?:\[(?P<unit>[^\]]{{1,20}})\])?\s*=\s*(?P<pointer>/\S*?)(?:\s+\*\s*(?P<factor>\S+))?"
)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Degrees, north and east, as they are sent."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """One quantity of an answer. pointer: where its value is (RFC 6901). The value is multiplied by factor."""

    quantity: str
    unit: str
    pointer: str
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class WeatherSource:
    """name: the source of its values. time_pointer: where the moment is; zone: of moments without an offset.

    url: a template, which may hold a key of the service.
    """

    name: str
    url: str = field(repr=False)
    wanted: tuple[Wanted, ...]
    time_pointer: str
    zone: str
    every: timedelta

    @property
    def host(self) -> str:
        """Host name of the URL, which is the part that pages may show."""
        return urlsplit(self.url).hostname or ""

    @property
    def mark(self) -> str:
        """Another one when anything that an admin says of it is another."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()

    def url_of(self, place: Position) -> str:
        """The address that is asked for a place."""
        north, east = (f"{degrees:.{DECIMALS}f}" for degrees in (place.latitude, place.longitude))
        return self.url.replace(FIELDS[0], north).replace(FIELDS[1], east)


def position_of(latitude: float, longitude: float) -> Position:
    """Return a position as exactly as other hosts may learn it."""
    # `+ 0.0`: there is no place at minus zero.
    return Position(round(latitude, DECIMALS) + 0.0, round(longitude, DECIMALS) + 0.0)


def check_position(latitude: float | None, longitude: float | None) -> None:
    """InvalidError for half a place, and for one that is nowhere on Earth."""
    if (latitude is None) != (longitude is None):
        raise InvalidError("link_invalid", "Say both latitude and longitude, or neither.")
    if latitude is None or longitude is None:
        return
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise InvalidError("link_invalid", "latitude is from -90 to 90, longitude from -180 to 180.")


def next_ask_at(asked_at: datetime, every: timedelta, failures: int) -> datetime:
    """Return when to ask about a position again. Each failure in a row after the first doubles the pause, up to six hours."""
    pause: timedelta = every * 2 ** min(max(failures - 1, 0), 10)
    return asked_at + max(every, min(pause, LONGEST_PAUSE))


def read_source(
    name: str | None, url: str, quantities: str, time_pointer: str, zone: str, every_min: int
) -> WeatherSource:
    """Read an admin's settings. Raise ValueError, which begins with the faulty setting without its prefix, and never repeats the URL."""
    if not url.startswith(("http://", "https://")) or not all(url.count(each) == 1 for each in FIELDS):
        raise ValueError("URL must begin with https:// and hold {latitude} and {longitude}, once each")
    plain = url.replace(FIELDS[0], "0").replace(FIELDS[1], "0")
    try:
        check_url(plain)
        check_zone(zone)
    except InvalidError as error:
        which = "ZONE" if error.code == "time_zone_unknown" else "URL"
        raise ValueError(f"{which}: {error.message.rstrip('.')}") from None
    if any(each in plain + urlsplit(url).netloc for each in "{}"):
        raise ValueError("URL must name one host, and have no other braces than {latitude} and {longitude}")
    _check_pointer("TIME", time_pointer)
    source = WeatherSource(
        name or urlsplit(url).hostname or "", url, _read_wanted(quantities), time_pointer, zone,
        timedelta(minutes=every_min),
    )  # fmt: skip
    if not 1 <= len(source.name) <= MOST_SOURCE or not is_storable(source.name):
        raise ValueError(f"NAME must be a text of 1 to {MOST_SOURCE} characters")
    return source


def _read_wanted(text: str) -> tuple[Wanted, ...]:
    """`quantity [unit]=/pointer * factor`, by commas or lines; unit and factor may be left out."""
    parts = [part.strip() for part in re.split(r"[,\n]", text) if part.strip()]
    wanted = tuple(map(_wanted, parts))
    names = [each.quantity for each in wanted]
    if not wanted or len(wanted) > MOST_MAPPED or len(set(names)) != len(names):
        raise ValueError(f"QUANTITIES must name 1 to {MOST_MAPPED} quantities, each once")
    return wanted


def _wanted(part: str) -> Wanted:
    match = _RULE.fullmatch(part)
    if match is None:
        raise ValueError(f"QUANTITIES: write {part[:80]!r} as weather.rain_mm_per_h=/current/precipitation")
    _check_pointer("QUANTITIES", match["pointer"])
    try:
        unit = unit_of(match["name"], match["unit"])
        return Wanted(match["name"], unit, match["pointer"], _factor(match["factor"]))
    except InvalidError as error:
        raise ValueError(f"QUANTITIES: {error.message.rstrip('.')}") from None


def _factor(text: str | None) -> float:
    if text is None:
        return 1.0
    if not re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", text):
        raise ValueError(f"QUANTITIES: {text[:40]!r} is not a factor; write it as in /current/precipitation * 4")
    return float(text)


def _check_pointer(which: str, pointer: str) -> None:
    if not is_pointer(pointer):
        raise ValueError(f"{which}: {pointer[:80]!r} is no JSON pointer (RFC 6901); write it as in /current/time")


def is_pointer(text: str) -> bool:
    """Return whether this is a JSON pointer (RFC 6901) to a part of a document, of at most 200 characters."""
    return re.fullmatch(r"(/([^/~]|~[01])*)+", text) is not None and len(text) <= 200


def parts_of(pointer: str) -> Iterable[str]:
    """The keys and places that a JSON pointer leads along (RFC 6901, section 4)."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
