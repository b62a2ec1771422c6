"""Summary of a path trace in a few numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from downlink.constellation.exact import path_rows
from downlink.constellation.orbits import Whole
from downlink.domain.links.pathtrace import PathHeader

EACH_US = 1_000_000


@dataclass(frozen=True, slots=True)
class PathSpread:
    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class PathSummary:
    """delay_ms: one way, each second. rate_bps and loss_ratio: of the hops with the ground. null: there is no path at all."""

    delay_ms: PathSpread | None
    hops: PathSpread | None
    rate_bps: PathSpread | None
    loss_ratio: PathSpread | None
    path_changes: int
    changes_per_minute: float
    ground_changes_per_minute: float
    unreachable_s: float


def summarise(header: PathHeader, columns: Mapping[str, Whole]) -> PathSummary:
    paths = path_rows(columns)
    delays, hops, rates, losses = [], [], [], []
    covered_us = 0
    for nodes, rows in paths:
        start, end = int(columns["at_us"][rows[0][0]]), int(columns["at_us"][rows[0][-1]])
        covered_us += end - start
        at_us = np.arange(start + (-start) % EACH_US, end, EACH_US) if end - start > EACH_US else np.array([start])
        delay = sum(np.interp(at_us, columns["at_us"][each], columns["delay_ns"][each]) for each in rows)
        delays.append(np.asarray(delay) / 1e6)
        hops.append(np.full(len(at_us), len(rows)))
        ground = [each for at, each in enumerate(rows) if min(nodes[at : at + 2]) < 0]
        rates += [columns["rate_bps"][each] for each in ground]
        losses += [columns["loss_ppb"][each] / 1e9 for each in ground]
    minutes = header.duration_us / 60e6
    changes = int(columns["path"][-1])
    return PathSummary(
        _spread(delays), _spread(hops), _spread(rates), _spread(losses), changes, changes / minutes,
        _ground_changes(paths) / minutes, (header.duration_us - covered_us) / 1e6,
    )  # fmt: skip


def _ground_changes(paths: list[tuple[tuple[int, ...], list[Whole]]]) -> int:
    ends = [(nodes[1], nodes[-2]) for nodes, _ in paths]
    return sum(one != other for one, other in pairwise(ends))


def _spread(parts: Sequence[NDArray[Any]]) -> PathSpread | None:
    if not parts:
        return None
    values = np.concatenate(parts)
    return PathSpread(float(np.min(values)), float(np.median(values)), float(np.max(values)))
