"""The network over time: what each station sees and how long each hop is, moment after moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sgp4.api import SatrecArray

from downlink.constellation.graph import Nodes, Wiring, grid_hops, hop_lengths
from downlink.constellation.ground import Sight, sight
from downlink.constellation.orbits import Floats, Orbits, Whole, near_positions, positions
from downlink.domain.links.pathtrace import GRID, Station, wrong

CHUNK_NUMBERS = 100_000
"""Satellites x times that are held at once: more does not fit into a processor's cache."""


@dataclass(frozen=True, slots=True)
class Moment:
    """at_us; lengths of ISLs; lengths and visibility of GSLs of shape (stations, satellites)."""

    at_us: int
    wiring: Wiring
    isl_km: Floats
    gsl_km: Floats
    seen: NDArray[np.bool_]

    def holds(self, nodes: Nodes) -> bool:
        """Return whether every hop with the ground is still visible."""
        return all(self.seen[station, satellite] for station, satellite in ground_hops(nodes))

    def shortest(self, first: int | None = None, last: int | None = None) -> Nodes | None:
        """The shortest path; first, last: satellites that the first and the last station keep."""
        seen = self.seen
        if first is not None or last is not None:
            seen = seen.copy()
            for station, satellite in ((0, first), (-1, last)):
                if satellite is not None:
                    keeps = seen[station, satellite]
                    seen[station] = False
                    seen[station, satellite] = keeps
        return self.wiring.shortest(self.isl_km, self.gsl_km, seen)


def ground_hops(nodes: Nodes) -> Iterator[tuple[int, int]]:
    """Station (counted from 0) and satellite of each hop with the ground."""
    for one, other in pairwise(nodes):
        if one < 0 or other < 0:
            station, satellite = sorted((one, other))
            yield -1 - station, satellite


@dataclass(frozen=True)
class Sky:
    """Orbits over stations. With look_ahead a hop with the ground counts as seen only where it is seen until the next moment as well."""

    orbits: Orbits
    stations: Sequence[Station]
    start: datetime
    least_elevation_deg: float
    most_gsl_km: float | None
    isl: str
    look_ahead: bool = True

    @cached_property
    def satellites(self) -> SatrecArray:
        return SatrecArray(self.orbits.satellites)

    @cached_property
    def wiring(self) -> Wiring:
        """Raises InvalidError where the pattern needs planes and the elements have none."""
        if self.isl != GRID:
            return Wiring(len(self.orbits.satellites), len(self.stations), np.empty((0, 2), np.int64))
        if self.orbits.grid is None:
            remedy = "Begin the file with a line that says PLANES SATELLITES-PER-PLANE, or take --isl none."
            raise wrong("isl", "+grid needs planes, and the element file does not say them", remedy)
        return Wiring(len(self.orbits.satellites), len(self.stations), grid_hops(self.orbits.grid))

    def moments(self, at_us: Whole) -> Iterator[Moment]:
        """One for each time but the last, which only says what is still seen then."""
        step = max(1, CHUNK_NUMBERS // len(self.orbits.satellites))
        for first in range(0, len(at_us) - 1, step):
            yield from self._chunk(at_us[first : first + step + 1])

    def _chunk(self, at_us: Whole) -> Iterator[Moment]:
        places = near_positions(self.satellites, self.start, at_us)
        sights = sight(self.stations, places, self.start, at_us)
        seen = sights.is_seen(self.least_elevation_deg, self.most_gsl_km)
        if self.look_ahead:
            seen[:, :, :-1] &= seen[:, :, 1:]
        isl_km = np.ascontiguousarray(hop_lengths(places, self.wiring.hops).T)
        for time in range(len(at_us) - 1):
            yield Moment(int(at_us[time]), self.wiring, isl_km[time], sights.length_km[:, :, time], seen[:, :, time])

    def places(self, nodes: Nodes, at_us: Whole) -> Floats:
        """Return positions of a path's satellites in km, of shape (satellites, times, 3)."""
        return positions(SatrecArray([self.orbits.satellites[node] for node in nodes if node >= 0]), self.start, at_us)

    def hop_lengths(self, nodes: Nodes, at_us: Whole) -> Floats:
        """Return lengths of a path's hops in km, of shape (hops, times)."""
        return self._lengths_and_sines(nodes, at_us)[0]

    def sines(self, nodes: Nodes, at_us: Whole) -> Floats:
        """Return sines of the elevation of each hop with the ground, of shape (hops, times); 1 for ISLs."""
        return self._lengths_and_sines(nodes, at_us)[1]

    def _lengths_and_sines(self, nodes: Nodes, at_us: Whole) -> tuple[Floats, Floats]:
        index = {node: at for at, node in enumerate(node for node in nodes if node >= 0)}
        places = self.places(nodes, at_us)
        sights: Sight = sight(self.stations, places, self.start, at_us)
        lengths, sines = [], []
        for one, other in pairwise(nodes):
            if one < 0 or other < 0:
                station, satellite = sorted((one, other))
                lengths.append(sights.length_km[-1 - station, index[satellite]])
                sines.append(sights.sine[-1 - station, index[satellite]])
            else:
                lengths.append(np.linalg.norm(places[index[one]] - places[index[other]], axis=1))
                sines.append(np.ones(len(at_us)))
        return np.stack(lengths), np.stack(sines)
