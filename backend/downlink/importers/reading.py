"""Careful reading of values that strangers wrote."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from downlink.domain.sample import FieldKind, fields
from downlink.importers.model import Ints, UnreadableError

MAX_SAMPLES = 5_000_000
LARGEST = 2**62
MAX_DURATION_US = 7 * 24 * 3600 * 1_000_000

IPV4 = re.compile(r"(?<![\d.])(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}(?![\d.])")


def mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnreadableError(f"{where} is not an object")
    return value


def text_of(container: object, name: str) -> str | None:
    """A text by its name, None where there is none: for what a file may tell besides its numbers."""
    value = container.get(name) if isinstance(container, Mapping) else None
    return value if isinstance(value, str) else None


def listing(value: object, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise UnreadableError(f"{where} is not a list")
    if len(value) > MAX_SAMPLES:
        raise UnreadableError(f"{where} has more than {MAX_SAMPLES} entries")
    return value


def number(value: object, where: str) -> float:
    """A finite number that is small enough to count with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"{where} is not a number")
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise UnreadableError(f"{where} is no sensible number")
    return value


def whole(value: object, where: str) -> int:
    return round(number(value, where))


def moment(value: object) -> datetime | None:
    """An ISO 8601 moment in UTC, to the microsecond; None when it is none."""
    if not isinstance(value, str):
        return None
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?", value)
    if not match:
        return None
    try:
        base = datetime.fromisoformat(match[1] + (match[3] or "Z"))
        return base.astimezone(UTC).replace(microsecond=int((match[2] or ".0")[1:7].ljust(6, "0")))
    except (ValueError, OverflowError):
        return None


def moment_of_unix(seconds: object) -> datetime | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 2**33:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def masked_address(value: object) -> str | None:
    """A client's address without its last part: enough to tell networks apart, not people."""
    if not isinstance(value, str) or not value:
        return None
    if ":" in value:
        return ":".join(value.split(":")[:3]) + "::"
    return IPV4.sub(r"\1.0", value)


def checked_columns(columns: Mapping[str, Ints], *, is_per_ack: bool = False) -> dict[str, Ints]:
    """The columns when they can be one flow's samples, `elapsed_us` first."""
    elapsed_us = columns["elapsed_us"]
    if elapsed_us.size == 0:
        raise UnreadableError("it has no samples")
    if elapsed_us.size > MAX_SAMPLES:
        raise UnreadableError(f"it has {elapsed_us.size} samples, at most {MAX_SAMPLES} are read")
    steps = np.diff(elapsed_us)
    back = np.flatnonzero(steps < 0 if is_per_ack else steps <= 0)
    if back.size:
        raise UnreadableError(f"time does not go on at sample {int(back[0]) + 2}")
    if elapsed_us[-1] - elapsed_us[0] > MAX_DURATION_US:
        raise UnreadableError("it spans more than a week, so that its times cannot be right")
    if not is_per_ack:
        _refuse_falls(columns)
    return {"elapsed_us": elapsed_us, **{name: column for name, column in columns.items() if name != "elapsed_us"}}


def _refuse_falls(columns: Mapping[str, Ints]) -> None:
    """Per-ACK logs are left alone: what they count in further columns differs, and no rate is taken of it."""
    for name, column in columns.items():
        if fields()[name].kind is FieldKind.COUNTER and (falls := np.flatnonzero(np.diff(column) < 0)).size:
            raise UnreadableError(f"{name} falls at sample {int(falls[0]) + 2}, so that it is not one flow")


def ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)
