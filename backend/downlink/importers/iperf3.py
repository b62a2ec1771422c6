"""iperf3 reports: one document (`-J`) or one event per line (`--json-stream`)."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from downlink.domain.partial import LeftOut
from downlink.domain.point import Point
from downlink.importers.documents import repaired_json
from downlink.importers.model import Content, Direction, ImportedFlow, Ints, ToolSummary, UnreadableError
from downlink.importers.reading import (
    checked_columns,
    elapsed_us,
    ints,
    listing,
    mapping,
    masked_address,
    moment_of_unix,
    number,
    summed,
    text_of,
    usable,
    whole,
)

MAX_ERROR_CHARS = 300
MAX_TOLD = 10**15
"""For what iperf3 sums up: bits per second, seconds and segments alike."""
OPTIONS = {"UDP": "-u", "SCTP": "--sctp"}
# Theirs: ours, both of the moment the interval ends.
GAUGES = {"rtt": "rtt_us", "rttvar": "rttvar_us", "snd_wnd": "snd_wnd_bytes"}


def is_iperf3(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("start"), Mapping) and ("intervals" in document or "end" in document)


def is_stream_event(first_line: object) -> bool:
    return isinstance(first_line, Mapping) and "event" in first_line and "data" in first_line


def documents_of_events(content: bytes) -> Iterator[dict[str, Any]]:
    """The documents that the same tests would have written without `--json-stream`; each begins with an event `start`."""
    document: dict[str, Any] | None = None
    for event in _events(content):
        name, data = str(event.get("event")), event.get("data")
        if document is None or name == "start":
            if document is not None:
                yield document
            document = {"intervals": [], "end": {}, "is_stream": True, "is_cut": True}
        if name == "interval":
            document["intervals"].append(data)
        else:
            document[name] = data
            document["is_cut"] = document["is_cut"] and name != "end"
    if document is not None:
        yield document


def _events(content: bytes) -> Iterator[Mapping[str, Any]]:
    """Up to the last line, which may be cut off where iperf3 was killed."""
    for line_number, line in enumerate(io.BytesIO(content), start=1):
        if line.strip():
            try:
                yield mapping(repaired_json(line), f"line {line_number}")
            except ValueError as error:
                if not line.endswith(b"\n"):
                    return
                raise UnreadableError(
                    f"line {line_number} is not JSON, the stream may have been cut off ({error})"
                ) from error


Flows = tuple[list[ImportedFlow], tuple[LeftOut, ...]]


def read_iperf3(document: Mapping[str, Any]) -> Content:
    """A flow per stream and end. The other side's report, when it is inside, adds its flows under the same numbers.

    A test that iperf3 calls failed, or that it never began, is a failed test with the flows it has.
    """
    if document.get("is_stream") and "start" not in document:
        raise UnreadableError("the stream has no event `start`: its beginning is missing")
    start = mapping(document.get("start"), "start")
    failure = _failure(document, start)
    flows, left_out = _flows_of_failed(document) if failure else _both_sides(document)
    summaries: tuple[ToolSummary, ...] = ()
    try:
        summaries = tuple(_summaries(document, start))
    except UnreadableError as error:
        left_out += (LeftOut("", "its totals", str(error)),)
    return Content(
        tuple(sorted(flows, key=lambda flow: (flow.flow, flow.point))),
        _started_at(start),
        _metadata(document, start),
        test=text_of(document, "title"),
        failure=failure,
        summaries=summaries,
        left_out=left_out,
    )


def _started_at(start: Mapping[str, Any]) -> datetime | None:
    stamp = start.get("timestamp")
    return moment_of_unix(stamp.get("timesecs"), "start.timestamp.timesecs") if isinstance(stamp, Mapping) else None


def _failure(document: Mapping[str, Any], start: Mapping[str, Any]) -> str | None:
    if error := document.get("error"):
        return f"iperf3 reports an error: {str(error)[:MAX_ERROR_CHARS]}"
    if not isinstance(start.get("test_start"), Mapping):
        return "iperf3 never started the test"
    if document.get("is_cut") and document.get("intervals"):
        return "iperf3 was stopped before the end of its test: its stream has no event `end`"
    return None if document.get("intervals") else "iperf3 measured nothing: its report has no interval"


def _flows_of_failed(document: Mapping[str, Any]) -> Flows:
    """What a failed test measured before it failed; nothing where that cannot be read."""
    _refuse_others_than_tcp(mapping(document.get("start"), "start"))
    try:
        return _flows(document) if document.get("intervals") else ([], ())
    except UnreadableError as error:
        return [], (LeftOut("", "its intervals", str(error)),)


def _both_sides(document: Mapping[str, Any]) -> Flows:
    flows, left_out = _flows(document)
    other = document.get("server_output_json")
    if isinstance(other, Mapping) and other.get("intervals"):
        taken = {(flow.flow, flow.point) for flow in flows}
        mss = _mss(mapping(document.get("start"), "start"))
        try:
            others, unread = _flows(other, mss)
        except UnreadableError as error:
            others, unread = [], (LeftOut("", "the server's report", str(error)),)
        flows += [flow for flow in others if (flow.flow, flow.point) not in taken]
        left_out += unread
    return flows, left_out


def _flows(document: Mapping[str, Any], others_mss: int | None = None) -> Flows:
    """A flow for each stream that can be read. others_mss: of the same connections, as their other end says; a server may not
    know it before data flows."""
    start = mapping(document.get("start"), "start")
    _refuse_others_than_tcp(start)
    by_socket = _streams(listing(document["intervals"], "intervals"))
    mss = _mss(start) or others_mss
    flows, left_out = usable(
        (f"flow {flow}", partial(_flow, flow, samples, start, document, mss))
        for flow, samples in enumerate(by_socket.values(), start=1)
    )
    repeats = [
        LeftOut("", f"flow {flow}", said) for flow, each in enumerate(by_socket.values(), 1) if (said := _repeats(each))
    ]
    return flows, (*left_out, *repeats)


def _repeats(records: list[Mapping[str, Any]]) -> str | None:
    """What is said of the intervals that count nothing."""
    more = len(records) - len(_without_repeats(records))
    return f"{more} interval{'s' if more > 1 else ''} of no length, or written twice" if more else None


def _mss(start: Mapping[str, Any]) -> int | None:
    """In bytes; a server that has not seen data yet writes 0."""
    said = start.get("tcp_mss_default") or start.get("tcp_mss")
    found = None if said is None else whole(said, "tcp_mss")
    return found if found and found > 0 else None


def _refuse_others_than_tcp(start: Mapping[str, Any]) -> None:
    test = start.get("test_start")
    protocol = str(test.get("protocol", "TCP")).upper() if isinstance(test, Mapping) else "TCP"
    if protocol != "TCP":
        raise UnreadableError(
            f"it is a {protocol} test of iperf3, and only TCP is analysed; run iperf3 without {OPTIONS.get(protocol, 'that option')}"
        )


def _is_reverse(start: Mapping[str, Any]) -> bool:
    test = start.get("test_start")
    return isinstance(test, Mapping) and bool(test.get("reverse"))


def _streams(intervals: Sequence[Any]) -> dict[int, list[Mapping[str, Any]]]:
    """The interval records of each socket."""
    by_socket: dict[int, list[Mapping[str, Any]]] = {}
    for interval in intervals:
        for stream in listing(mapping(interval, "an interval").get("streams"), "streams"):
            record = mapping(stream, "a stream")
            by_socket.setdefault(whole(record.get("socket"), "socket"), []).append(record)
    if not by_socket:
        raise UnreadableError("no interval holds a stream")
    return by_socket


def _flow(
    flow: int,
    records: list[Mapping[str, Any]],
    start: Mapping[str, Any],
    document: Mapping[str, Any],
    mss: int | None,
) -> ImportedFlow:
    records = _without_repeats(records)
    is_sender = bool(records[0].get("sender", "snd_cwnd" in records[0] or not _is_reverse(start)))
    columns = {"elapsed_us": _elapsed_us(records), "app_bytes": _summed(records, "bytes")}
    if is_sender:
        columns |= _sender_columns(records, mss)
    is_client = "accepted_connection" not in start
    return ImportedFlow(
        flow,
        Point.SENDER if is_sender else Point.RECEIVER,
        checked_columns(columns),
        # A flow's control is its sender's, whichever end reports.
        congestion_control=text_of(document.get("end"), "sender_tcp_congestion"),
        direction=Direction.UPLOAD if is_sender == is_client else Direction.DOWNLOAD,
    )


def _without_repeats(records: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """iperf3 writes the last interval of a test that is broken off a second time, or one of no length and no bytes behind it."""
    spans = [(record.get("start"), record.get("end")) for record in records]
    kept = [
        record
        for place, record in enumerate(records)
        if place == 0
        or (spans[place] != spans[place - 1] and not (len(set(spans[place])) == 1 and not record.get("bytes")))
    ]
    return kept or records


def _elapsed_us(records: list[Mapping[str, Any]]) -> Ints:
    """The end of every interval from the first one's start on: after the omitted seconds iperf3 counts from 0 again."""
    base_s, last_s, ends_s = 0.0, 0.0, []
    was_omitted = bool(records[0].get("omitted"))
    for record in records:
        if was_omitted and not record.get("omitted"):
            base_s, was_omitted = last_s, False
        last_s = base_s + number(record.get("end"), "end")
        ends_s.append(last_s)
    return elapsed_us(ends_s, 0.0)


def _summed(records: list[Mapping[str, Any]], name: str) -> Ints:
    """A counter out of values that iperf3 gives per interval."""
    return summed([whole(record.get(name), name) for record in records], name)


def _sender_columns(records: list[Mapping[str, Any]], mss: int | None) -> dict[str, Ints]:
    def all_have(name: str) -> bool:
        return all(name in record for record in records)

    columns = {
        ours: ints([whole(r[theirs], theirs) for r in records]) for theirs, ours in GAUGES.items() if all_have(theirs)
    }
    if all_have("retransmits"):
        columns["total_retrans_segments"] = _summed(records, "retransmits")
    if mss is not None:
        columns["snd_mss_bytes"] = np.full(len(records), mss, np.int64)
        if all_have("snd_cwnd"):
            # iperf3 multiplies the kernel's segments by the MSS; a changed MSS would leave a remainder.
            columns["cwnd_segments"] = np.rint([number(r["snd_cwnd"], "snd_cwnd") / mss for r in records]).astype(
                np.int64
            )
    return columns


def _summaries(document: Mapping[str, Any], start: Mapping[str, Any]) -> Iterator[ToolSummary]:
    """What iperf3 prints at its end: without the omitted seconds, for all streams of a direction together."""
    end = document.get("end")
    forward, back = Direction.UPLOAD, Direction.DOWNLOAD
    if isinstance(end, Mapping):
        yield from _summary(end, start, "", back if _is_reverse(start) else forward)
        yield from _summary(end, start, "_bidir_reverse", back)


def _summary(
    end: Mapping[str, Any], start: Mapping[str, Any], suffix: str, direction: Direction
) -> Iterator[ToolSummary]:
    sent, received = (_total(end.get(f"{name}{suffix}")) for name in ("sum_sent", "sum_received"))
    if sent or received:
        test = mapping(start.get("test_start") or {}, "test_start")
        yield ToolSummary(
            direction,
            sent_bps=_optional(sent, "bits_per_second"),
            received_bps=_optional(received, "bits_per_second"),
            retransmitted_segments=None if (count := _optional(sent, "retransmits")) is None else round(count),
            duration_s=_optional(received or sent, "seconds"),
            omitted_s=_optional(test, "omit"),
        )


def _total(value: object) -> Mapping[str, Any]:
    """A total that says something: the side that does not know the other's writes a total of no bytes."""
    return value if isinstance(value, Mapping) and value.get("bytes") else {}


def _optional(told: Mapping[str, Any], name: str) -> float | None:
    value = None if told.get(name) is None else number(told[name], name)
    if value is not None and not 0 <= value <= MAX_TOLD:
        raise UnreadableError(f"{name} is {value:g} in its totals; it must lie between 0 and {MAX_TOLD:g}")
    return value


def _metadata(document: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, Any]:
    test = mapping(start.get("test_start") or {}, "test_start")
    peer = start.get("connecting_to") or start.get("accepted_connection") or {}
    return {
        "version": start.get("version"),
        "title": document.get("title"),
        "tag": document.get("extra_data"),
        "peer": masked_address(peer.get("host")) if isinstance(peer, Mapping) else None,
        "is_reverse": bool(test.get("reverse")),
        "omitted_s": test.get("omit"),
        "duration_s": test.get("duration"),
        "has_both_sides": isinstance(document.get("server_output_json"), Mapping),
    }
