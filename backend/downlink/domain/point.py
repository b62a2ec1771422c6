"""Where samples of a flow are taken (docs/agent-protocol.md section 1)."""

from __future__ import annotations

import re
from typing import ClassVar, Self

POINT = r"sender|receiver|link|hop-[1-9][0-9]{0,2}"


class Point(str):
    """A point of measurement: the sender, the receiver, the link, or `hop-1`, `hop-2`, … of the way, from the sender on."""

    __slots__ = ()
    SENDER: ClassVar[Point]
    RECEIVER: ClassVar[Point]
    LINK: ClassVar[Point]

    def __new__(cls, text: str) -> Self:
        if not re.fullmatch(POINT, text):
            raise ValueError(f"{text!r} is not a point of measurement: sender, receiver, link, hop-1, hop-2, …")
        return super().__new__(cls, text)


Point.SENDER, Point.RECEIVER, Point.LINK = Point("sender"), Point("receiver"), Point("link")
ENDS = (Point.SENDER, Point.RECEIVER)
"""The points at which a flow over TCP is measured."""
NO_FLOW = 0
"""Whose trace an emulated link's log is: that of its run."""


def trace_name(flow: int, point: str) -> str:
    """In words."""
    return "the link's log" if point == Point.LINK else f"flow {flow} at the {point}"
