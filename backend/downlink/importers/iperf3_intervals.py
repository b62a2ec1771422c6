"""The intervals of one iperf3 stream: repeats, gaps, counts and gauges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from downlink.domain.partial import LeftOut
from downlink.importers.model import Ints, UnreadableError
from downlink.importers.value_checks import (
    MAX_DURATION_S,
    number,
    summed,
    whole,
)

MIN_GAP_S = 0.05
"""Half of the shortest interval that iperf3 takes: one that is missing leaves more."""


@dataclass
class Unread:
    """A count of intervals that cannot be read; hostile files have millions."""

    count: int = 0
    first: int = 0
    reason: str = ""

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            self.count += 1
            self.first, self.reason = self.first or number, self.reason or str(error)

    def told(self, where: str) -> list[LeftOut]:
        more = f"; {self.count - 1} more cannot be read either" if self.count > 1 else ""
        return [LeftOut("", f"{where}interval {self.first}", f"{self.reason}{more}")] if self.count else []


def counted_intervals(records: list[Mapping[str, Any]], where: str) -> tuple[list[Mapping[str, Any]], list[LeftOut]]:
    """The records that count something, and what is said of the others."""
    readable, unread = [], Unread()
    for index, record in enumerate(records, start=1):
        with unread.of(index):
            number(record.get("end"), "end"), whole(record.get("bytes"), "bytes")
            readable.append(record)
    if not readable:
        raise UnreadableError(unread.reason)
    kept = _without_repeats(readable)
    repeats = _repeats(len(readable) - len(kept), sum(map(_bytes_of, readable)) - sum(map(_bytes_of, kept)))
    return kept, [*unread.told(f"{where}, "), *([LeftOut("", where, repeats)] if repeats else [])]


def _bytes_of(record: Mapping[str, Any]) -> int:
    """Return the bytes of an interval of no length; an interval that is written twice has no bytes of its own."""
    return whole(record["bytes"], "bytes") if _has_no_length(record) else 0


def _repeats(more: int, lost_bytes: int) -> str | None:
    """Describe the intervals that are not counted; None without any."""
    lost = f" ({lost_bytes} bytes)" if lost_bytes else ""
    return f"{more} interval{'s' if more > 1 else ''} of no length{lost}, or written twice" if more else None


def _has_no_length(record: Mapping[str, Any]) -> bool:
    return record.get("start") is not None and record.get("start") == record.get("end")


def _without_repeats(records: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """iperf3 writes the last interval of a test that is broken off a second time, or one of no length behind it."""
    spans = [(record.get("start"), record.get("end")) for record in records]
    return [
        record
        for index, record in enumerate(records)
        if index == 0 or (spans[index] != spans[index - 1] and not _has_no_length(record))
    ]


Span = tuple[float, float, float]


def interval_spans_s(records: list[Mapping[str, Any]]) -> list[Span]:
    """The end before every interval, its begin and its end: after the omitted seconds iperf3 counts from 0 again."""
    base_s, last_s, spans_s = 0.0, 0.0, []
    was_omitted = bool(records[0].get("omitted"))
    for record in records:
        if was_omitted and not record.get("omitted"):
            base_s, was_omitted = last_s, False
        start_s, end_s = record.get("start"), base_s + number(record.get("end"), "end")
        begin_s = base_s + start_s if isinstance(start_s, int | float) and abs(start_s) <= MAX_DURATION_S else last_s
        spans_s.append((last_s, begin_s, end_s))
        last_s = end_s
    return spans_s


def _is_behind_gap(span_s: Span) -> bool:
    before_s, begin_s, end_s = span_s
    return begin_s - before_s > MIN_GAP_S and end_s > begin_s


def describe_gaps(spans_s: list[Span]) -> str | None:
    """Describe the missing intervals between others; None without any."""
    gaps = [span_s for span_s in spans_s if _is_behind_gap(span_s)]
    if not gaps:
        return None
    more = f", and so are those in {len(gaps) - 1} more places" if len(gaps) > 1 else ""
    between = f"the intervals from {gaps[0][0]:g} s to {gaps[0][1]:g} s are missing{more}"
    return f"{between}; their time has the rate of the next interval"


def interval_shares(spans_s: list[Span]) -> list[float]:
    """Return the share of each interval's count that is its own; the rest stands for the gap before it. Counting nothing there would
    give a false rate."""
    return [(span_s[2] - span_s[0]) / (span_s[2] - span_s[1]) if _is_behind_gap(span_s) else 1.0 for span_s in spans_s]


def interval_sums(records: list[Mapping[str, Any]], name: str, shares: list[float]) -> Ints:
    """A counter out of values that iperf3 gives per interval."""
    values = [whole(record.get(name), name) for record in records]
    return summed(
        [value if share == 1 else whole(value * share, name) for value, share in zip(values, shares, strict=True)], name
    )
