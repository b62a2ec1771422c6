"""iperf3 reports (`-J`); iperf3_stream makes such documents of streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from downlink.domain.partial import LeftOut
from downlink.domain.traces.point import Point
from downlink.importers.iperf3_intervals import (
    Unread,
    counted_intervals,
    describe_gaps,
    interval_shares,
    interval_spans_s,
    interval_sums,
)
from downlink.importers.iperf3_stream import broken_at, lines_left_out
from downlink.importers.model import Content, Direction, ImportedFlow, Ints, ToolSummary, UnreadableError
from downlink.importers.value_checks import (
    SAY_START,
    checked_columns,
    elapsed_us,
    ints,
    listing,
    mapping,
    masked_address,
    moment_of_unix,
    number,
    text_of,
    usable,
    whole,
)

MAX_ERROR_CHARS = 300
MAX_TOLD = 10**15
"""The largest sum of iperf3 that is believed: bits per second, seconds and segments alike."""
MSS = "mss"
OPTIONS = {"UDP": "-u", "SCTP": "--sctp"}
# Theirs: ours, both of the moment the interval ends.
GAUGES = {"rtt": "rtt_us", "rttvar": "rttvar_us", "snd_wnd": "snd_wnd_bytes"}


def is_iperf3(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("start"), Mapping) and ("intervals" in document or "end" in document)


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
    started_at, unknown = _started_at(start)
    left_out += (*unknown, *lines_left_out(document))
    return Content(
        tuple(sorted(flows, key=lambda flow: (flow.flow, flow.point))),
        started_at,
        _metadata(document, start),
        test=text_of(document, "title"),
        failure=failure,
        summaries=summaries,
        left_out=left_out,
    )


def _started_at(start: Mapping[str, Any]) -> tuple[datetime | None, tuple[LeftOut, ...]]:
    """Return when the test began; None if the host's clock gave an impossible time."""
    stamp = start.get("timestamp")
    try:
        seconds = stamp.get("timesecs") if isinstance(stamp, Mapping) else None
        return moment_of_unix(seconds, "start.timestamp.timesecs"), ()
    except UnreadableError as error:
        return None, (LeftOut("", "its start", f"{error}; {SAY_START}"),)


def _failure(document: Mapping[str, Any], start: Mapping[str, Any]) -> str | None:
    if error := document.get("error"):
        return f"iperf3 reports an error: {str(error)[:MAX_ERROR_CHARS]}"
    if not isinstance(start.get("test_start"), Mapping):
        return "iperf3 never started the test"
    if line := broken_at(document):
        return f"the stream is broken at line {line}, so that the end of its test is not known"
    if document.get("is_cut") and document.get("intervals"):
        return "iperf3 was stopped before the end of its test: its stream has no event `end`"
    return None if document.get("intervals") else "iperf3 measured nothing: its report has no interval"


def _flows_of_failed(document: Mapping[str, Any]) -> Flows:
    """Return the flows that a failed test measured before it failed; none if they cannot be read."""
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
    by_socket, unread = _streams(listing(document["intervals"], "intervals"))
    mss = _mss(start) or others_mss
    read, left_out = usable(
        (f"flow {flow}", partial(_flow, flow, samples, start, document, mss))
        for flow, samples in enumerate(by_socket.values(), start=1)
    )
    return [flow for flow, _ in read], (*unread, *left_out, *(part for _, parts in read for part in parts))


def _mss(start: Mapping[str, Any]) -> int | None:
    """Return the segment size in bytes; a server that has not seen data yet writes 0."""
    stated = start.get("tcp_mss_default") or start.get("tcp_mss")
    size = None if stated is None else whole(stated, "tcp_mss")
    return size if size and size > 0 else None


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


def _streams(intervals: Sequence[Any]) -> tuple[dict[int, list[Mapping[str, Any]]], list[LeftOut]]:
    """The interval records of each socket."""
    by_socket: dict[int, list[Mapping[str, Any]]] = {}
    unread = Unread()
    for number_of, interval in enumerate(intervals, start=1):
        with unread.of(number_of):
            for socket, record in _records(interval):
                by_socket.setdefault(socket, []).append(record)
    if not by_socket:
        raise UnreadableError(unread.reason or "no interval holds a stream")
    return by_socket, unread.told("")


def _records(interval: object) -> list[tuple[int, Mapping[str, Any]]]:
    streams = listing(mapping(interval, "an interval").get("streams"), "streams")
    records = [mapping(stream, "a stream") for stream in streams]
    return [(whole(record.get("socket"), "socket"), record) for record in records]


def _flow(
    flow: int,
    records: list[Mapping[str, Any]],
    start: Mapping[str, Any],
    document: Mapping[str, Any],
    mss: int | None,
) -> tuple[ImportedFlow, list[LeftOut]]:
    is_sender = bool(records[0].get("sender", "snd_cwnd" in records[0] or not _is_reverse(start)))
    records, left_out = counted_intervals(records, f"flow {flow}")
    columns, without = _columns(records, is_sender, mss, flow)
    is_client = "accepted_connection" not in start
    read = ImportedFlow(
        flow,
        Point.SENDER if is_sender else Point.RECEIVER,
        checked_columns(columns),
        # A flow's control is its sender's, whichever end reports.
        congestion_control=text_of(document.get("end"), "sender_tcp_congestion"),
        direction=Direction.UPLOAD if is_sender == is_client else Direction.DOWNLOAD,
    )
    return read, [*left_out, *without]


def _columns(
    records: list[Mapping[str, Any]], is_sender: bool, mss: int | None, flow: int
) -> tuple[dict[str, Ints], list[LeftOut]]:
    spans_s = interval_spans_s(records)
    shares = interval_shares(spans_s)
    columns = {
        "elapsed_us": elapsed_us([end_s for _, _, end_s in spans_s], 0.0),
        "app_bytes": interval_sums(records, "bytes", shares),
    }
    left_out = [LeftOut("", f"flow {flow}", gap)] if (gap := describe_gaps(spans_s)) else []
    if not is_sender:
        return columns, left_out
    further, without = _sender_columns(records, shares, mss, f"column of flow {flow}")
    return columns | further, left_out + without


def _sender_columns(
    records: list[Mapping[str, Any]], shares: list[float], mss: int | None, where: str
) -> tuple[dict[str, Ints], list[LeftOut]]:
    """Return the columns that only the sending side has, and those of them that are left out."""
    names = [
        name for name in (*GAUGES, "retransmits", MSS, "snd_cwnd") if name == MSS or any(name in r for r in records)
    ]
    columns: dict[str, Ints] = {}
    left_out = []
    for name in names:
        try:
            columns |= _sender_column(records, shares, name, mss)
        except UnreadableError as error:
            left_out.append(LeftOut("cwnd" if name == "snd_cwnd" else name, where, str(error)))
    return columns, left_out


def _sender_column(
    records: list[Mapping[str, Any]], shares: list[float], name: str, mss: int | None
) -> dict[str, Ints]:
    if name == MSS:
        return {} if mss is None else {"snd_mss_bytes": np.full(len(records), mss, np.int64)}
    if holes := sum(record.get(name) is None for record in records):
        raise UnreadableError(f"{holes} of {len(records)} intervals have none")
    if name == "retransmits":
        return {"total_retrans_segments": interval_sums(records, name, shares)}
    if name in GAUGES:
        return {GAUGES[name]: ints([whole(record[name], name) for record in records])}
    if mss is None:
        raise UnreadableError("the MSS is not said")
    # iperf3 multiplies the kernel's segments by the MSS; a changed MSS would leave a remainder.
    return {"cwnd_segments": np.rint([number(record[name], name) / mss for record in records]).astype(np.int64)}


def _summaries(document: Mapping[str, Any], start: Mapping[str, Any]) -> Iterator[ToolSummary]:
    """Yield the summaries that iperf3 prints at its end: without the omitted seconds, for all streams of a direction together."""
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
