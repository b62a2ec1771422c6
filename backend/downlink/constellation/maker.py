"""A path trace from what is asked: orbits, stations and rules in, header and columns out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sgp4.api import SatrecArray

from downlink.constellation.graph import Nodes
from downlink.constellation.knots import fine_times, knots
from downlink.constellation.orbits import Orbits, Whole, positions
from downlink.constellation.radio import loss_ppb, rate_bps, snr_db
from downlink.constellation.routes import Said, Stretch, stretches
from downlink.constellation.sky import Sky
from downlink.domain.links.pathtrace import (
    ALL_LOSS_PPB,
    GRID,
    LIGHT_M_PER_S,
    PATH_FIELDS,
    Constellation,
    Gap,
    LinkModel,
    PathHeader,
    Route,
    Station,
)  # fmt: skip

NS_PER_KM = 1e12 / LIGHT_M_PER_S
RADIUS_MARGIN_KM = 1.0
RADIUS_EVERY_US = 60_000_000

Rows = list[NDArray[np.int64]]


@dataclass(frozen=True)
class Asked:
    """The parameters of a path. code, or file and file_sha256: source of the orbits; step_ms: interval at which routes are computed."""

    name: str
    program: str
    orbits: Orbits
    stations: Sequence[Station]
    start: datetime
    duration_us: int
    code: str | None = None
    file: str | None = None
    file_sha256: str | None = None
    least_elevation_deg: float = 25.0
    most_gsl_km: float | None = None
    isl: str = GRID
    route: Route = field(default_factory=Route)
    links: LinkModel = field(default_factory=LinkModel)
    step_ms: int = 1_000
    seed: int = 1
    named: Mapping[str, Any] = field(default_factory=dict)


def make_path(asked: Asked, say: Said = lambda _: None) -> tuple[PathHeader, dict[str, Whole]]:
    """The header and the columns of docs/paths.md section 2. say: hears how many microseconds of the trace are done.

    Raises InvalidError `path_invalid` for what cannot be: a header's number out of range, orbits that SGP4 refuses.
    """
    header = _header(asked)  # before the work, so that what is wrong is said at once
    sky = sky_of(header, asked.orbits)
    course = stretches(sky, asked.route, asked.step_ms * 1_000, asked.duration_us, say)
    return header, _columns(sky, asked.links, course, asked.seed)


def sky_of(header: PathHeader, orbits: Orbits) -> Sky:
    """The sky that a header describes."""
    return Sky(orbits, header.stations, header.start, header.least_elevation_deg, header.most_gsl_km, header.isl)


def sky_of_asked(asked: Asked) -> Sky:
    """The same of what is asked for."""
    return Sky(asked.orbits, asked.stations, asked.start, asked.least_elevation_deg, asked.most_gsl_km, asked.isl)


def _header(asked: Asked) -> PathHeader:
    least, most = _radii(asked)
    satellites = len(asked.orbits.satellites)
    return PathHeader(
        name=asked.name,
        program=asked.program,
        constellation=Constellation(asked.code, asked.file, asked.file_sha256, satellites, least, most),
        epoch=asked.orbits.epoch,
        start=asked.start,
        stations=tuple(asked.stations),
        least_elevation_deg=asked.least_elevation_deg,
        most_gsl_km=asked.most_gsl_km,
        isl=asked.isl,
        route=asked.route,
        links=asked.links,
        step_ms=asked.step_ms,
        duration_us=asked.duration_us,
        seed=asked.seed,
        asked=asked.named,
    )


def _radii(asked: Asked) -> tuple[float, float]:
    """Return the least and greatest distance of all satellites from the Earth's centre in km, with a margin for the time between the
    computed moments.

    Two turns and a half of a low orbit say it for any time: what changes from day to day changes by less than the margin.
    """
    from_elements = [(each.altp, each.alta) for each in asked.orbits.satellites]
    radius = asked.orbits.satellites[0].radiusearthkm
    least, most = min(low for low, _ in from_elements), max(high for _, high in from_elements)
    at_us = np.arange(0, min(asked.duration_us, 240 * RADIUS_EVERY_US) + 1, RADIUS_EVERY_US, dtype=np.int64)
    few = slice(None, None, max(1, len(asked.orbits.satellites) // 50))
    lengths = np.linalg.norm(positions(SatrecArray(asked.orbits.satellites[few]), asked.start, at_us), axis=2)
    low, high = (float(each) for each in (lengths.min(), lengths.max()))
    return (
        round(min(low, (1 + least) * radius) - RADIUS_MARGIN_KM, 3),
        round(max(high, (1 + most) * radius) + RADIUS_MARGIN_KM, 3),
    )


def _columns(sky: Sky, links: LinkModel, course: Sequence[Stretch], seed: int) -> dict[str, Whole]:
    draws = np.random.default_rng(seed)
    rows: Rows = []
    before: Nodes | None = None
    for path, stretch in enumerate(course):
        if stretch.nodes is None:
            rows.append(_no_path(path, stretch))
        else:
            gaps = _gaps(links, stretch.nodes, before, draws) if path else [0] * (len(stretch.nodes) - 1)
            rows += _hops(sky, links, path, stretch, gaps)
        before = stretch.nodes
    table = np.concatenate(rows, axis=1)
    return dict(zip(PATH_FIELDS, table, strict=True))


def _no_path(path: int, stretch: Stretch) -> NDArray[np.int64]:
    return np.array([[at_us, path, 0, 0, 0, 0, ALL_LOSS_PPB, 0] for at_us in (stretch.start_us, stretch.end_us)]).T


def _gaps(links: LinkModel, nodes: Nodes, before: Nodes | None, draws: np.random.Generator) -> list[int]:
    """Return the silence of each hop in microseconds: 0 for a hop that the path before had too."""
    had = set(zip(before or (), (before or ())[1:], strict=False))
    gaps = []
    for hop in pairwise(nodes):
        gap: Gap = links.gsl_gap if min(hop) < 0 else links.isl_gap
        gaps.append(0 if hop in had else round(draws.uniform(gap.least_ms, gap.most_ms) * 1e3))
    return gaps


def _hops(sky: Sky, links: LinkModel, path: int, stretch: Stretch, gaps: Sequence[int]) -> Rows:
    assert stretch.nodes is not None  # noqa: S101 — the caller knows
    at_us = fine_times(stretch.start_us, stretch.end_us)
    lengths = sky.hop_lengths(stretch.nodes, at_us)
    rows = []
    for hop, (km, gap_us) in enumerate(zip(lengths, gaps, strict=True), start=1):
        kept = knots(at_us, km * NS_PER_KM)
        is_gsl = min(stretch.nodes[hop - 1 : hop + 1]) < 0
        rate, loss = _radio(links, km[kept]) if is_gsl else _isl(links, len(kept))
        block = np.zeros((len(PATH_FIELDS), len(kept)), np.int64)
        block[0], block[1], block[2], block[3] = at_us[kept], path, hop, stretch.nodes[hop]
        block[4], block[5], block[6] = np.rint(km[kept] * NS_PER_KM), rate, loss
        block[7, 0] = gap_us
        rows.append(block)
    return rows


def _radio(links: LinkModel, km: NDArray[np.float64]) -> tuple[Whole, Whole]:
    snr = snr_db(links.radio, km)
    return rate_bps(links.radio, snr), loss_ppb(links.gsl_loss, snr)


def _isl(links: LinkModel, knots_of_hop: int) -> tuple[Whole, Whole]:
    return np.full(knots_of_hop, links.isl_rate_bps), np.full(knots_of_hop, round(links.isl_loss_ratio * 1e9))
