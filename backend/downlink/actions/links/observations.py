"""Quantities of links are taken: from agents, from files, from a weather service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from downlink.codec.station_csv import parse_station
from downlink.codec.station_table import StationForm
from downlink.domain.errors import ConflictError, DeniedError, DownlinkError, InvalidError, NotFoundError
from downlink.domain.links.observation import MOST_QUANTITIES, Observation, check_observation
from downlink.domain.partial import LeftOut
from downlink.domain.zone import check_zone
from downlink.storage.advisory_lock import order_work
from downlink.storage.links import link_store, observation_store
from downlink.storage.tables import Agent
from downlink.storage.unit import Unit, lock

OBSERVATIONS = "observations"
"""The lock for storing some: units and the number of quantities are checked first."""


def take_observations(unit: Unit, link: str, observations: Sequence[Observation], now: datetime) -> int:
    """Store what is new of it; how many that were. Nothing is stored where anything is wrong: InvalidError, ConflictError."""
    lock(unit, OBSERVATIONS)
    check_observations(unit, link, observations, now)
    return _store(unit, link, observations)


def _store(unit: Unit, link: str, observations: Sequence[Observation]) -> int:
    stored = observation_store.add_observations(unit, link, observations) if observations else 0
    if stored:
        order_work(unit)  # a trigger may wait for it
    return stored


def check_observations(unit: Unit, link: str, observations: Sequence[Observation], now: datetime) -> None:
    """InvalidError or ConflictError for what a link does not take."""
    faults = faults_of(unit, link, dict(enumerate(observations)), now)
    if faults:
        raise faults[min(faults)]


def faults_of(
    unit: Unit, link: str, observations: Mapping[int, Observation], now: datetime
) -> dict[int, DownlinkError]:
    """Return the errors of those that a link does not take, by their positions."""
    known = {(row.quantity, row.source): row.unit for row in observation_store.list_quantities(unit, [link])}
    faults: dict[int, DownlinkError] = {}
    for position, each in observations.items():
        try:
            check_observation(each, now)
            _check_known(known, link, each)
        except DownlinkError as fault:
            faults[position] = fault
    return faults


def _check_known(known: dict[tuple[str, str], str], link: str, each: Observation) -> None:
    """Notes a quantity that the link did not have, as long as it takes further ones."""
    key = (each.quantity, each.source)
    if key not in known and len(known) >= MOST_QUANTITIES:
        raise ConflictError(
            "quantities_full", f"{link} has {MOST_QUANTITIES} quantities already; it takes no further ones."
        )
    unit_of = known.setdefault(key, each.unit)
    if unit_of != each.unit:
        raise InvalidError(
            "observation_invalid",
            f"{each.quantity} of {each.source} is in {unit_of} on {link}, and not in {each.unit}.",
        )


@dataclass(frozen=True, slots=True)
class StationTaken:
    """values: in the file; stored: new ones; differing: those stored with another value; left_out: what could not be read."""

    values: int
    stored: int
    differing: int
    left_out: tuple[LeftOut, ...]


def import_station(
    unit: Unit,
    link_id: UUID,
    text: str,
    source: str,
    form: StationForm,
    now: datetime,
    first_line: int | None = None,
) -> StationTaken:
    """Take a weather station's CSV, or a part of it. InvalidError, NotFoundError."""
    link = link_store.find_link(unit, link_id)
    if link is None:
        raise NotFoundError("link_not_found", f"There is no link {link_id}.")
    if form.zone:
        check_zone(form.zone)
    read = parse_station(text, source, replace(form, link_zone=link.time_zone), first_line)
    observations = read.observations
    stored = take_observations(unit, link.name, observations, now)
    differing = observation_store.count_differing(unit, link.name, observations) if stored < len(observations) else 0
    return StationTaken(len(observations), stored, differing, read.left_out)


def take_from_agent(
    unit: Unit, agent: Agent, link: str | None, observations: Mapping[int, Observation], now: datetime
) -> tuple[int, dict[int, DownlinkError]]:
    """Store an agent's observations of the links that it receives for; of the named one alone if it names one.

    How many values were new, and why some were not taken, by their positions: an observer of weeks loses nothing to a
    single value. DeniedError where it receives for no such link.
    """
    own = [
        each.name
        for each in link_store.domain_links(unit).values()
        if each.receiver == agent.name and link in (None, each.name)
    ]
    if not own:
        which = f"link {link}" if link else "any link"
        raise DeniedError(
            "link_not_own", f"{agent.name} is not the receiver of {which}; make the link first, or correct `link`."
        )
    stored, refused = 0, dict[int, DownlinkError]()
    lock(unit, OBSERVATIONS)
    for name in own:
        faults = faults_of(unit, name, observations, now)
        stored += _store(unit, name, [each for position, each in observations.items() if position not in faults])
        refused = faults | refused
    return stored, refused
