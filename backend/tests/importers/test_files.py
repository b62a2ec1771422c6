"""Any file at all: known ones are named by content, others refused with file and reason, large ones never unpacked whole."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.unpack_limit import unpack
from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import Point
from downlink.importers import files
from downlink.importers.files import import_file
from tests.fixtures.foreign_files import flent_file, iperf3_file, ndt7_file

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"  \n ", "it is empty"),
        (b"hello world", "its format is not known"),
        (b"\x00\xff\xfe" * 100, "its format is not known"),
        (b"{", "not valid JSON"),
        (b"[1, 2]", "not an object"),
        (b'{"a": 1}', "a kind that is not known"),
        (b'{"error": "the server is busy"}', "the server is busy"),
        (b"[" * 100_000, "not valid JSON"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-20], "ends too early"),
        (b"\x1f\x8bnonsense", "gzip content is broken"),
        (b"\x28\xb5\x2f\xfdnonsense", "zstd content is broken"),
        (zstandard.compress(b"x" * 100_000)[:-5], "zstd content ends too early"),
    ],
)
def test_foreign_and_broken_files_are_refused(content: bytes, why: str) -> None:
    with pytest.raises(InvalidError, match=why) as caught:
        import_file("some file", content)
    assert caught.value.message.startswith("some file is not imported: ")
    assert caught.value.details["file"] == "some file"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_not_unpacked(pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 2**20)
    assert callable(pack)
    with pytest.raises(InvalidError, match="more than 1 MiB"):
        import_file("bomb", pack(b"\0" * 2**24))


@given(st.binary(max_size=300))
def test_no_bytes_crash_the_reader(content: bytes) -> None:
    with pytest.raises(InvalidError):
        import_file("random", content)


def _recorded_flent() -> dict[str, Any]:
    """One upload whose first sample holds what netperf and the socket said."""
    document = json.loads(gzip.decompress((DATA / "flent-tcp_upload.flent.gz").read_bytes()))
    name = "TCP upload"
    samples = document["raw_values"][name]
    first = samples[0] | next(sample for sample in samples if "val" in sample)
    about = document["metadata"]["SERIES_META"][name]
    metadata = {"NAME": "x", "TITLE": "y", "SERIES_META": {name: about}}
    return {"metadata": metadata, "x_values": [], "results": {}, "raw_values": {name: [first, *samples[5:]]}}


DOCUMENTS = {
    "iperf3": json.loads(iperf3_file(2)),
    "iperf3 of both ends": json.loads(iperf3_file(2, reverse=True))
    | {"server_output_json": json.loads(iperf3_file(2))},
    "ndt7": json.loads(ndt7_file()),
    "flent": json.loads(flent_file()),
    "flent with sockets": _recorded_flent(),
    "iperf3 with totals": json.loads(iperf3_file(2))
    | {
        "title": "t",
        "error": "e",
        "end": {"sum_sent": {"bytes": 1, "bits_per_second": 1.0, "retransmits": 1, "seconds": 1}},
    },
    "tcp-info": json.loads(unpack((DATA / "tcp-info.jsonl.zst").read_bytes(), 2**24).splitlines()[1])
    | {"Metadata": {"UUID": "u"}},
}
ODD: list[Any] = [None, [], {}, "x\0", -1, 1e300, True, [None], 2**70, 2**61, -(2**61), 1e18]


def places(part: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a document; of a list to its first."""
    members = part.items() if isinstance(part, dict) else enumerate(part[:1]) if isinstance(part, list) else ()
    for key, value in members:
        yield (*above, key)
        yield from places(value, (*above, key))


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_any_value_in_any_place_is_read_or_refused_and_crashes_nothing(kind: str) -> None:
    spoilt = 0
    for *way, last in places(DOCUMENTS[kind]):
        for odd in ODD:
            document = json.loads(json.dumps(DOCUMENTS[kind]))
            reduce(lambda part, key: part[key], way, document)[last] = odd
            spoilt += 1
            try:
                trace = import_file("odd", json.dumps(document).encode())
            except InvalidError:
                continue
            assert trace.flows or trace.failure
            assert all(flow.samples for flow in trace.flows)
            assert all(isinstance(flow.congestion_control, str | None) for flow in trace.flows)
    assert spoilt > 50


@pytest.mark.parametrize("name", ["ndt7-download.json", "iperf3-3.0.11.json"])
def test_a_cut_file_is_refused_at_any_length(name: str) -> None:
    whole = (DATA / name).read_bytes()
    for length in range(0, len(whole) - 2, 997):
        with pytest.raises(InvalidError):
            import_file(name, whole[:length])


def test_the_hash_is_of_the_file_as_it_came() -> None:
    packed = (DATA / "tcp-info.jsonl.zst").read_bytes()
    assert import_file("t", packed).sha256 == hashlib.sha256(packed).hexdigest()


def test_a_trace_that_downlink_exported_is_per_ack_when_it_holds_acks() -> None:
    rows = b"0,1448,10,50000\r\n5,2896,11,-1\r\n5,4344,12,50100\r\n"
    per_ack = import_file("acks.csv", b"elapsed_us,acked_bytes,cwnd_segments,ack_rtt_us\r\n" + rows).flows[0]
    assert (per_ack.is_per_ack, per_ack.point, per_ack.samples) == (True, Point.SENDER, 3)
    with pytest.raises(InvalidError, match="time does not increase at sample 3"):
        import_file("polls.csv", b"elapsed_us,acked_bytes,cwnd_segments,rtt_us\r\n" + rows.replace(b"-1", b"0"))


def test_a_receiver_s_export_is_told_by_its_fields() -> None:
    flow = import_file("r.csv", b"elapsed_us,received_bytes,app_bytes\r\n0,0,0\r\n9,5,5\r\n").flows[0]
    assert (flow.point, flow.is_per_ack) == (Point.RECEIVER, False)


def test_columns_that_nobody_measures_are_refused_by_name() -> None:
    with pytest.raises(InvalidError, match="not measured fields: colour"):
        import_file("x.csv", b"elapsed_us,colour\r\n0,1\r\n")
