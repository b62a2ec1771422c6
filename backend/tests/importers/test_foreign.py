"""Files of other tools: each form is named with what to use instead, prose is no table, and what is read is never claimed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from downlink.domain.errors import InvalidError
from downlink.importers.containers import members
from downlink.importers.documents import as_utf8
from downlink.importers.files import MAX_UNPACKED_BYTES, import_file, traces_in
from downlink.importers.foreign import sentence_for_document, sentence_for_magic, sentence_for_text
from tests.fixtures.foreign_files import ack_csv_file, flent_file, iperf3_file, ndt7_file

DATA = Path(__file__).parent / "data"
SS_ROW = "tcp   ESTAB 0      0      10.0.0.2:5 10.0.0.1:5201 cubic wscale:7,7 rto:204 rtt:0.5/0.1\n"
NUTTCP_ROW = "    1.2500 MB /   1.00 sec =   10.4858 Mbps     0 retrans\n"
IPERF3_ROW = "[  5]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec\n"


def refusal(content: bytes) -> str:
    (found,) = traces_in("x", content)
    assert isinstance(found, InvalidError)
    return found.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"[2026-11-20 10:00:00.819731] nuttcp-r: v8.1.4: socket\n[2026-11-20 10:00:01.1] {NUTTCP_ROW}", "nuttcp"),
        (f"Start time: 1763632800000\n[2026-11-20 10:00:01.1] {NUTTCP_ROW}", "nuttcp"),
        (f"Nov 20 10:00:01 {NUTTCP_ROW}", "nuttcp"),
        ("Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port\n", "the output of ss"),
        (SS_ROW, "the output of ss"),
        (f"1763632800.1 {SS_ROW}", "the output of ss"),
        (f"2026-11-20T10:00:00+01:00 {SS_ROW}", "the output of ss"),
        ("# tracer: nop\n#\n <idle>-0 [001] ..s. 1.0: tcp_probe: family=AF_INET src=10.0.0.2:5 dest=10.0.0.1:5\n", "tcp_probe"),
        ("iperf3 81 [000] 12.3: tcp:tcp_probe: src=10.0.0.2:5 dest=10.0.0.1:5 mark=0\n", "tcp_probe"),
        ("OMNI Send TEST from 0.0.0.0 port 0 AF_INET to host\n", "netperf"),
        ("Interim result:   94.14 10^6bits/s over 1.000 seconds ending at 1763632800.1\n", "netperf"),
        ("THROUGHPUT=94.14\nTHROUGHPUT_UNITS=10^6bits/s\n", "netperf"),
        ("\r\nPinging 10.0.0.1 with 32 bytes of data:\r\n", "the output of ping"),
        ("Reply from 10.0.0.1: bytes=32 time<1ms TTL=57\r\n", "the output of ping"),
        ("Réponse de 10.0.0.1 : octets=32 temps=12 ms TTL=57\r\n", "the output of ping"),
        ("来自 10.0.0.1 的回复: 字节=32 时间=12ms TTL=57\r\n", "the output of ping"),
        ("64 bytes von 10.0.0.1: icmp_seq=1 ttl=57 Zeit=12.1 ms\n", "the output of ping"),
        ("64 octets de 10.0.0.1 : icmp_seq=1 ttl=57 temps=12.1 ms\n", "the output of ping"),
        ("Tracing route to one.one [1.1.1.1]\r\n", "a trace of the route"),
        ("\r\n  1    <1 ms     1 ms     *     10.0.0.1\r\n", "a trace of the route"),
        (" 1?: [LOCALHOST]                      pmtu 1500\n", "a trace of the route"),
        (" 1:  _gateway                          0.5ms \n", "a trace of the route"),
        ("Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n", "a trace of the route"),
        ("MTR.0.85;1763632800;OK;1.1.1.1;1;10.0.0.1;500\n", "a trace of the route"),
        ("Server listening on 5201 (test #1)\nAccepted connection from 10.0.0.2, port 5\n", "run iperf3 with `-J`"),
        ("Fri Nov 20 10:00:00 2026 Connecting to host 10.0.0.1, port 5201\n", "run iperf3 with `-J`"),
        (f"Fri Nov 20 10:00:00 2026 {IPERF3_ROW}", "run iperf3 with `-J`"),
        ("iperf3: error - unable to connect to server: Connection refused\n", "an error of iperf3; run the test again"),
        ("20261120100000.123+0000,10.0.0.1,5001,10.0.0.2,5,1,0.0-1.0,1048576,8388608\n", "the CSV of iperf 2"),
        ("$ iperf -c 10.0.0.1 -y C\n20261120100000,10.0.0.1,5001,10.0.0.2,5,1,0.0-1.0,1,8\n", "the CSV of iperf 2"),
        ("time,srcaddr,srcport,dstaddr,dstport,transferid\n", "the CSV of iperf 2"),
        ("Client connecting to 10.0.0.1, TCP port 5001\n", "the output of iperf 2"),
        ('"server name","server id","idle latency","idle jitter"\n', "Ookla's Speedtest"),
        ("\n   Speedtest by Ookla\n", "Ookla's Speedtest"),
        ("Server ID,Sponsor,Server Name,Timestamp,Distance,Ping\n", "speedtest-cli"),
        ("Timestamp,Server Name,Address,Ping,Jitter\n", "librespeed-cli"),
        ("datetimestamp_utc,id,pop_ping_drop_rate,pop_ping_latency_ms\n", "a Starlink dish"),
        ("[Connecting] connecting to 10.0.0.1\n", "irtt"),
        ("{'start': {'connected': []}}\n", "as Python prints it, which is no JSON; write it with `json.dump`"),
    ],
)  # fmt: skip
def test_each_form_of_a_known_tool_is_named(text: str, why: str) -> None:
    assert why in refusal(text.encode())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10:00:00.1 IP 10.0.0.2.5 > 10.0.0.1.5201: Flags [S], seq 1, win 64240\n", "a packet capture"),
        ("2026-11-20 10:00:00.1 eth0 Out IP6 ::1.5 > ::1.5201: Flags [S], seq 1, win 64240\n", "a packet capture"),
        ('"No.","Time","Source","Destination","Protocol"\n', "a packet capture"),
        ("    1 0.000000000 10.0.0.2 → 10.0.0.1 TCP 74 5 → 5201 [SYN] Seq=0, Win=1\n", "a packet capture"),
        ("10.0.0.1 : [0], 64 bytes, 12.1 ms (12.1 avg, 0% loss)\n", "fping"),
        ("HPING 10.0.0.1 (eth0 10.0.0.1): S set, 40 headers\nlen=46 ip=10.0.0.1 ttl=64 DF id=0\n", "hping"),
        ("Proto Recv-Q Send-Q Local Address           Foreign Address         State\n", "netstat"),
        ("#kernel\nTcpRetransSegs                  5                  0.0\n", "nstat"),
        ("PID   COMM       LADDR           LPORT RADDR           RPORT TX_KB RX_KB MS\n", "bcc"),
        ("timeval double\ntitle\nx\n", "tcptrace"),
        ("# mahimahi mm-link (uplink) [x] > y\n", "mahimahi"),
        ("==== SUMMARY ====\nUplink capacity: 20 Mbps\n", "networkQuality"),
        ("# HELP node_load1 x\n# TYPE node_load1 gauge\nnode_load1 0.3\n", "a time-series database"),
        ("<!-- x -->\n<html></html>\n", "a web page"),
        ('<?xml version="1.0"?><!DOCTYPE html>\n', "a web page"),
        ('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>\n', "it is XML, which is not read; export"),
    ],
)  # fmt: skip
def test_further_tools_of_network_research_are_named(text: str, why: str) -> None:
    assert why in refusal(text.encode())


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"dish_get_status": {"pop_ping_latency_ms": 30}}, "a Starlink dish"),
        ({"type": "testStart", "timestamp": "2026-11-20T10:00:00Z", "isp": "x"}, "Ookla's Speedtest"),
        ({"type": "ping", "timestamp": "2026-11-20T10:00:00Z", "ping": {}}, "Ookla's Speedtest"),
        ({"metadata": {}, "latency_measurement": {}, "speed_measurements": []}, "Cloudflare"),
        ({"id": "x", "test": {"type": "throughput"}, "tool": {}, "result": {}}, "a result of pScheduler"),
        ({"succeeded": True, "roundtrips": []}, "a result of pScheduler"),
        ({"ts": 1, "val": 2}, "perfSONAR's archive"),
        ({"S2C": {}, "C2S": None}, "ndt5"),
        ({"dl_throughput": 1, "ul_throughput": 1}, "networkQuality"),
        ({"type": "cycle-start", "list_name": "default"}, "a trace of the route"),
        ({"_index": "packets", "_source": {}}, "a packet capture"),
        ({"kernel": {"TcpRetransSegs": 5}}, "nstat"),
        ({"status": "success", "data": {"resultType": "matrix", "result": []}}, "a time-series database"),
    ],
)
def test_each_document_of_a_known_tool_is_named_also_one_per_line_or_in_an_array(
    document: dict[str, object], why: str
) -> None:
    text = json.dumps(document).encode()
    assert why in refusal(text)
    assert why in refusal(text + b"\n" + b'{"type":"x"}\n')
    assert why in refusal(b"[" + text + b"]")


@pytest.mark.parametrize(
    "magic", [b"snoop\0\0\0", b"\x12\x05\0\0", b"ARROW1", b"\x89HDF", b"\x93NUMPY", b"%PDF-", b"\x1f\x9d"]
)
def test_what_is_no_text_is_named_by_its_first_bytes(magic: bytes) -> None:
    assert "its format is not known" not in refusal(magic + b"\0" * 30)


@pytest.mark.parametrize(
    "line",
    [
        "Connected to host 10.0.0.1, which listens on port 5201",
        "2026-11-20 10:00:00,123 INFO the test began",
        "platform: x86, kernel: 6.1",
        "x=1, y=2",
        "The link was bad today, and nobody knows why it was",
    ],
)
def test_prose_with_commas_is_no_table(line: str) -> None:
    assert "its format is not known; iperf3" in refusal(line.encode() + b"\n")


@pytest.mark.parametrize("stamp", ["2026-11-20T10:00:00 ", "2026-11-20 10:00:00,123 ", "host iperf3[5]: "])
def test_text_before_json_is_told_instead_of_a_table(stamp: str) -> None:
    line = stamp + '{"unknown": "start", "data": {"a": 1, "b": 2}}\n'
    assert "is a table" not in refusal(line.encode() * 2)


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("time,idle jitter", "a table of ping or latency with the columns time, idle jitter;"),
        ("time,cwnd_kb,srtt_ms", "a table of TCP with the columns time, cwnd_kb, srtt_ms;"),
        ("time;Größe [kB];95th", "a table with the columns time, Größe [kB], 95th;"),
        ('"time"\t"rate"', 'a table with the columns "time", "rate";'),
        (",time,rate", "a table with the columns time, rate;"),
        ("2026-11-20 10:00:00,5,up", "a table without column names;"),
    ],
)
def test_a_table_is_named_by_its_columns(header: str, why: str) -> None:
    assert f"it is {why} of tables only per-ACK logs" in refusal(header.encode() + b"\n1,2,3\n")


READABLE: list[Callable[[], bytes]] = [
    *((path.read_bytes) for path in sorted(DATA.iterdir()) if path.suffix != ".md"),
    iperf3_file,
    ndt7_file,
    flent_file,
    ack_csv_file,
    lambda: b"Connecting to host 10.0.0.1, port 5201\n" + iperf3_file() + b"\niperf3: interrupt - the client has terminated\n",
]  # fmt: skip


@pytest.mark.parametrize("content_of", READABLE)
def test_what_is_read_is_never_claimed(content_of: Callable[[], bytes]) -> None:
    packed = content_of()
    assert import_file("x", packed).flows
    for member in members(packed, MAX_UNPACKED_BYTES):
        text = as_utf8(member.content)
        assert sentence_for_magic(text) is None
        assert sentence_for_text(text) is None
        for line in text.splitlines()[:1] if text.startswith(b'{"') else []:
            assert not line.endswith(b"}") or sentence_for_document(json.loads(line)) is None


def test_what_iperf3_prints_around_its_json_does_not_hide_the_fault_of_the_json() -> None:
    text = b'Connecting to host 10.0.0.1, port 5201\n{"start": {}, "intervals": [], "end": {}, "error": 5'
    assert "for reading" not in refusal(text)
