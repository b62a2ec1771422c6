"""The network of one moment, and the shortest way through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are used: api and worker start without them
from numpy.typing import NDArray

from downlink.constellation.orbits import Floats, Grid, Whole

LEAST_ISL_RADIUS_KM = 6378.137 + 80.0
NOWHERE = -9999
"""Predecessor that dijkstra gives a node without any."""

Nodes = tuple[int, ...]
"""A path from the first station (-1) over satellites to the last station."""


def grid_hops(grid: Grid) -> Whole:
    """The pairs of satellites that `+grid` joins, each once, of shape (hops, 2). One that is missing is joined to nobody."""
    plane, slot = np.divmod(np.arange(grid.planes * grid.per_plane), grid.per_plane)
    hops: list[Whole] = []
    if grid.per_plane > 1:
        hops.append(np.stack([_number(grid, plane, slot), _number(grid, plane, slot + 1)], axis=1))
    if grid.planes > 1:
        is_last = plane == grid.planes - 1
        beside = _number(grid, plane + 1, slot + np.where(is_last, grid.seam or 0, 0))
        pairs = np.stack([_number(grid, plane, slot), beside], axis=1)
        hops.append(pairs if grid.seam is not None else pairs[~is_last])
    pairs = np.sort(np.concatenate([*hops, np.empty((0, 2), np.int64)]), axis=1)
    return _standing(np.unique(pairs, axis=0), grid)


def _standing(pairs: Whole, grid: Grid) -> Whole:
    """The pairs of which both are there, by their numbers among those that are."""
    if grid.numbers is None:
        return pairs
    number_of = np.full(grid.planes * grid.per_plane, -1, np.int64)
    number_of[list(grid.numbers)] = np.arange(len(grid.numbers))
    standing = number_of[pairs]
    return standing[np.all(standing >= 0, axis=1)]


def _number(grid: Grid, plane: Whole, slot: Whole) -> Whole:
    return plane % grid.planes * grid.per_plane + slot % grid.per_plane


def hop_lengths(places: Floats, hops: Whole) -> Floats:
    """Return lengths of ISLs in km, of shape (hops, times); infinite where one would come within 80 km of the ground."""
    apart = places[hops[:, 0]] - places[hops[:, 1]]
    squared = np.einsum("htx,htx->ht", apart, apart)
    least_squared = float(np.min(np.einsum("stx,stx->st", places, places)))
    # No point of a chord of length L between two satellites at least r out is nearer to the centre than sqrt(r^2 - L^2/4).
    squared[squared / 4 > least_squared - LEAST_ISL_RADIUS_KM**2] = np.inf
    lengths: Floats = np.sqrt(squared)
    return lengths


@dataclass(frozen=True, slots=True)
class Wiring:
    """The graph of joined satellites, built once for all moments."""

    satellites: int
    stations: int
    hops: Whole

    def shortest(self, isl_km: Floats, gsl_km: Floats, seen: NDArray[np.bool_]) -> Nodes | None:
        """The shortest path from the first station to the last; None where there is none.

        isl_km: of each hop. gsl_km, seen: of shape (stations, satellites).
        """
        ground, satellite = np.nonzero(seen)
        lengths, station = gsl_km[ground, satellite], self.satellites + ground
        leaves, arrives = ground < self.stations - 1, ground > 0
        usable = np.isfinite(isl_km)
        one, other, isl = self.hops[usable, 0], self.hops[usable, 1], isl_km[usable]
        rows = np.concatenate([one, other, station[leaves], satellite[arrives]])
        columns = np.concatenate([other, one, satellite[leaves], station[arrives]])
        values = np.concatenate([isl, isl, lengths[leaves], lengths[arrives]])
        size = self.satellites + self.stations
        before = scipy.sparse.csgraph.dijkstra(
            scipy.sparse.csr_array((values, (rows, columns)), shape=(size, size)),
            indices=self.satellites,
            return_predecessors=True,
        )[1]
        return self._nodes(before)

    def _nodes(self, before: Sequence[int]) -> Nodes | None:
        at = self.satellites + self.stations - 1
        nodes = [at]
        while at != self.satellites:
            at = int(before[at])
            if at == NOWHERE:
                return None
            nodes.append(at)
        return tuple(node if node < self.satellites else self.satellites - 1 - node for node in reversed(nodes))
