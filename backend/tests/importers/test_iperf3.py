"""iperf3: old and new reports, omitted seconds, reverse runs, streams of events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from downlink.domain.errors import InvalidError
from downlink.domain.sample import End
from downlink.importers.files import import_file
from downlink.importers.model import ImportedTrace, SourceKind

DATA = Path(__file__).parent / "data"


def interval(end: float, *, omitted: bool = False, socket: int = 5, sender: bool = True, **more: Any) -> dict[str, Any]:
    stream = {
        "socket": socket,
        "start": end - 1,
        "end": end,
        "seconds": 1.0,
        "bytes": 1_000_000,
        "omitted": omitted,
        "sender": sender,
    }
    if sender:
        stream |= {"retransmits": 2, "snd_cwnd": 14_480, "snd_wnd": 65_536, "rtt": 600_000, "rttvar": 1_000}
    return {"streams": [stream | more], "sum": {}}


def report(intervals: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    test_start = {"protocol": "TCP", "num_streams": 1, "omit": 0, "duration": 2, "reverse": 0} | changes.pop(
        "test_start", {}
    )
    start = {
        "version": "iperf 3.21",
        "timestamp": {"timesecs": 1_700_000_000},
        "tcp_mss_default": 1_448,
        "test_start": test_start,
    }
    return {"start": start, "intervals": intervals, "end": {"sender_tcp_congestion": "cubic"}} | changes


def imported(document: object) -> ImportedTrace:
    return import_file("run.json", json.dumps(document, indent=1).encode())


def test_a_sender_s_units_become_ours() -> None:
    trace = imported(report([interval(1.0), interval(2.0)], extra_data="run-7"))
    flow = trace.flows[0]
    assert (trace.kind, flow.end, flow.congestion_control) == (SourceKind.IPERF3, End.SENDER, "cubic")
    assert {name: column.tolist() for name, column in flow.columns.items()} == {
        "elapsed_us": [1_000_000, 2_000_000],
        "app_bytes": [1_000_000, 2_000_000],
        "rtt_us": [600_000] * 2,
        "rttvar_us": [1_000] * 2,
        "snd_wnd_bytes": [65_536] * 2,
        "total_retrans_segments": [2, 4],
        "snd_mss_bytes": [1_448] * 2,
        "cwnd_segments": [10] * 2,
    }
    assert trace.metadata["tag"] == "run-7"
    assert trace.started_at is not None
    assert trace.started_at.year == 2023


def test_omitted_seconds_stay_and_time_goes_on_after_them() -> None:
    intervals = [interval(1.0, omitted=True), interval(2.0, omitted=True), interval(1.0), interval(2.0)]
    assert imported(report(intervals)).flows[0].columns["elapsed_us"].tolist() == [
        10**6,
        2 * 10**6,
        3 * 10**6,
        4 * 10**6,
    ]


def test_a_reverse_run_has_a_sender_only_with_the_server_s_report() -> None:
    mine = report([interval(1.0, sender=False)], test_start={"reverse": 1})
    assert [flow.end for flow in imported(mine).flows] == [End.RECEIVER]
    both = mine | {"server_output_json": report([interval(1.0)], test_start={"reverse": 1})}
    assert [(flow.flow, flow.end) for flow in imported(both).flows] == [(1, End.RECEIVER), (1, End.SENDER)]


def test_a_flow_s_control_is_its_sender_s_also_where_the_receiver_reports() -> None:
    end = {"sender_tcp_congestion": "bbr", "receiver_tcp_congestion": "cubic"}
    mine = report([interval(1.0, sender=False)], test_start={"reverse": 1}, end=end)
    assert [(flow.end, flow.congestion_control) for flow in imported(mine).flows] == [(End.RECEIVER, "bbr")]


def test_parallel_streams_are_flows_of_their_own() -> None:
    pair = interval(1.0)
    pair["streams"] += interval(1.0, socket=7)["streams"]
    assert [flow.flow for flow in imported(report([pair])).flows] == [1, 2]


def test_a_stream_of_events_is_the_same_report() -> None:
    document = report([interval(1.0), interval(2.0)])
    lines = [
        ("start", document["start"]),
        *(("interval", part) for part in document["intervals"]),
        ("end", document["end"]),
    ]
    stream = "\n".join(json.dumps({"event": event, "data": data}) for event, data in lines)
    from_stream, from_document = import_file("s.json", stream.encode()), imported(document)
    for name, column in from_document.flows[0].columns.items():
        assert from_stream.flows[0].columns[name].tolist() == column.tolist()
    assert from_stream.flows[0].congestion_control == "cubic"


def test_the_oldest_report_lacks_rtts_and_is_still_read() -> None:
    trace = import_file("old.json", (DATA / "iperf3-3.0.11.json").read_bytes())
    columns = trace.flows[0].columns
    assert (trace.metadata["version"], trace.flows[0].samples, "rtt_us" in columns) == ("iperf 3.0.11", 13, False)
    assert columns["cwnd_segments"][0] == 573_408 / 1_448
    assert columns["elapsed_us"][0] == 1_000_070


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (report([]), "empty run"),
        ({"start": {}, "intervals": [], "end": {}}, "empty run"),
        ({"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}, "unable to connect"),
        (report([interval(1.0)], test_start={"protocol": "UDP"}), "only TCP"),
        (report([interval(2.0), interval(1.0)]), "time does not go on at sample 2"),
        (report([interval(1.0, bytes="many")]), "bytes is not a number"),
        (report([interval(1e300)]), "end is no sensible number"),
        (report([{"streams": 3}]), "streams is not a list"),
        (report([{"streams": []}]), "no interval holds a stream"),
    ],
)
def test_runs_without_content_are_refused(document: object, why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        imported(document)


def test_a_cut_off_stream_is_refused() -> None:
    stream = json.dumps({"event": "start", "data": report([])["start"]}) + '\n{"event": "interval", "da'
    with pytest.raises(InvalidError, match="line 2 is not JSON"):
        import_file("cut.json", stream.encode())
