"""Numbers in a station's file that are no values: beyond a quantity's bounds, or a station's sign for no value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from downlink.codec.station_fault import unreadable
from downlink.domain.errors import InvalidError
from downlink.domain.links.observation import BOUNDS, MOST, SENTINELS, fault_of
from downlink.domain.partial import MOST_NAMED

RARE = ("weather.rain_mm_per_h", "weather.snow_mm_per_h", "weather.wind_m_per_s")
"""Quantities of which some sentinels lie within what was once measured somewhere on Earth."""
MOST_REFUSED = 100
MOST_FLAGS = 20
SENTINEL = "how many stations write that they have no value"
SHARE = 0.5
"""Share of a sentinel that another value must reach for the sentinel to be a value like others."""


@dataclass(frozen=True, slots=True, order=True)
class _Said:
    line: int
    quantity: str
    value: float
    text: str
    reason: str


class Values:
    """The numbers of a file, and those that are to be refused.

    is_whole: all of the file is seen. A sentinel within what a quantity can have is told from a value by the others of it.
    """

    def __init__(self, is_whole: bool) -> None:
        self._is_whole = is_whole
        self._refused: dict[tuple[str, float], _Said] = {}
        self._doubtful: dict[tuple[str, float], _Said] = {}
        self._least: dict[str, float] = {}
        self._most: dict[str, float] = {}

    def take(self, value: float, text: str, quantity: str, line: int) -> bool:
        """Return whether the number counts as a value. Raise InvalidError for a number that no quantity can have."""
        key = (quantity, value)
        if fault := fault_of(value, quantity):
            if not math.isfinite(value) or abs(value) > MOST:
                raise unreadable(f"Line {line}, {quantity}: {fault}")
            if len(self._refused) < MOST_REFUSED:
                reason = fault.partition(";")[0].partition(" ")[2]
                self._refused.setdefault(key, _Said(line, quantity, value, text, reason))
            return False
        if self._is_whole and is_doubtful(value, text, quantity):
            reason = f"is {SENTINEL}, and the others are far from it"
            self._doubtful.setdefault(key, _Said(line, quantity, value, text, reason))
        else:
            self._least[quantity] = min(value, self._least.get(quantity, value))
            self._most[quantity] = max(value, self._most.get(quantity, value))
        return True

    def refusal(self) -> InvalidError | None:
        """Return all that is to be refused in one sentence, and what to say; None where nothing is."""
        alone = [
            doubtful for (quantity, value), doubtful in self._doubtful.items() if self._stands_out(quantity, value)
        ]
        refused = sorted([*self._refused.values(), *alone])
        if not refused:
            return None
        flags = " ".join(list(dict.fromkeys(f"--missing={each.text}" for each in refused))[:MOST_FLAGS])
        which = "it stands" if len(refused) == 1 else "they stand"
        advice = f"If {which} for no value, say so, for all columns ({flags}); else correct the value, or its unit."
        if alone:
            text = min(alone).text
            advice += f" A true value is written with an exponent: {with_exponent(text)} for {text}."
        return unreadable(f"L{_reasons(refused)[1:]}. {advice}")

    def _stands_out(self, quantity: str, value: float) -> bool:
        if value > 0:
            return self._most.get(quantity, 0.0) < value * SHARE
        return self._least.get(quantity, 0.0) > value * SHARE


def _reasons(refused: Sequence[_Said]) -> str:
    """The first ones, each reason once."""
    told, known = list[str](), set[str]()
    for each in refused[:MOST_NAMED]:
        is_again = each.reason in known and SENTINEL in each.reason
        known.add(each.reason)
        told.append(f"line {each.line}, {each.quantity}: {each.value:g} {'too' if is_again else each.reason}")
    more = len(refused) - len(told)
    return "; ".join([*told, f"and {more} more"] if more else told)


def is_doubtful(value: float, text: str, quantity: str) -> bool:
    """Return whether a number within a quantity's bounds may be a station's sign for no value. 99 alone is an ordinary percentage."""
    is_asked = quantity in RARE or (quantity not in BOUNDS and value != 99)
    return is_asked and value in SENTINELS and "e" not in text.lower()


def with_exponent(text: str) -> str:
    """Return the same number as 9.99e1."""
    digits = text.lstrip("+-")
    whole = digits.partition(".")[0]
    sign = "-" if text.startswith("-") else ""
    every = digits.replace(".", "")
    return f"{sign}{every[0]}.{every[1:]}e{len(whole) - 1}" if len(every) > 1 else f"{text}e0"
