"""iperf3: old and new reports, omitted seconds, reverse runs, streams of events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import Point
from downlink.importers import iperf3_stream
from downlink.importers.files import import_file, traces_in
from downlink.importers.model import Direction, ImportedTrace, SourceKind, ToolSummary

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
    assert (trace.kind, flow.point, flow.congestion_control) == (SourceKind.IPERF3, Point.SENDER, "cubic")
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
    assert [flow.point for flow in imported(mine).flows] == [Point.RECEIVER]
    both = mine | {"server_output_json": report([interval(1.0)], test_start={"reverse": 1})}
    assert [(flow.flow, flow.point) for flow in imported(both).flows] == [(1, Point.RECEIVER), (1, Point.SENDER)]


def test_a_flow_s_control_is_its_sender_s_also_where_the_receiver_reports() -> None:
    end = {"sender_tcp_congestion": "bbr", "receiver_tcp_congestion": "cubic"}
    mine = report([interval(1.0, sender=False)], test_start={"reverse": 1}, end=end)
    assert [(flow.point, flow.congestion_control) for flow in imported(mine).flows] == [(Point.RECEIVER, "bbr")]


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
        (report([interval(1.0)], test_start={"protocol": "UDP"}), "UDP test of iperf3.* run iperf3 without -u"),
        (report([], test_start={"protocol": "UDP"}, error="refused"), "UDP test of iperf3"),
        (report([interval(2.0), interval(1.0)]), "time does not increase at sample 2"),
        (report([interval(1.0, bytes="many")]), "bytes is not a number"),
        (report([interval(1e300)]), "end is not a usable number"),
        (report([{"streams": 3}]), "streams is not a list"),
        (report([{"streams": []}]), "no interval holds a stream"),
    ],
)
def test_runs_without_content_are_refused(document: object, why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        imported(document)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (report([]), "iperf3 measured nothing"),
        ({"start": {}, "intervals": [], "end": {}}, "iperf3 never started the test"),
        (
            {"start": {}, "intervals": [], "end": {}, "error": "unable to connect"},
            "iperf3 reports an error: unable to connect",
        ),
        (report([interval(2.0), interval(1.0)], error="broken off"), "iperf3 reports an error: broken off"),
    ],
)
def test_a_test_that_failed_is_a_failed_test_without_flows(document: object, why: str) -> None:
    trace = imported(document)
    assert trace.flows == ()
    assert (trace.failure or "").startswith(why)


def test_a_test_that_was_broken_off_keeps_what_it_measured() -> None:
    # iperf3 3.12 writes the last whole interval again when the other side goes away.
    trace = imported(report([interval(1.0), interval(2.0), interval(2.0)], error="control socket has closed"))
    assert trace.failure == "iperf3 reports an error: control socket has closed"
    assert trace.flows[0].columns["elapsed_us"].tolist() == [10**6, 2 * 10**6]


def total(rate: float, seconds: float = 2.0, **more: Any) -> dict[str, Any]:
    return {"start": 0, "end": seconds, "seconds": seconds, "bytes": 1, "bits_per_second": rate} | more


def test_iperf3_s_own_totals_are_kept() -> None:
    end = {"sum_sent": total(9e6, retransmits=3), "sum_received": total(8e6, 2.5)}
    trace = imported(report([interval(1.0)], end=end, test_start={"omit": 1}))
    assert trace.content.summaries == (ToolSummary(Direction.UPLOAD, 9e6, 8e6, 3, 2.5, 1),)


def test_of_a_test_in_both_directions_each_has_its_totals() -> None:
    end = {name: total(place) for place, name in enumerate(TOTALS, start=1)}
    told = imported(report([interval(1.0)], end=end)).content.summaries
    assert [(each.direction, each.sent_bps, each.received_bps) for each in told] == [
        (Direction.UPLOAD, 1, 2),
        (Direction.DOWNLOAD, 3, 4),
    ]


TOTALS = ("sum_sent", "sum_received", "sum_sent_bidir_reverse", "sum_received_bidir_reverse")


def test_a_server_does_not_know_what_its_client_sent() -> None:
    start = {"accepted_connection": {"host": "10.0.0.1", "port": 1}}
    document = report([interval(1.0, sender=False)], end={"sum_sent": total(0, bytes=0), "sum_received": total(8e6)})
    document["start"] |= start
    trace = imported(document)
    assert trace.content.summaries == (ToolSummary(Direction.UPLOAD, None, 8e6, None, 2.0, 0),)
    assert [(flow.point, flow.direction) for flow in trace.flows] == [(Point.RECEIVER, Direction.UPLOAD)]


def test_the_direction_is_that_of_the_client() -> None:
    pair = interval(1.0)
    pair["streams"] += interval(1.0, socket=7, sender=False)["streams"]
    assert [(flow.point, flow.direction) for flow in imported(report([pair])).flows] == [
        (Point.SENDER, Direction.UPLOAD),
        (Point.RECEIVER, Direction.DOWNLOAD),
    ]


def test_a_stream_without_its_beginning_says_so() -> None:
    lines = [json.dumps({"event": "interval", "data": interval(1.0)}), json.dumps({"event": "end", "data": {}})]
    with pytest.raises(InvalidError, match="the stream has no event `start`: its beginning is missing"):
        import_file("cut.json", "\n".join(lines).encode())


def stream(*ends: float, is_ended: bool = False) -> str:
    """What iperf3 `--json-stream` writes, up to its end or not."""
    events = [{"event": "start", "data": report([])["start"]}]
    events += [{"event": "interval", "data": interval(end)} for end in ends]
    events += [{"event": "end", "data": {"sender_tcp_congestion": "cubic"}}] if is_ended else []
    return "".join(json.dumps(each) + "\n" for each in events)


@pytest.mark.parametrize("rest", ["", '{"event": "interval", "da', "\n\n"])
def test_a_stream_of_a_test_that_was_killed_is_a_failed_test_with_what_it_measured(rest: str) -> None:
    trace = import_file("cut.ndjson", (stream(1.0, 2.0, 3.0) + rest).encode())
    assert trace.failure == "iperf3 was stopped before the end of its test: its stream has no event `end`"
    assert trace.flows[0].duration_s == 3.0
    assert import_file("whole.ndjson", stream(1.0, 2.0, is_ended=True).encode()).failure is None


def each_test(text: str) -> list[tuple[int, str | None, list[str]]]:
    """Of each test of a file: its samples, its failure and what is left out."""
    found = [each for each in traces_in("x", text.encode()) if isinstance(each, ImportedTrace)]
    return [
        (sum(flow.samples for flow in each.flows), each.failure, [str(part) for part in each.content.left_out])
        for each in found
    ]


STOPPED = "iperf3 was stopped before the end of its test: its stream has no event `end`"
CUT = '{"event": "interval", "data": {"streams": [{"socket": 5, "'


@pytest.mark.parametrize("between", [CUT + "\n", CUT])
def test_a_broken_event_ends_its_test_and_the_next_one_is_read(between: str) -> None:
    killed, whole = each_test(stream(1.0, 2.0) + between + stream(1.0, is_ended=True))
    assert killed == (2, STOPPED, ["line 4 of the stream: it is broken JSON"])
    assert whole == (1, None, [])


def test_what_follows_a_broken_event_is_left_out_up_to_the_next_start() -> None:
    rest = stream(2.0, is_ended=True).split("\n", 1)[1]
    broken, whole = each_test(stream(1.0) + CUT + "\n" + rest + stream(1.0, is_ended=True))
    assert broken[:2] == (1, "the stream is broken at line 3, so that the end of its test is not known")
    assert broken[2] == ["line 3 of the stream: it is broken JSON; what its test says behind it is left out (2 events)"]
    assert whole == (1, None, [])


def test_lines_of_other_text_in_a_stream_are_passed_over_and_named() -> None:
    first, *rest = stream(1.0, 2.0, is_ended=True).splitlines(keepends=True)
    text = first + "warning: slow\n" + rest[0] + "\n[1, 2]\n" + "".join(rest[1:]) + "Terminated\n" + first + rest[0]
    whole, stopped = each_test(text)
    assert whole == (
        2, None, ["line 2 of the stream: it is no event of iperf3 and is passed over; so are 2 more"]
    )  # fmt: skip
    assert stopped == (1, STOPPED, [])


REFUSED_BY_SERVER = '{"event":"error","data":"the server is busy"}\n'


@pytest.mark.parametrize("end", ["", '{"event":"end","data":{}}\n'])
def test_a_test_that_could_not_start_is_a_failed_test_of_its_stream(end: str) -> None:
    busy = REFUSED_BY_SERVER + end
    found = each_test(stream(1.0, is_ended=True) + busy + busy + stream(1.0, 2.0, is_ended=True))
    failed = (0, "iperf3 reports an error: the server is busy", [])
    assert found == [(1, None, []), failed, failed, (2, None, [])]
    assert each_test(busy) == [failed]
    assert each_test(stream(1.0) + busy) == [(1, *failed[1:])]


def test_intervals_behind_an_end_are_of_a_test_whose_beginning_is_missing() -> None:
    rest = stream(2.0, is_ended=True).split("\n", 1)[1]
    found = list(traces_in("x", (stream(1.0, is_ended=True) + rest).encode()))
    assert isinstance(found[0], ImportedTrace)
    assert isinstance(found[1], InvalidError)
    assert "its beginning is missing" in found[1].message


def side(rate_bps: float, retransmits: int | None, *, is_sender: bool) -> dict[str, Any]:
    counted = {} if retransmits is None else {"retransmits": retransmits}
    return {"seconds": 2, "bytes": rate_bps / 4, "bits_per_second": rate_bps, "sender": is_sender, **counted}


def test_totals_of_two_directions_under_one_key_stay_apart() -> None:
    """iperf3 3.7 to 3.10 writes them twice for `--bidir`."""
    ends = ",".join(
        f'"{name}": {json.dumps(side(rate, count, is_sender=is_sender))}'
        for rate, count, is_sender in ((5e6, 3, True), (90e6, 77, False))
        for name in ("sum_sent", "sum_received")
    )
    text = json.dumps(report([interval(1.0), interval(2.0)], end={})).replace('"end": {}', f'"end": {{{ends}}}')
    summaries = import_file("bidir.json", text.encode()).content.summaries
    assert [(each.direction, each.sent_bps, each.retransmitted_segments) for each in summaries] == [
        (Direction.UPLOAD, 5e6, 3), (Direction.DOWNLOAD, 90e6, 77),
    ]  # fmt: skip


@pytest.mark.parametrize("mss", [0, None])
def test_a_server_that_knows_no_mss_takes_the_clients(mss: int | None) -> None:
    """Of a download with the server's report inside: cwnd is counted in segments."""
    server = report([interval(1.0), interval(2.0)])
    server["start"]["accepted_connection"] = {"host": "192.0.2.1"}
    server["start"]["tcp_mss_default"] = mss
    client = report(
        [interval(1.0, sender=False), interval(2.0, sender=False)], server_output_json=server, test_start={"reverse": 1}
    )
    (sender,) = (flow for flow in imported(client).flows if flow.point is Point.SENDER)
    assert sender.columns["cwnd_segments"].tolist() == [10, 10]
    assert sender.columns["snd_mss_bytes"].tolist() == [1448, 1448]


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("cpu_utilization_percent", "-nan"),
        ("bits_per_second", "nan"),
        ("x", "inf"),
        ("x", "-Infinity"),
        ("x", "1e 07"),
        ("x", "NaN"),
        ("x", "-1.#IND"),
        ("x", "1.#INF00"),
        ("x", "1.#QNAN0"),
        ("x", "-nan(ind)"),
        ("x", "nan(0x8000)"),
    ],
)
def test_what_c_prints_for_no_number_is_unknown(number: str, written: str) -> None:
    text = json.dumps(report([interval(1.0), interval(2.0)], end={"extra": {number: "HERE"}, "told": ": nan, 1e 07"}))
    trace = import_file("nan.json", text.replace('"HERE"', written).encode())
    assert trace.flows[0].duration_s == 2.0


def test_an_interval_of_no_length_and_no_bytes_is_passed_over() -> None:
    last = interval(2.0, start=2.0, seconds=0.0, bytes=0)
    assert imported(report([interval(1.0), interval(2.0), last])).flows[0].columns["elapsed_us"].tolist() == [
        1_000_000,
        2_000_000,
    ]


def test_a_document_that_was_written_twice_is_one_test_and_failures_that_look_alike_are_several() -> None:
    text = json.dumps(report([interval(1.0), interval(2.0)]), indent=1)
    assert import_file("twice.json", f"{text}\n{text}\n".encode()).flows
    failed = json.dumps(report([], error="unable to connect"), indent=1)
    with pytest.raises(InvalidError, match="it holds 2 tests"):
        import_file("failed.json", f"{failed}\n{failed}\n".encode())


@pytest.mark.parametrize(("ends", "duration_s"), [((1.0, 2.0, 60.0), 60.0), ((140.0,), 140.0)])
def test_a_test_lasts_to_the_end_of_its_last_interval(ends: tuple[float, ...], duration_s: float) -> None:
    assert imported(report([interval(end) for end in ends])).flows[0].duration_s == duration_s


def left_out(trace: ImportedTrace) -> list[str]:
    return [str(each) for each in trace.content.left_out]


@pytest.mark.parametrize(("ends", "where"), [((1.0, 2.0, 4.0), "2 s to 3"), ((2.0, 3.0), "0 s to 1")])
def test_missing_intervals_are_named_and_their_time_has_no_false_rate(ends: tuple[float, ...], where: str) -> None:
    trace = imported(report([interval(end) for end in ends]))
    counted = {name: trace.flows[0].columns[name].tolist() for name in ("app_bytes", "total_retrans_segments")}
    assert counted == {
        "app_bytes": [round(end * 1e6) for end in ends], "total_retrans_segments": [round(end * 2) for end in ends]
    }  # fmt: skip
    assert left_out(trace) == [
        f"flow 1: the intervals from {where} s are missing; their time has the rate of the next interval"
    ]


def test_no_interval_is_missing_behind_omitted_ones_or_where_no_start_is_said() -> None:
    omitted = [interval(1.0, omitted=True), interval(2.0, omitted=True), interval(1.0), interval(2.0)]
    assert left_out(imported(report(omitted))) == []
    assert left_out(imported(report([interval(1.0), interval(3.0, start=None), interval(4.0, start=3.04)]))) == []


@pytest.mark.parametrize("odd", [{"streams": None}, {}, 5, {"streams": [{"socket": None}]}])
def test_an_interval_that_cannot_be_read_is_left_out(odd: object) -> None:
    trace = imported(report([interval(1.0), odd, interval(3.0), odd]))  # type: ignore[list-item]
    assert trace.flows[0].columns["app_bytes"].tolist() == [10**6, 3 * 10**6]
    unread, gap = left_out(trace)
    assert unread.startswith("interval 2: ")
    assert unread.endswith("; 1 more cannot be read either")
    assert gap.startswith("flow 1: the intervals from 1 s to 2 s are missing")


def test_a_record_without_bytes_is_left_out_and_its_flow_is_read() -> None:
    trace = imported(report([interval(1.0), interval(2.0, bytes=None), interval(3.0)]))
    assert trace.flows[0].columns["app_bytes"].tolist() == [10**6, 3 * 10**6]
    assert left_out(trace)[0] == "flow 1, interval 2: bytes is not a number"


def test_a_last_interval_of_no_length_with_bytes_is_left_out() -> None:
    trace = imported(report([interval(1.0), interval(2.0), interval(2.0, start=2.0, bytes=1448)]))
    assert trace.flows[0].columns["app_bytes"].tolist() == [10**6, 2 * 10**6]
    assert left_out(trace) == ["flow 1: 1 interval of no length (1448 bytes), or written twice"]


@pytest.mark.parametrize("hole", [None, "x"])
@pytest.mark.parametrize("name", ["rtt", "rttvar", "snd_wnd", "snd_cwnd", "retransmits"])
def test_a_column_of_iperf3_with_holes_is_left_out_and_named(name: str, hole: object) -> None:
    whole, holed = (imported(report([interval(1.0), interval(2.0, **more)])) for more in ({}, {name: hole}))
    assert len(whole.flows[0].columns) == len(holed.flows[0].columns) + 1
    (said,) = left_out(holed)
    why = "1 of 2 intervals have none" if hole is None else f"{name} is not a number"
    assert said == f"{'cwnd' if name == 'snd_cwnd' else name} (column of flow 1): {why}"


def test_a_window_in_segments_needs_the_mss() -> None:
    document = report([interval(1.0), interval(2.0)])
    document["start"]["tcp_mss_default"] = 0
    trace = imported(document)
    assert "cwnd_segments" not in trace.flows[0].columns
    assert left_out(trace) == ["cwnd (column of flow 1): the MSS is not said"]


@pytest.mark.parametrize(
    ("text", "way"),
    [
        (json.dumps(report([interval(1.0)]))[:-20], "it was cut off: fetch the file again, or repeat the test"),
        (json.dumps(report([interval(1.0)])).replace("1000000", "1,5"), "import it as the tool wrote it"),
        (json.dumps(report([interval(2.0), interval(1.0)])), "put the samples in order, or each flow into a file"),
        (json.dumps(report([interval(1.0), interval(2.0, bytes=-5)])), "put each flow into a file of its own"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_do(text: str, way: str) -> None:
    with pytest.raises(InvalidError, match=way):
        import_file("x.json", text.encode())


@pytest.mark.parametrize("name", ["intervals", "is_stream", "is_cut", "broken_line", "passed_over_lines"])
@pytest.mark.parametrize("odd", [None, 5, "xy", [1], [1, 0], ["a", "b"], {}])
def test_names_of_our_own_in_a_file_change_nothing(name: str, odd: object) -> None:
    said = json.dumps({"event": name, "data": odd}) + "\n"
    first, *rest = stream(1.0, is_ended=True).splitlines(keepends=True)
    assert each_test(first + said + "".join(rest)) == [(1, None, [])]
    if name != "intervals":
        assert imported(report([interval(1.0)]) | {name: odd}).flows[0].samples == 1


def test_a_stream_has_at_most_so_many_lines_of_other_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iperf3_stream, "MAX_OTHER_LINES", 2)
    assert each_test(stream(1.0, is_ended=True) + "x\n" * 2)
    with pytest.raises(InvalidError, match="more than 2 of its lines are no events of iperf3; remove them"):
        import_file("x", (stream(1.0, is_ended=True) + "x\n" * 3).encode())
