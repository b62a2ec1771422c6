"""iperf3 reports: one document (`-J`) or one event per line (`--json-stream`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from downlink.domain.sample import End
from downlink.importers.model import Content, ImportedFlow, Ints, UnreadableError
from downlink.importers.reading import (
    checked_columns,
    ints,
    listing,
    mapping,
    masked_address,
    moment_of_unix,
    number,
    text_of,
    whole,
)

MICROSECONDS = 1_000_000
# Theirs: ours, both of the moment the interval ends.
GAUGES = {"rtt": "rtt_us", "rttvar": "rttvar_us", "snd_wnd": "snd_wnd_bytes"}


def is_iperf3(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("start"), Mapping) and ("intervals" in document or "end" in document)


def is_stream_event(first_line: object) -> bool:
    return isinstance(first_line, Mapping) and "event" in first_line and "data" in first_line


def document_of_events(content: bytes) -> dict[str, Any]:
    """The document that the same test would have written without `--json-stream`."""
    document: dict[str, Any] = {"start": {}, "intervals": [], "end": {}}
    for line_number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            event = mapping(orjson.loads(line), f"line {line_number}")
        except orjson.JSONDecodeError as error:
            raise UnreadableError(
                f"line {line_number} is not JSON, the stream may have been cut off ({error})"
            ) from error
        if event.get("event") == "interval":
            document["intervals"].append(event.get("data"))
        else:
            document[str(event.get("event"))] = event.get("data")
    return document


def read_iperf3(document: Mapping[str, Any]) -> Content:
    """A flow per stream and end. The other side's report, when it is inside, adds its flows under the same numbers."""
    flows = list(_flows(document))
    other = document.get("server_output_json")
    if isinstance(other, Mapping) and other.get("intervals"):
        taken = {(flow.flow, flow.end) for flow in flows}
        flows += [flow for flow in _flows(other) if (flow.flow, flow.end) not in taken]
    start = mapping(document["start"], "start")
    stamp = start.get("timestamp")
    started_at = moment_of_unix(stamp.get("timesecs")) if isinstance(stamp, Mapping) else None
    return Content(tuple(sorted(flows, key=lambda flow: (flow.flow, flow.end))), started_at, _metadata(document, start))


def _flows(document: Mapping[str, Any]) -> list[ImportedFlow]:
    if document.get("error"):
        raise UnreadableError(f"iperf3 reports an error: {document['error']}")
    start = mapping(document.get("start"), "start")
    test = start.get("test_start")
    if not isinstance(test, Mapping) or not document.get("intervals"):
        raise UnreadableError("it is an empty run: iperf3 never started the test")
    if str(test.get("protocol", "TCP")).upper() != "TCP":
        raise UnreadableError(f"it is a {test['protocol']} test, only TCP is analysed")
    by_socket = _streams(listing(document["intervals"], "intervals"))
    mss = start.get("tcp_mss_default") or start.get("tcp_mss")
    is_reverse = bool(test.get("reverse"))
    return [
        _flow(flow, samples, None if mss is None else whole(mss, "tcp_mss"), is_reverse, document)
        for flow, samples in enumerate(by_socket.values(), start=1)
    ]


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
    flow: int, records: list[Mapping[str, Any]], mss: int | None, is_reverse: bool, document: Mapping[str, Any]
) -> ImportedFlow:
    is_sender = bool(records[0].get("sender", "snd_cwnd" in records[0] or not is_reverse))
    columns = {"elapsed_us": _elapsed_us(records), "app_bytes": _summed(records, "bytes")}
    if is_sender:
        columns |= _sender_columns(records, mss)
    # A flow's control is its sender's, whichever end reports.
    control = text_of(document.get("end"), "sender_tcp_congestion")
    end = End.SENDER if is_sender else End.RECEIVER
    return ImportedFlow(flow, end, checked_columns(columns), congestion_control=control)


def _elapsed_us(records: list[Mapping[str, Any]]) -> Ints:
    """The end of every interval from the first one's start on: after the omitted seconds iperf3 counts from 0 again."""
    base_s, last_s, elapsed = 0.0, 0.0, []
    was_omitted = bool(records[0].get("omitted"))
    for record in records:
        if was_omitted and not record.get("omitted"):
            base_s, was_omitted = last_s, False
        last_s = base_s + number(record.get("end"), "end")
        elapsed.append(round(last_s * MICROSECONDS))
    return ints(elapsed)


def _summed(records: list[Mapping[str, Any]], name: str) -> Ints:
    """A counter out of values that iperf3 gives per interval."""
    return np.cumsum(ints([whole(record.get(name), name) for record in records]))


def _sender_columns(records: list[Mapping[str, Any]], mss: int | None) -> dict[str, Ints]:
    def all_have(name: str) -> bool:
        return all(name in record for record in records)

    columns = {
        ours: ints([whole(r[theirs], theirs) for r in records]) for theirs, ours in GAUGES.items() if all_have(theirs)
    }
    if all_have("retransmits"):
        columns["total_retrans_segments"] = _summed(records, "retransmits")
    if mss is not None and mss > 0:
        columns["snd_mss_bytes"] = np.full(len(records), mss, np.int64)
        if all_have("snd_cwnd"):
            # iperf3 multiplies the kernel's segments by the MSS; a changed MSS would leave a remainder.
            columns["cwnd_segments"] = np.rint([number(r["snd_cwnd"], "snd_cwnd") / mss for r in records]).astype(
                np.int64
            )
    return columns


def _metadata(document: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, Any]:
    test = start.get("test_start") or {}
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
