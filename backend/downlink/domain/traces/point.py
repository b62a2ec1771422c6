"""Points at which samples of a flow are taken (docs/agent-protocol.md section 1)."""

from __future__ import annotations

import re
from typing import ClassVar, Self

POINT = r"sender|receiver|link|sent|delivered|sites|hop-[1-9][0-9]{0,2}"


class Point(str):
    """A point of measurement: the sender, the receiver, the link, or `hop-1`, `hop-2`, … of the way, from the sender on.

    `sent` and `delivered` are the two halves of a flow's delivery table, as its sender and its receiver have it. `sites` is the table
    of an emulated link's sites, as the relay has it that speaks for them.
    """

    __slots__ = ()
    SENDER: ClassVar[Point]
    RECEIVER: ClassVar[Point]
    LINK: ClassVar[Point]
    SENT: ClassVar[Point]
    DELIVERED: ClassVar[Point]
    SITES: ClassVar[Point]

    def __new__(cls, text: str) -> Self:
        if not re.fullmatch(POINT, text):
            raise ValueError(
                f"{text!r} is not a point of measurement: sender, receiver, link, sent, delivered, sites, hop-1, hop-2, …"
            )
        return super().__new__(cls, text)

    @classmethod
    def hop(cls, rank: int) -> Self:
        """Return the point of the relay of this rank, from 1."""
        return cls(f"hop-{rank}")

    @property
    def rank(self) -> int | None:
        """Rank of a relay, from 1 at the sender's side; None at other points."""
        return int(self.removeprefix("hop-")) if self.startswith("hop-") else None


Point.SENDER, Point.RECEIVER, Point.LINK = Point("sender"), Point("receiver"), Point("link")
Point.SENT, Point.DELIVERED, Point.SITES = Point("sent"), Point("delivered"), Point("sites")
ENDS = (Point.SENDER, Point.RECEIVER)
"""The points at which a flow over TCP is measured."""
HALVES = {Point.SENT: Point.SENDER, Point.DELIVERED: Point.RECEIVER}
"""Halves of a delivery table, each with the point of the agent that keeps it."""
TABLES = (*HALVES, Point.SITES)
"""Tables that agents may keep of a flow beside its samples."""
NO_FLOW = 0
"""Flow of an emulated link's log, which is of the whole run."""


def trace_name(flow: int, point: str) -> str:
    """Return the name of a trace in words."""
    if point == Point.LINK:
        return "the link's log"
    if rank := Point(point).rank:
        return f"flow {flow} at relay {rank}"
    if point in (Point.SENT, Point.DELIVERED):
        return f"flow {flow}'s delivery table ({point})"
    if point == Point.SITES:
        return f"flow {flow}'s table of sites"
    return f"flow {flow} at the {point}"
