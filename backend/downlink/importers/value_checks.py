"""Careful reading of values that strangers wrote."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import numpy as np

from downlink.domain.moment import in_utc
from downlink.domain.partial import LeftOut
from downlink.domain.traces.sample import TIME_FIELD, Field, FieldKind, fields
from downlink.importers.model import Ints, UnreadableError

T = TypeVar("T")
MAX_SAMPLES = 5_000_000
LARGEST = 2**61
"""Sums of two such numbers still fit into 64 bits."""
MICROSECONDS = 1_000_000
MAX_DURATION_S = 7 * 24 * 3600
MAX_SHOWN = 40
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
SAY_START = "say with --start when the test began"

IPV4 = re.compile(r"(?<![\d.])(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}(?![\d.])")


def usable(parts: Iterable[tuple[str, Callable[[], T]]]) -> tuple[list[T], tuple[LeftOut, ...]]:
    """Each part that can be read, and those that cannot, by their names. UnreadableError where none can: the first one's."""
    values: list[T] = []
    left_out: list[LeftOut] = []
    for name, read in parts:
        try:
            values.append(read())
        except UnreadableError as error:
            left_out.append(LeftOut("", name, str(error)))
    if left_out and not values:
        raise UnreadableError(left_out[0].reason)
    return values, tuple(left_out)


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
        raise UnreadableError(f"{where} is not a usable number")
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
        base = in_utc(datetime.fromisoformat(match[1] + (match[3] or "Z")))
        return base.replace(microsecond=int((match[2] or ".0")[1:7].ljust(6, "0")))
    except ValueError:
        return None


def moment_of_unix(seconds: object, where: str) -> datetime | None:
    """None where it is not said; UnreadableError for what is no moment of Unix time, whose bounds `checked_start` has."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 2**33:
        shown = repr(seconds)[:MAX_SHOWN]
        raise UnreadableError(
            f"{where} is {shown}; it must lie between {EARLIEST:%Y-%m-%d} and now, in seconds since 1970"
        )
    return datetime.fromtimestamp(seconds, UTC)


def masked_address(value: object) -> str | None:
    """A client's address without its last part: enough to tell networks apart, not people."""
    if not isinstance(value, str) or not value:
        return None
    if ":" in value:
        return ":".join(value.split(":")[:3]) + "::"
    return IPV4.sub(r"\1.0", value)


def elapsed_us(times_s: Sequence[float], origin_s: float) -> Ints:
    """Moments in seconds as microseconds from origin_s on."""
    since_s = np.asarray(times_s, dtype=np.float64) - origin_s
    if np.any(np.abs(since_s) > MAX_DURATION_S):
        raise UnreadableError("it spans more than a week, so that its times cannot be right")
    return np.rint(since_s * MICROSECONDS).astype(np.int64)


def summed(values: Sequence[int], name: str) -> Ints:
    """A counter out of what was counted since the sample before."""
    if sum(map(abs, values)) > LARGEST:
        raise UnreadableError(f"the values of {name} add up to more than can be counted")
    return np.cumsum(ints(values))


def checked_columns(columns: Mapping[str, Ints], *, is_per_ack: bool = False) -> dict[str, Ints]:
    """The columns when they can be one flow's samples, `elapsed_us` first."""
    times_us = columns[TIME_FIELD]
    if times_us.size == 0:
        raise UnreadableError("it has no samples")
    if times_us.size > MAX_SAMPLES:
        raise UnreadableError(f"it has {times_us.size} samples, at most {MAX_SAMPLES} are read")
    steps = np.diff(times_us)
    back = np.flatnonzero(steps < 0 if is_per_ack else steps <= 0)
    if back.size:
        raise UnreadableError(
            f"time does not increase at sample {int(back[0]) + 2}; put the samples in order, or each flow into a file of its own"
        )
    for name, column in columns.items():
        refuse_beyond(name, column)
        _refuse_leaps(fields()[name], column, times_us)
    if not is_per_ack:
        _refuse_falls(columns)
    return {TIME_FIELD: times_us, **{name: column for name, column in columns.items() if name != TIME_FIELD}}


def refuse_beyond(name: str, column: Ints) -> None:
    """Values that no host can have seen (`least` and `most` in docs/fields.csv)."""
    field = fields()[name]
    if field.least is None or field.most is None:
        return
    beyond = np.flatnonzero((column < field.least) | (column > field.most))
    if beyond.size:
        row, value = int(beyond[0]), int(column[beyond[0]])
        raise UnreadableError(
            f"{field.name} is {value} at sample {row + 1}; it must lie between {field.least} and {field.most}"
        )


def _refuse_leaps(field: Field, column: Ints, times_us: Ints) -> None:
    """Rises that no link carries, the first from 0 at time 0 where the file's first sample is later.

    A second is granted to each: ACKs come in bunches, and clocks are coarse.
    """
    if field.most_per_s is None:
        return
    if is_late := bool(times_us[0] > 0):
        column, times_us = np.insert(column, 0, 0), np.insert(times_us, 0, 0)
    rises, steps_s = np.diff(column), np.diff(times_us) / MICROSECONDS
    leaps = np.flatnonzero(rises > field.most_per_s * np.maximum(steps_s, 1))
    if leaps.size:
        at = int(leaps[0])
        raise UnreadableError(
            f"{field.name} rises by {int(rises[at])} within {steps_s[at]:g} s at sample {at + (1 if is_late else 2)}; "
            f"it must not rise by more than {field.most_per_s} in a second"
        )


def checked_start(moment: datetime | None, now: datetime) -> datetime | None:
    """Return the test's start: a test lies in the past, a day is granted to time zones. None where the host's clock was never set:
    one without a battery begins in 1970."""
    latest = now + timedelta(days=1)
    if moment is not None and moment < EARLIEST:
        return None
    if moment is not None and moment > latest:
        raise UnreadableError(
            f"its start is {moment:%Y-%m-%d %H:%M} UTC; it must lie between {EARLIEST:%Y-%m-%d} and {latest:%Y-%m-%d %H:%M} UTC"
        )
    return moment


def _refuse_falls(columns: Mapping[str, Ints]) -> None:
    """Per-ACK logs are left alone: what they count in further columns differs, and no rate is taken of it."""
    for name, column in columns.items():
        if fields()[name].kind is FieldKind.COUNTER and (falls := np.flatnonzero(np.diff(column) < 0)).size:
            raise UnreadableError(
                f"{name} falls at sample {int(falls[0]) + 2}, so that it is not one flow; put each flow into a file of its own"
            )


def ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


DIGITS = re.compile(r"-?\d{1,19}", re.ASCII)


def whole_of_text(value: object, where: str) -> int:
    """A whole number, also in quotes: BigQuery writes 64-bit numbers so."""
    return whole(int(value) if isinstance(value, str) and DIGITS.fullmatch(value) else value, where)


def moment_of_table(value: object) -> datetime | None:
    """A moment as `moment` reads it, also with a space before the time and `UTC` behind it, as databases write it."""
    read = (
        re.fullmatch(r"(\d{4}-\d\d-\d\d) ([\d:.]{1,40}) ?(UTC|Z|[+-]\d\d:?\d\d)?", value)
        if isinstance(value, str)
        else None
    )
    return moment(f"{read[1]}T{read[2]}{(read[3] or 'Z').replace('UTC', 'Z')}" if read else value)
