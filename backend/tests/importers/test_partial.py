"""Parts of a file that cannot be used are left out and named; the rest counts. Forms in which other tools write the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from downlink.domain.errors import InvalidError
from downlink.importers.files import import_file, traces_in
from downlink.importers.model import ImportedTrace
from tests.importers.test_ack_csv import csv_of, table
from tests.importers.test_flent_recorded import document as flent
from tests.importers.test_iperf3 import interval, report
from tests.importers.test_mlab import line, ndt7


def left_out(trace: ImportedTrace) -> list[str]:
    return [str(each) for each in trace.content.left_out]


def strictly(content: bytes) -> str:
    """Why the file is refused as a whole."""
    (found,) = traces_in("x", content, is_strict=True)
    assert isinstance(found, InvalidError)
    return found.message


def ack_log(rows: int = 300) -> dict[str, Any]:
    """A log as long as real ones are."""
    at = np.arange(rows)
    one = {name: values[:1] * rows for name, values in table().items()}
    growing = {
        "now_us": at * 100, "bytes_acked": (at + 1) * 1_000, "snd_nxt": 11_000 + at * 1_000, "snd_una": at * 1_000 + 2_000,
        "tp_delivered": at + 2,
    }  # fmt: skip
    return one | {name: values.tolist() for name, values in growing.items()}


def test_a_cut_last_row_of_an_ack_log_is_left_out() -> None:
    whole = csv_of(ack_log())
    cut = whole[: whole.rstrip().rfind(b"\n") + 12]
    trace = import_file("acks.csv", cut)
    assert trace.flows[0].samples == 299
    (said,) = left_out(trace)
    assert said.startswith("row 301: has ")
    assert "row 301: has" in strictly(cut)


@pytest.mark.parametrize("odd", [b"# caf\xe9", b"#\x80", b"\r# x"])
def test_what_a_comment_holds_makes_no_difference(odd: bytes) -> None:
    """Comments in another encoding ended an import with an internal error."""
    lines = csv_of(ack_log()).splitlines()
    whole = import_file("acks.csv", b"\n".join([*lines[:50], lines[50] + odd, *lines[51:]]))
    assert whole.flows[0].samples == len(lines) - 1
    assert left_out(whole) == []


@pytest.mark.parametrize("bad", [b"fast,1,2", b"1,2,3", b"%%%"])
def test_a_row_that_cannot_be_read_is_left_out_and_a_hundredth_of_them_refuses(bad: bytes) -> None:
    lines = csv_of(ack_log()).splitlines()
    some = b"\n".join([*lines[:50], bad, *lines[50:200], bad, *lines[200:]])
    assert len(left_out(import_file("acks.csv", some))) == 2
    with pytest.raises(InvalidError, match="row 51 h"):
        import_file("acks.csv", b"\n".join([*lines[:50], *[bad] * 4, *lines[50:]]))


@pytest.mark.parametrize(
    "form",
    [
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "\t"),
        lambda text: "\n".join(",".join(f'"{cell}"' for cell in row.split(",")) for row in text.splitlines()) + "\n",
        str.upper,
        lambda text: text.replace("\n", "\r\n").replace(",", ";"),
    ],
)
def test_an_ack_log_is_read_as_r_and_spreadsheets_write_it(form: Callable[[str], str]) -> None:
    plain = csv_of(ack_log(20))
    found = import_file("acks.csv", form(plain.decode()).encode()).flows[0].columns
    for name, column in import_file("acks.csv", plain).flows[0].columns.items():
        assert np.array_equal(found[name], column), name


def test_further_columns_of_a_later_version_are_left_out() -> None:
    text = b"elapsed_us,app_bytes,hyperspace_flux\n" + b"".join(
        b"%d,%d,7\n" % (at * 10_000, at * 1_000) for at in range(9)
    )
    trace = import_file("trace.csv", text)
    assert list(trace.flows[0].columns) == ["elapsed_us", "app_bytes"]
    assert left_out(trace) == ["hyperspace_flux (column): it is no measured field of this version"]


def test_a_stream_that_cannot_be_read_leaves_the_others() -> None:
    document = report([interval(end, socket=socket) for end in (1, 2, 3) for socket in (5, 7)])
    for each in document["intervals"]:
        for stream in each["streams"]:
            if stream["socket"] == 7:
                del stream["bytes"]
    trace = import_file("x.json", json.dumps(document).encode())
    assert [flow.flow for flow in trace.flows] == [1]
    assert left_out(trace) == ["flow 2: bytes is not a number"]


def test_intervals_that_count_nothing_and_totals_without_sense_are_named() -> None:
    document = report([interval(1), interval(2)])
    empty = json.loads(json.dumps(document["intervals"][-1]))
    for stream in empty["streams"]:
        stream |= {"start": 2, "end": 2, "bytes": 0}
    document["intervals"].append(empty)
    document["end"] = {"sum_sent": {"bytes": 1, "bits_per_second": -5}}
    assert left_out(import_file("x.json", json.dumps(document).encode())) == [
        "flow 1: 1 interval of no length, or written twice",
        "its totals: bits_per_second is -5 in its totals; it must lie between 0 and 1e+15",
    ]


def test_a_servers_report_that_cannot_be_read_leaves_the_clients() -> None:
    document = report([interval(1), interval(2)], server_output_json={"start": 5, "intervals": [1]})
    trace = import_file("x.json", json.dumps(document).encode())
    assert len(trace.flows) == 1
    assert left_out(trace) == ["the server's report: start is not an object"]


@pytest.mark.parametrize("bad", ['{"UUID": "x", "Time', '{"Attributes": 5, "Timestamp": 1}\n', "\x00\x00\x00"])
def test_a_snapshot_that_cannot_be_read_is_left_out(bad: str) -> None:
    good = [line(f"2026-01-01T00:00:0{second}Z", bytes(232)) for second in range(5)]
    trace = import_file("t.jsonl", "\n".join([*good, bad]).encode())
    assert trace.flows[0].samples == 5
    assert len(left_out(trace)) == (0 if "Attributes" in bad else 1)


MEASURED = [{"TCPInfo": {"ElapsedTime": at * 250_000, "BytesAcked": at * 10_000}} for at in range(1, 5)]


def test_an_ndt7_document_may_hold_both_directions_rows_and_repeats() -> None:
    other = {"UUID": "b", "StartTime": "2026-01-01T00:00:20Z", "ServerMeasurements": [*MEASURED, MEASURED[-1]]}
    document = ndt7(ServerMeasurements=MEASURED) | {"Upload": other}
    both = import_file("d.json", json.dumps(document).encode())
    assert [(flow.flow, flow.direction) for flow in both.flows] == [(1, "download"), (2, "upload")]
    assert (
        both.flows[1].start_s
        == (
            import_file("u.json", json.dumps({**document, "Download": None}).encode()).started_at - both.started_at  # type: ignore[operator]
        ).total_seconds()
    )
    assert left_out(both) == ["upload: 1 measurements that repeat the one before"]
    row = import_file("row.json", json.dumps({"id": "x", "a": {"MeanThroughputMbps": 1}, "raw": document}).encode())
    assert [flow.samples for flow in row.flows] == [4, 4]


@pytest.mark.parametrize("write", [json.dumps, lambda tests: json.dumps(tests, indent=2)])
def test_an_array_of_tests_is_read_in_any_layout(write: Callable[[list[Mapping[str, Any]]], str]) -> None:
    tests = [report([interval(1), interval(2)]), report([interval(1), interval(3)])]
    found = list(traces_in("x.json", write(tests).encode()))
    assert [each.flows[0].duration_s for each in found if isinstance(each, ImportedTrace)] == [2.0, 3.0]


def test_strict_names_the_flow_that_is_dead() -> None:
    dead = flent("tcp_nup")
    dead["raw_values"]["TCP upload::2"] = []
    assert "TCP upload::2" in strictly(json.dumps(dead).encode())


SOMETHING_ELSE = "import a TCP test of the same path"
ADDRESSES = "10.9.0.2:5201 192.0.2.7:40012"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!DOCTYPE html>\n<html><script>\n{a: 1}\n</script></html>", "a web page"),
        (
            f"State Recv-Q Send-Q Local Peer\nESTAB 0 1158400 {ADDRESSES}\n\t cubic wscale:9,9 rto:1000\n",
            "output of ss",
        ),
        (f"ESTAB 0 0 {ADDRESSES}\n", "output of ss"),
        ('{"qlog_version": "0.3", "traces": []}', "qlog"),
        ('\x1e{"qlog_version":"0.3","qlog_format":"JSON-SEQ"}\n\x1e{"time":0.0,"name":"x"}\n', "qlog"),
        ('{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"x"}\n{"time":1}\n', "qlog"),
        ("MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to x\n", "netperf"),
        (f"0.000000000 {ADDRESSES} 44 0x1234 0x1230 10 2147483647 65535 600 29200\n", "tcp_probe"),
        ("20261120100000,10.9.0.2,40001,192.0.2.7,5001,3,0.0-1.0,1250000,10000000\n", "iperf 2"),
        ("[  3] local 10.0.0.1 port 4000 connected with 10.0.0.2 port 5001\n[ ID] Interval       Transfer\n", "iperf"),
        ("nuttcp-8.1.4: v8.1.4\n", "nuttcp"),
        ("  536.8125 MB /  10.00 sec =  450.2 Mbps 5 %TX 9 %RX 0 retrans\n", "nuttcp"),
        ("traceroute to x (192.0.2.1), 30 hops max\n", "trace of the route"),
        ("--- owping statistics from [a]:8762 to [b]:8802 ---\n", "owping"),
        ('[{"prb_id": 1, "msm_id": 2, "type": "ping", "result": []}]', "RIPE Atlas"),
        ('{"report": {"mtr": {"src": "a"}, "hubs": []}}', "mtr"),
        ('{"packets-sent": 100, "histogram-latency": {"300.1": 5}}', "owping"),
        ('{"summary": {}, "intervals": []}', "pScheduler"),
        ('{"download": 1.5, "upload": 1, "ping": 6, "server": {}, "bytes_sent": 1, "share": null}', "speedtest-cli"),
        (
            '[{"ping": 6, "jitter": 4, "upload": 3, "download": 4, "share": "", "bytes_sent": 1, "server": {}}]',
            "librespeed",
        ),
        ('{"colo": "MAD", "down": [], "latencyMs": 600}', "Cloudflare"),
        ('{"results": [{"statement_id": 0, "series": []}]}', "time-series database"),
    ],
)
def test_what_is_not_read_is_named_with_a_way(text: str, said: str) -> None:
    with pytest.raises(InvalidError, match=said) as refusal:
        import_file("x", text.encode())
    assert any(way in refusal.value.message for way in (SOMETHING_ELSE, "iperf3", "as CSV", "fetch the file again"))
