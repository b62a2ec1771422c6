"""Conflicts of a plan: missing things, limits, and time that others hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conflict:
    """One reason, as a code and a sentence.

    is_blocking: the campaign cannot be launched; otherwise its runs wait or may fail. is_waivable: it blocks, unless the person who
    launches says that the agent will be there in time. place: the key of the campaign file that it is about, if one is.
    """

    code: str
    message: str
    is_blocking: bool = False
    is_waivable: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class Booking:
    """Time held by a run: its link, its agents, and with is_host_wide the hosts of these agents altogether.

    label: whose run it is, for people. start_s and end_s count from the launch of the campaign that is planned.
    """

    label: str
    link: str
    agents: frozenset[str]
    is_host_wide: bool
    start_s: float
    end_s: float


def find_overlaps(own: Sequence[Booking], others: Collection[Booking], hosts: Mapping[str, str]) -> Iterator[Conflict]:
    """One conflict per kind and pair of labels, with the time of the first overlap and their number.

    own: the plan's runs; two of one link are not compared with each other. hosts: agent to host.
    """
    overlaps: dict[tuple[str, str, str, str], tuple[float, int]] = {}
    mine = {id(booking) for booking in own}
    for earlier, later in _meeting([*own, *others]):
        is_mine = (id(earlier) in mine, id(later) in mine)
        if not any(is_mine) or (all(is_mine) and earlier.link == later.link):
            continue
        first, second = sorted((earlier, later), key=lambda each: (id(each) not in mine, each.label))
        if shared := _shared(first, second, hosts):
            key = (*shared, first.label, second.label)
            start_s, count = overlaps.get(key, (later.start_s, 0))
            overlaps[key] = (start_s, count + 1)
    for (code, thing, label, other), (start_s, count) in overlaps.items():
        yield Conflict(
            code, f"A run on {label} and one of {other} both need {thing} at {start_s:.0f} s ({count} overlaps)."
        )


def _meeting(bookings: Collection[Booking]) -> Iterator[tuple[Booking, Booking]]:
    """Every two that overlap in time, the earlier first; a sweep, so that long plans stay cheap."""
    held: list[Booking] = []
    for booking in sorted(bookings, key=lambda each: each.start_s):
        held = [each for each in held if each.end_s > booking.start_s]
        for each in held:
            yield each, booking
        held.append(booking)


def _shared(a: Booking, b: Booking, hosts: Mapping[str, str]) -> tuple[str, str] | None:
    """Code and name of what the two cannot have at once."""
    if a.link == b.link:
        return "link_booked", f"link {a.link}"
    if agents := sorted(a.agents & b.agents):
        return "agent_booked", f"agent {agents[0]}"
    if not (a.is_host_wide or b.is_host_wide):
        return None
    shared = {hosts.get(agent, agent) for agent in a.agents} & {hosts.get(agent, agent) for agent in b.agents}
    return ("host_booked", f"host {min(shared)} for itself") if shared else None
