"""Text around JSON, several documents in one text, and files that are known but not read."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.unpack_limit import unpack
from downlink.domain.errors import InvalidError
from downlink.importers import documents
from downlink.importers.documents import documents_in
from downlink.importers.files import import_file, traces_in
from downlink.importers.model import ImportedTrace, UnreadableError
from tests.fixtures.foreign_files import iperf3_file, ndt7_file

DATA = Path(__file__).parent / "data"
FAILED = b'{"start": {"connected": []}, "intervals": [], "end": {}, "error": "unable to connect {1}"}'


def test_each_report_of_a_log_is_a_test_of_its_own() -> None:
    log = iperf3_file(3) + b"\n" + FAILED + iperf3_file(4, control="bbr") + b"\n"
    found = [each for each in traces_in("log.json", log) if isinstance(each, ImportedTrace)]
    assert [trace.name for trace in found] == [f"log.json ({n} of 3)" for n in (1, 2, 3)]
    assert [len(trace.flows) for trace in found] == [1, 0, 1]
    assert found[1].failure == "iperf3 reports an error: unable to connect {1}"
    assert [found[0].sha256, found[2].sha256] == [
        import_file("x", content).sha256 for content in (iperf3_file(3), iperf3_file(4, control="bbr"))
    ]


def test_lines_before_between_and_after_reports_are_passed_over() -> None:
    text = b'{ starting "iperf3"\n'
    log = (
        b'connecting to "server"\n' + iperf3_file(3) + b"\nrun 2: it's {slow}\n" + iperf3_file(4) + b"\niperf3: done\n"
    )
    assert [each.flows[0].samples for each in traces_in("x", log) if isinstance(each, ImportedTrace)] == [3, 4]
    assert len(list(traces_in("x", log))) == 2
    assert any(isinstance(each, InvalidError) for each in traces_in("x", text + iperf3_file(3)))


def test_a_report_that_is_cut_off_is_refused_and_the_others_are_read() -> None:
    first, second = traces_in("log", iperf3_file(3) + b"\n" + iperf3_file(4)[:-20])
    assert isinstance(first, ImportedTrace)
    assert isinstance(second, InvalidError)
    assert second.message.startswith("log (2 of 2) is not imported: it is not valid JSON")


@pytest.mark.parametrize("before", ["^C", "run 2: ", "2026-01-01T00:00:00 ", '"quoted" '])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_report_behind_other_text_on_its_line_is_read(before: str, indent: int | None) -> None:
    reports = [json.dumps(json.loads(iperf3_file(seconds)), indent=indent) for seconds in (3, 4)]
    behind = f"{before}{reports[0]}\n{before}{reports[1]}\n".encode()
    assert [each.flows[0].samples for each in traces_in("x", behind) if isinstance(each, ImportedTrace)] == [3, 4]
    assert import_file("x", f"{before}{reports[0]}".encode()).flows[0].samples == 3


@pytest.mark.parametrize("indent", [None, "\t"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.7, 0.99])
def test_reports_behind_ones_that_were_cut_off_are_read(indent: str | None, share: float) -> None:
    """A cut one seemed to hold all that followed it."""
    text = json.dumps(json.loads(iperf3_file(4)), indent=indent)
    cut = text[: round(len(text) * share)]
    found = list(traces_in("x", "\n".join([text, cut, text.replace("1448", "1400"), cut, text, cut]).encode()))
    assert [isinstance(each, ImportedTrace) for each in found] == [True, False, True, False, True, False]


def test_a_server_s_report_in_a_cut_one_of_its_client_is_no_test_of_its_own() -> None:
    both = json.loads(iperf3_file(3, reverse=True)) | {"server_output_json": json.loads(iperf3_file(3)), "title": "x"}
    cut = json.dumps(both)[:-5]
    first, second = traces_in("x", f"{cut}\n{iperf3_file(4).decode()}".encode())
    assert isinstance(first, InvalidError)
    assert isinstance(second, ImportedTrace)


def test_a_report_of_another_kind_in_a_log_is_refused() -> None:
    _, second = traces_in("log", iperf3_file(3) + b"\n" + ndt7_file())
    assert isinstance(second, InvalidError)
    assert "another kind than the first in its file, which is iperf3" in second.message


def test_several_streams_of_events_in_one_file_are_several_tests() -> None:
    def stream(seconds: int) -> bytes:
        document = json.loads(iperf3_file(seconds))
        events = [("start", document["start"]), *(("interval", each) for each in document["intervals"]), ("end", {})]
        return b"".join(json.dumps({"event": name, "data": data}).encode() + b"\n" for name, data in events)

    found = [each for each in traces_in("x", stream(3) + stream(5)) if isinstance(each, ImportedTrace)]
    assert [trace.flows[0].samples for trace in found] == [3, 5]
    assert found[0].sha256 != found[1].sha256


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_text(encoding: str) -> None:
    assert import_file("x", iperf3_file(3).decode().encode(encoding)).flows[0].samples == 3


def test_one_file_is_asked_for_where_only_one_test_can_be_used() -> None:
    with pytest.raises(InvalidError, match="it holds 2 tests; give them one at a time"):
        import_file("x", iperf3_file(3) + iperf3_file(4))


def test_a_log_has_at_most_so_many_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENTS", 2)
    (error,) = traces_in("x", FAILED * 3)
    assert isinstance(error, InvalidError)
    assert "more than 2 tests; split it" in error.message


TEXTS = st.text('{}"\\\n a', max_size=6)
PARTS = st.recursive(TEXTS, lambda inner: st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6)


@given(
    st.lists(st.builds(lambda part: {"a": part}, PARTS), min_size=1, max_size=4),
    st.sampled_from(["", "\n", " ,\r\n", "\nsaid {so}\n"]),
)
def test_documents_are_found_whatever_their_strings_hold(parts: list[Any], between: str) -> None:
    texts = [json.dumps(part).encode() for part in parts]
    assert documents_in(between.encode().join(texts)) == texts


@pytest.mark.parametrize(
    "text",
    [
        b'{"' + b'\\"' * 300_000,
        b"{" + b"\n" * 600_000,
        b"\n" * 600_000 + b"x",
        b'{"a": "' * 90_000,
        b'{"start":{\n' * 400,
        b'{"start":{"\n' * 400 + b" " * 600_000,
        b'{"a":"\n{"b":1}\n  {}\n' * 200 + b'{"start":{' * 90_000,
    ],
)
def test_the_search_takes_time_in_proportion_to_the_text(text: bytes) -> None:
    began = time.process_time()
    with suppress(UnreadableError):
        documents_in(text)
    assert time.process_time() - began < 20  # a search that starts again at each sign takes hours


def parquet_zip() -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": 1, "campaign_id": "x", "sha256": {}}))
    return packed.getvalue()


DISH = {
    "apiVersion": "9",
    "dishGetHistory": {"current": "5", "popPingLatencyMs": [1.0], "downlinkThroughputBps": [1.0]},
}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xd4\xc3\xb2\xa1" + b"\0" * 40, "it is a packet capture, which is not read; record the transfer with `iperf3 -J`"),
        (b"\x0a\x0d\x0d\x0a" + b"\x1c\0\0\0\x4d\x3c\x2b\x1a" * 5, "it is a packet capture"),
        (json.dumps(DISH).encode(), "the state of a Starlink dish, which holds no TCP flow; import a TCP test"),
        (json.dumps({"popPingLatencyMs": [1.0], "popPingDropRate": [0]}).encode(), "the state of a Starlink dish"),
        (json.dumps({"response": {"dishGetStatus": {}}}).encode(), "the state of a Starlink dish"),
        (b'{"Key":"starting","Value":{"Test":"download"}}\n{"Key":"connected","Value":{}}\n', "ndt7-client, which holds only means"),
        (b'{"ServerFQDN":"x","ServerIP":"1.2.3.4","ClientIP":"1.2.3.4","Download":{}}', "output of ndt7-client"),
        (b"time_s,throughput_mbps,jitter_ms,lost_packets\n0,1,2,3\n", "it is a table of UDP with the columns time_s, throughput_mbps"),
        (b"timestamp,latency_ms\n0,1\n", "it is a table of ping or latency"),
        (b"timestamp,power_w\n0,1\n", "it is a table of power or voltage"),
        (b"a,b,c,d,e,f,g\n0,1,2,3,4,5,6\n", "it is a table with the columns a, b, c, d, e, f, …; of tables only per-ACK logs"),
        (b"Connecting to host 10.0.0.1, port 5201\n[ ID] Interval           Transfer\n", "run iperf3 with `-J` and import that"),
        (b"PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.1 ms\n", "output of ping"),
        (b"PAR1" + b"\0" * 30, "a Parquet file, which is not read; export the trace as CSV"),
        (b"PAR1\xff\n{\xfe\xff}", "a Parquet file, which is not read; export the trace as CSV"),
        (parquet_zip(), "a part of a Downlink archive; load the whole archive with `downlink seed FILE`"),
        (b'{"type":"result","ping":{},"download":{"bandwidth":1},"upload":{}}', "a result of Ookla's Speedtest"),
    ],
)  # fmt: skip
def test_known_files_that_are_not_read_are_named_with_what_to_use_instead(content: bytes, why: str) -> None:
    found = list(traces_in("x", content))
    assert len(found) == 1
    assert isinstance(found[0], InvalidError)
    assert why in found[0].message


def signs(text: bytes) -> int:
    return sum(text.count(sign) for sign in (b",", b"[", b"{"))


@pytest.mark.parametrize("text", [iperf3_file(3), iperf3_file(3) + b"\n" + iperf3_file(4)], ids=["one", "a log"])
def test_values_are_counted_before_any_is_parsed(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_VALUES", signs(text))
    assert all(isinstance(each, ImportedTrace) for each in traces_in("x", text))
    monkeypatch.setattr(documents, "MAX_VALUES", signs(text) - 1)
    (refusal,) = traces_in("x", text)
    assert isinstance(refusal, InvalidError)
    assert "values; split it, or record at longer intervals" in refusal.message


def pretty(objects: list[Any]) -> str:
    return "\n".join(json.dumps(each, indent=2) for each in objects) + "\n"


FORMS = [json.dumps, lambda objects: json.dumps(objects, indent=2), pretty]


def events(seconds: int) -> list[Any]:
    document = json.loads(iperf3_file(seconds))
    parts = [("start", document["start"]), *(("interval", each) for each in document["intervals"]), ("end", {})]
    return [{"event": name, "data": data} for name, data in parts]


@pytest.mark.parametrize("form", FORMS, ids=["jq -s -c", "jq -s", "jq"])
def test_events_are_read_as_jq_writes_them(form: Callable[[list[Any]], str]) -> None:
    found = list(traces_in("x", form([*events(3), *events(600)]).encode()))
    assert [each.flows[0].samples for each in found if isinstance(each, ImportedTrace)] == [3, 600]
    assert not any(each.content.left_out for each in found if isinstance(each, ImportedTrace))


@pytest.mark.parametrize("form", FORMS, ids=["jq -s -c", "jq -s", "jq"])
def test_snapshots_are_read_as_jq_writes_them(form: Callable[[list[Any]], str]) -> None:
    text = unpack((DATA / "tcp-info.jsonl.zst").read_bytes(), 2**24)
    plain = import_file("x", text)
    found = import_file("x", form([json.loads(each) for each in text.splitlines()]).encode())
    assert [flow.columns["elapsed_us"].tolist() for flow in found.flows] == [
        flow.columns["elapsed_us"].tolist() for flow in plain.flows
    ]
    assert (found.started_at, found.content.left_out) == (plain.started_at, plain.content.left_out)


def test_other_text_between_events_of_several_lines_is_named_with_its_line() -> None:
    first, *rest = events(3)
    (trace,) = traces_in("x", (pretty([first]) + "warning\n" + pretty(rest)).encode())
    assert isinstance(trace, ImportedTrace)
    line = pretty([first]).count("\n") + 1
    assert [each.place for each in trace.content.left_out] == [f"line {line} of the stream"]


def test_the_whole_reports_of_an_array_that_was_cut_off_are_read() -> None:
    report = iperf3_file(3).decode()
    one_line = json.dumps([json.loads(report)] * 2)[:-40]
    for text in (one_line, f"[\n{report},\n{report[:-40]}"):
        whole, cut = traces_in("x", text.encode())
        assert isinstance(whole, ImportedTrace)
        assert isinstance(cut, InvalidError)


def test_snapshots_are_counted_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = unpack((DATA / "tcp-info.jsonl.zst").read_bytes(), 2**24)
    most = max(map(signs, text.splitlines()))
    assert most < signs(text) / 2
    monkeypatch.setattr(documents, "MAX_VALUES", most)
    assert import_file("x", text).flows
    monkeypatch.setattr(documents, "MAX_VALUES", most - 1)
    with pytest.raises(InvalidError, match="values; split it"):
        import_file("x", text)
