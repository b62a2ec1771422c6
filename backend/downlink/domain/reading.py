"""Strict reading of plain data (dicts and lists from YAML or JSON): every problem is collected, each with its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong and where: `conditions[1].flows[0].cc`, or an empty place for the whole."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(slots=True)
class Reader:
    """Reads one mapping key by key. A wrong value is noted in `problems` and its default returned, so that reading goes on."""

    data: Mapping[str, Any]
    place: str = ""
    problems: list[Problem] = field(default_factory=list)

    def at(self, key: str) -> str:
        """The place of a key of this mapping."""
        return f"{self.place}.{key}" if self.place else key

    def refuse(self, key: str, message: str) -> None:
        """Note that the value under key is wrong."""
        self.problems.append(Problem(self.at(key) if key else self.place, message))

    def allow(self, *keys: str) -> None:
        """Note every key that is none of these."""
        for key in self.data:
            if key not in keys:
                self.refuse(str(key), f"unknown key. Allowed here: {', '.join(keys)}.")

    def has(self, key: str) -> bool:
        """Whether the key stands there with a value; null counts as absent."""
        return self.data.get(key) is not None

    def text(self, key: str, default: str | None = None, *, most: int = 200, pattern: str = r"(?s).+") -> str:
        """A text of at most `most` characters that matches the pattern; without a default it is required."""
        value = self._value(key, default)
        if isinstance(value, str) and (value == default or _is_text(value, most, pattern)):
            return value.strip()
        if value is not _ABSENT:
            hint = "" if pattern == r"(?s).+" else f" of the form {pattern}"
            self.refuse(key, f"must be a text{hint} of 1 to {most} characters, not {_shown(value)}.")
        return default or ""

    def integer(self, key: str, default: int, least: int, most: int) -> int:
        """A whole number within [least, most]; 1e9 counts, true does not."""
        value = self._value(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.refuse(key, f"must be a whole number from {least} to {most}, not {_shown(value)}.")
        return default

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """A finite number within [least, most]."""
        value = self._value(key, default)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and least <= value <= most:  # false for NaN too
            return float(value)
        self.refuse(key, f"must be a number from {least:g} to {most:g}, not {_shown(value)}.")
        return default

    def choice(self, key: str, default: str, allowed: Collection[str]) -> str:
        """One of the allowed texts."""
        value = self._value(key, default)
        if isinstance(value, str) and value in allowed:
            return value
        self.refuse(key, f"must be one of {', '.join(allowed)}, not {_shown(value)}.")
        return default

    def section(self, key: str) -> Reader:
        """The mapping under key, empty when it is absent."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, Mapping):
            self.refuse(key, f"must be a mapping of keys to values, not {_shown(value)}.")
            value = None
        return Reader(value or {}, self.at(key), self.problems)

    def sections(self, key: str, most: int) -> Iterator[Reader]:
        """The mappings of the list under key, at most `most`; none when it is absent."""
        for index, value in enumerate(self.items(key, most)):
            place = f"{self.at(key)}[{index}]"
            if isinstance(value, Mapping):
                yield Reader(value, place, self.problems)
            else:
                self.problems.append(Problem(place, f"must be a mapping of keys to values, not {_shown(value)}."))

    def items(self, key: str, most: int) -> list[Any]:
        """The list under key, empty when it is absent or too long."""
        value = self.data.get(key)
        if value is None:
            return []
        if isinstance(value, list) and 1 <= len(value) <= most:
            return value
        shown = f"{len(value)} of them" if isinstance(value, list) else _shown(value)
        self.refuse(key, f"must be a list of 1 to {most}, not {shown}.")
        return []

    def _value(self, key: str, default: Any) -> Any:
        value = self.data.get(key)
        if value is not None:
            return value
        if default is None:
            self.refuse(key, "is required.")
            return _ABSENT
        return default


_ABSENT = object()


def is_storable(text: str) -> bool:
    """Whether a database takes the text: no zero character, no half of a surrogate pair."""
    return "\x00" not in text and not re.search("[\ud800-\udfff]", text)


def _is_text(value: str, most: int, pattern: str) -> bool:
    return len(value) <= most and is_storable(value) and re.fullmatch(pattern, value.strip()) is not None


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**30:  # Python refuses to spell the largest
        return "a number beyond all measure"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
