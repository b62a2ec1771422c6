"""ndt7 and tcp-info: the same kernel struct, by name and by place."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest
import zstandard

from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import Point
from downlink.importers.files import import_file
from downlink.importers.model import ImportedTrace, SourceKind
from downlink.importers.tcp_fields import BY_PLACE, decode_structs

DATA = Path(__file__).parent / "data"


def ndt7(**changes: Any) -> dict[str, Any]:
    document = json.loads((DATA / "ndt7-download.json").read_text())
    document["Download"] |= changes
    return dict(document)


def test_a_download_makes_the_server_the_sender() -> None:
    trace = import_file("d.json", (DATA / "ndt7-download.json").read_bytes())
    flow = trace.flows[0]
    assert (trace.kind, flow.point, flow.samples, flow.congestion_control) == (SourceKind.NDT7, Point.SENDER, 33, "bbr")
    first = {name: int(column[0]) for name, column in flow.columns.items()}
    assert (first["elapsed_us"], first["cwnd_segments"], first["rtt_us"], first["min_rtt_us"]) == (
        626_130,
        28,
        301_627,
        285_928,
    )
    assert (first["delivery_rate_bps"], first["pacing_rate_bps"]) == (45_773 * 8, 147_868 * 8)
    assert trace.started_at is not None
    assert trace.started_at.isoformat() == "2020-03-18T00:06:57.568560+00:00"


def test_an_upload_makes_it_the_receiver() -> None:
    flow = import_file("u.json", (DATA / "ndt7-upload.json").read_bytes()).flows[0]
    assert (flow.point, flow.samples) == (Point.RECEIVER, 45)


def test_secrets_are_stripped_and_client_addresses_masked() -> None:
    metadata = [{"Name": "access_token", "Value": "s3cret"}, {"Name": "client_os", "Value": "linux"}]
    trace = import_file("d.json", json.dumps(ndt7(ClientMetadata=metadata)).encode())
    assert "s3cret" not in repr(trace)
    assert trace.metadata["client_metadata"] == {"client_os": "linux"}
    assert trace.metadata["client"] == "86.188.171.0"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ServerMeasurements": None}, "the server measured nothing"),
        ({"ServerMeasurements": [{"TCPInfo": {"RTT": 5}}]}, "ElapsedTime is not a number"),
        ({"ServerMeasurements": "none"}, "ServerMeasurements is not a list"),
        (
            {
                "ServerMeasurements": [
                    {"TCPInfo": {"ElapsedTime": 5, "RTT": 1}},
                    {"TCPInfo": {"ElapsedTime": 5, "RTT": 2}},
                ]
            },
            "time does not increase",
        ),
    ],
)
def test_ndt7_without_measurements_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        import_file("d.json", json.dumps(ndt7(**changes)).encode())


def test_a_counter_that_falls_is_two_connections() -> None:
    infos = [{"TCPInfo": {"ElapsedTime": at, "BytesAcked": acked}} for at, acked in ((5, 100), (6, 99))]
    with pytest.raises(InvalidError, match="acked_bytes falls at sample 2"):
        import_file("d.json", json.dumps(ndt7(ServerMeasurements=infos)).encode())


def test_tcp_info_snapshots_are_decoded_by_place() -> None:
    trace = import_file("t.jsonl.zst", (DATA / "tcp-info.jsonl.zst").read_bytes())
    flow = trace.flows[0]
    assert (trace.kind, flow.samples, flow.congestion_control, flow.point) == (
        SourceKind.TCP_INFO,
        891,
        "cubic",
        Point.SENDER,
    )
    assert (flow.columns["elapsed_us"][1], flow.columns["snd_mss_bytes"][0]) == (190_000, 1_460)
    # 224 bytes: a kernel before snd_wnd, which is then absent and not 0.
    assert "snd_wnd_bytes" not in flow.columns
    assert "reord_seen" in flow.columns
    grown = flow.columns["acked_bytes"]
    assert grown[-1] > grown[0]


def test_every_place_holds_its_own_number() -> None:
    raw = bytearray(240)
    for number, (offset, kind) in enumerate(BY_PLACE.values(), start=1):
        struct.pack_into({"u1": "<B", "<u4": "<I", "<i8": "<q"}[kind], raw, offset, number)
    columns = decode_structs([bytes(raw)])
    expected = {name: number * (8 if name.endswith("_bps") else 1) for number, name in enumerate(BY_PLACE, start=1)}
    assert {name: int(column[0]) for name, column in columns.items()} == expected


def test_the_shortest_struct_of_a_file_decides_what_it_has() -> None:
    columns = decode_structs([bytes(232), bytes(192)])
    assert "busy_us" in columns
    assert "delivered_segments" not in columns


def line(stamp: object, info: bytes | str | None) -> str:
    encoded = base64.b64encode(info).decode() if isinstance(info, bytes) else info
    return json.dumps({"Timestamp": stamp, "RawIDM": "", "Attributes": [None, None, encoded]})


def test_times_of_snapshots_are_exact_to_the_microsecond() -> None:
    stamps = [f"2026-01-01T00:00:0{seconds}Z" for seconds in ("0.000000", "0.000249", "1.001000", "8.200000")]
    flow = import_file("x", "\n".join(line(stamp, bytes(232)) for stamp in stamps).encode()).flows[0]
    assert flow.columns["elapsed_us"].tolist() == [0, 249, 1_001_000, 8_200_000]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([line("2026-01-01T00:00:00Z", None)], "no line holds a tcp_info"),
        ([line("yesterday", bytes(232))], "line 1 has no readable Timestamp"),
        ([line("2026-01-01T00:00:00Z", bytes(20))], "only 20 bytes"),
        ([line("2026-01-01T00:00:00Z", "###")], "not base64"),
        (
            [line("2026-01-01T00:00:01Z", bytes(232)), line("2026-01-01T00:00:00Z", bytes(232))],
            "time does not increase",
        ),
        ([line("2026-01-01T00:00:01Z", bytes(232)), "{", "{"], "line 2 is not JSON"),
    ],
)
def test_damaged_snapshots_are_refused(lines: list[str], why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        import_file("t.jsonl.zst", zstandard.compress("\n".join(lines).encode()))


def snapshots(count: int = 6) -> list[dict[str, Any]]:
    return [
        {"TCPInfo": {"ElapsedTime": at * 250_000, "BytesAcked": at * 10_000, "RTT": 600_000, "PacingRate": 1_000}}
        for at in range(1, count + 1)
    ]


def measured(entries: object, **more: Any) -> ImportedTrace:
    return import_file("d.json", json.dumps(ndt7(ServerMeasurements=entries, **more)).encode())


def left_out(trace: ImportedTrace) -> list[str]:
    return [str(each) for each in trace.content.left_out]


def test_ndt7_numbers_and_moments_may_be_written_as_bigquery_writes_them() -> None:
    texts = [
        {"TCPInfo": {name: str(value) for name, value in each["TCPInfo"].items()} | {"SndWnd": None}}
        | {"BBRInfo": {"BW": "0", "MaxBandwidth": None}}
        for each in snapshots()
    ]
    found, plain = measured(texts, StartTime="2020-03-18 00:06:57.568560 UTC"), measured(snapshots())
    assert {name: column.tolist() for name, column in found.flows[0].columns.items()} == {
        name: column.tolist() for name, column in plain.flows[0].columns.items()
    }
    assert (found.started_at, left_out(found), found.flows[0].congestion_control) == (plain.started_at, [], None)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (None, "measurement 3: it is not an object"),
        ({"TCPInfo": 5}, "measurement 3: its TCPInfo is not an object"),
        ({"TCPInfo": {}}, "measurements: 1 with an empty TCPInfo"),
        ({"TCPInfo": {"RTT": 600_000}}, "measurement 3: ElapsedTime is not a number"),
        ({"TCPInfo": {"ElapsedTime": 600_000, "RTT": None}}, "measurement 3: RTT is not a number"),
        ({"TCPInfo": {"ElapsedTime": 600_000, "RTT": "12ms"}}, "measurement 3: RTT is not a number"),
    ],
)
def test_a_measurement_that_cannot_be_read_is_left_out(bad: object, why: str) -> None:
    good = snapshots()
    trace = measured([*good[:2], bad, *good[2:]])
    assert (trace.flows[0].samples, left_out(trace)) == (6, [f"download: {why}"])
    assert "rtt_us" in trace.flows[0].columns


def test_measurements_of_other_things_are_no_fault_and_most_that_cannot_be_read_are() -> None:
    assert left_out(measured([*snapshots(), {"BBRInfo": {"BW": 5}}])) == []
    with pytest.raises(InvalidError, match="measurement 7: it is not an object"):
        measured([*snapshots(), *[None] * 7])


@pytest.mark.parametrize("holds", [{}, {"RTT": None}])
def test_a_field_that_some_measurements_lack_is_left_out_by_name(holds: dict[str, Any]) -> None:
    entries = snapshots()
    for entry in entries[: 1 if not holds else 4]:
        del entry["TCPInfo"]["RTT"]
        entry["TCPInfo"] |= holds
    trace = measured(entries)
    assert (trace.flows[0].samples, "rtt_us" in trace.flows[0].columns) == (6, False)
    assert left_out(trace) == [f"download: field RTT: {4 if holds else 1} of 6 measurements lack it"]


def test_what_a_client_says_of_itself_spoils_nothing() -> None:
    trace = measured(snapshots(), ClientMetadata="linux")
    assert (trace.flows[0].samples, left_out(trace)) == (6, ["download: ClientMetadata: it is not a list"])


def test_a_snapshot_that_comes_twice_counts_once() -> None:
    lines = [line(f"2026-01-01 00:00:0{second} UTC", bytes(232)) for second in (0, 1, 1, 2)]
    trace = import_file("t.jsonl", "\n".join(lines).encode())
    assert trace.flows[0].columns["elapsed_us"].tolist() == [0, 1_000_000, 2_000_000]
    assert left_out(trace) == ["snapshots: 1 that repeat the one before"]
