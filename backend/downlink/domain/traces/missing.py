"""Missing chunks of a run, and the reasons that agents give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from downlink.domain.traces.point import trace_name

WHY = {
    "damaged": "damaged on the disk of {agent}",
    "refused": "refused for good, and kept by {agent}",
    "gone": "removed from the disk of {agent} by somebody",
    "too_old": "dropped by {agent}: they waited for longer than its owner allows",
    "too_much": "dropped by {agent}: more waited than its owner allows",
}
"""Agents' words (docs/agent-protocol.md section 5) as what is said of the chunks."""
NEVER_CAME = ""
MOST_RANGES = 10


@dataclass(frozen=True, slots=True)
class Told:
    """An agent's statement about chunks that it cannot deliver: first to last of one flow at one point."""

    agent: str
    flow: int
    point: str
    first: int
    last: int
    why: str


def told_by(agent: str, missing: Iterable[Mapping[str, Any]]) -> list[Told]:
    return [Told(agent, each["flow"], each["point"], each["first"], each["last"], each["why"]) for each in missing]


def gone(missing: Mapping[tuple[int, str], Sequence[int]], keepers: Mapping[tuple[int, str], str]) -> list[Told]:
    """Return the chunks that agents have lost without knowing it: they delivered all that they hold, and a file was removed while they
    did not run.

    keepers: who keeps which trace, of those that say they have delivered all.
    """
    return [
        Told(keepers[trace], *trace, min(numbers), max(numbers), "gone")
        for trace, numbers in missing.items()
        if trace in keepers
    ]


def missing_sentence(missing: Mapping[tuple[int, str], Sequence[int]], told: Sequence[Told]) -> str:
    """Every trace with the numbers that it lacks, and what is known of them."""
    parts = (
        f"{trace_name(flow, point)}: {_some(_fates(flow, point, numbers, told))}"
        for (flow, point), numbers in sorted(missing.items())
    )
    return f"Chunks are missing: {'; '.join(parts)}."


def is_final(missing: Mapping[tuple[int, str], Sequence[int]], told: Sequence[Told]) -> bool:
    """Return whether agents have declared every missing chunk as lost."""
    return all(
        _fate(flow, point, number, told) != NEVER_CAME
        for (flow, point), numbers in missing.items()
        for number in numbers
    )


def _fates(flow: int, point: str, numbers: Sequence[int], told: Sequence[Told]) -> list[tuple[int, int, str]]:
    """First and last of chunks in a row with one fate."""
    fates = [(number, _fate(flow, point, number, told)) for number in sorted(numbers)]
    starts = [0, *(i for i, (a, b) in enumerate(pairwise(fates), 1) if b[0] != a[0] + 1 or b[1] != a[1])]
    ends = [*starts[1:], len(fates)]
    return [(fates[i][0], fates[j - 1][0], fates[i][1]) for i, j in zip(starts, ends, strict=True)]


def _fate(flow: int, point: str, number: int, told: Sequence[Told]) -> str:
    for each in told:
        if (each.flow, each.point) == (flow, point) and each.first <= number <= each.last:
            return WHY[each.why].format(agent=each.agent)
    return NEVER_CAME


def _some(ranges: Sequence[tuple[int, int, str]]) -> str:
    words = [
        f"{first if first == last else f'{first} to {last}'}{f' ({fate})' if fate else ''}"
        for first, last, fate in ranges
    ]
    more = len(words) - MOST_RANGES
    return ", ".join(words[:MOST_RANGES]) + (f" and {more} more" if more > 0 else "")
