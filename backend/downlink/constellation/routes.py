"""Changes of the path: the three rules of docs/paths.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from downlink.constellation.graph import Nodes
from downlink.constellation.orbits import Whole
from downlink.constellation.sky import Moment, Sky
from downlink.domain.links.pathtrace import Route

Said = Callable[[int], None]
"""Is called with the microseconds that are done."""
SAID_EVERY = 50
Choose = Callable[[Moment, Nodes | None], Nodes | None]
"""The path from a moment on, given the one before."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A path from start_us to end_us; nodes: None where there is none."""

    start_us: int
    end_us: int
    nodes: Nodes | None


def stretches(sky: Sky, route: Route, step_us: int, duration_us: int, say: Said = lambda _: None) -> list[Stretch]:
    """The paths in their order, without a gap, each other than the one before."""
    at_us = slot_times(route, duration_us) if route.rule == "slots" else step_times(step_us, duration_us)
    course: list[Stretch] = []
    start_us, current = 0, None
    for number, (moment_us, nodes) in enumerate(_routed(sky, route, at_us)):
        if number % SAID_EVERY == 0:
            say(moment_us)
        if number and nodes != current:
            course.append(Stretch(start_us, moment_us, current))
            start_us = moment_us
        current = nodes
    return [*course, Stretch(start_us, duration_us, current)]


def step_times(step_us: int, duration_us: int) -> Whole:
    """The moments to look at, and the end."""
    return np.append(np.arange(0, duration_us, step_us, dtype=np.int64), duration_us)


def slot_times(route: Route, duration_us: int) -> Whole:
    """The slots' boundaries from 0 until the one that is not before the end."""
    slot_us, offset_us = round(route.slot_s * 1e6), round(route.offset_s * 1e6)
    inside = np.arange(offset_us or slot_us, duration_us + slot_us, slot_us, dtype=np.int64)
    kept = inside[: int(np.searchsorted(inside, duration_us)) + 1]
    return np.append(0, kept)


def _routed(sky: Sky, route: Route, at_us: Whole) -> Iterator[tuple[int, Nodes | None]]:
    choose: dict[str, Choose] = {
        "shortest": Shortest(route.stay_s).choose,
        "hold": hold,
        "slots": lambda moment, _: moment.shortest(),
    }
    current: Nodes | None = None
    for moment in sky.moments(at_us):
        current = choose[route.rule](moment, current)
        yield moment.at_us, current


class Shortest:
    """The shortest path, for at least stay_s unless a hop with the ground sets."""

    def __init__(self, stay_s: float) -> None:
        self.stay_us = round(stay_s * 1e6)
        self.changed_us = 0

    def choose(self, moment: Moment, current: Nodes | None) -> Nodes | None:
        stays = moment.at_us - self.changed_us < self.stay_us
        if current is not None and stays and moment.holds(current):
            return current
        path = moment.shortest()
        if path != current:
            self.changed_us = moment.at_us
        return path


def hold(moment: Moment, current: Nodes | None) -> Nodes | None:
    """The same path until one of its hops with the ground sets. Then the shortest one with the satellite that the other end still sees."""
    if current is None:
        return moment.shortest()
    if moment.holds(current):
        return current
    first = current[1] if moment.seen[0, current[1]] else None
    last = current[-2] if moment.seen[-1, current[-2]] else None
    return moment.shortest(first, last) or moment.shortest()
