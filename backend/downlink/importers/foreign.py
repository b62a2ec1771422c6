"""Sentences for files that are known and not read: what the file is, and what to use instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

KNOWN = "iperf3 (-J, --json-stream), ndt7, M-Lab tcp-info, flent, per-ACK CSV and Downlink's own CSV are read"
INSTEAD = "import a TCP test of the same path, e.g. the output of `iperf3 -J`"

_CAPTURE = "it is a packet capture, which is not read; record the transfer with `iperf3 -J`, or log each ACK as CSV (docs/imports.md)"
_MAGIC: tuple[tuple[bytes, str], ...] = (
    *((magic, _CAPTURE) for magic in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")),
    (b"\x0a\x0d\x0d\x0a", _CAPTURE),
    (b"PAR1", "it is a Parquet file, which is not read; export the trace as CSV"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive, which is not read; pack it as .zip or .tar.gz"),
    (b"Rar!", "it is a RAR archive, which is not read; pack it as .zip or .tar.gz"),
    (b"SQLite format 3\0", f"it is an SQLite database, which is not read; {INSTEAD}"),
)  # fmt: skip
_DISH = f"it is the state of a Starlink dish, which holds no TCP flow; {INSTEAD}"
_MEANS = "which holds only means"
_PING = f"it is the output of ping, which measures no TCP flow; {INSTEAD}"
_SS = f"it is the output of ss, which is not read; {INSTEAD}, or let an agent record the flow"
_QLOG = f"it is a qlog of QUIC, which is not read; {INSTEAD}"
_IPERF2 = "which is not read; run `iperf3 -J` and import that"
_ADDRESS = r"[\d.:\[\]a-fA-F]+"
_TEXTS = tuple(
    (re.compile(pattern.encode(), re.MULTILINE | re.IGNORECASE), sentence)
    for pattern, sentence in (
        (r"^\[ *ID\] +Interval +Transfer", "it is iperf's output for reading; run iperf3 with `-J` and import that"),
        (r"^PING \S+", _PING),
        (r"bytes from \S+.* time=", _PING),
        (
            r"\A\s*<(!doctype\s+)?html",
            "it is a web page, no measurement: a server answered with it instead of the file; fetch the file again",
        ),
        (r'\A\x1e?\s*\{\s*"(qlog_version|file_schema)"', _QLOG),
        (r"^(State\s+Recv-Q|ESTAB\s+\d+\s+\d+)\s", _SS),
        (r"^\s+(?:\w+ )?wscale:\d+,\d+ rto:", _SS),
        (
            r"^(MIGRATED )?(TCP|UDP)[ _](STREAM|MAERTS|SENDFILE|RR|CRR)( TEST)?\b",
            f"it is the output of netperf, {_MEANS}; {INSTEAD}, or run the test by flent",
        ),
        (
            rf"^[\d.]+ {_ADDRESS}:\d+ {_ADDRESS}:\d+ \d+ 0x[0-9a-f]+ 0x[0-9a-f]+ ",
            "it is a log of tcp_probe, which is not read; log each ACK as CSV (docs/imports.md)",
        ),
        (rf"\A\d{{14}}(?:[.,]\d+)?,{_ADDRESS},\d+,{_ADDRESS},\d+,", f"it is the CSV of iperf 2, {_IPERF2}"),
        (r"^\[ *\d+\] +local .* connected with ", f"it is the output of iperf 2, {_IPERF2}"),
        (
            r"nuttcp-\d|^\s*[\d.]+ MB / +[\d.]+ sec = +[\d.]+ Mbps",
            f"it is the output of nuttcp, which is not read; {INSTEAD}",
        ),
        (
            r"^\s*(traceroute|tracepath|mtr) |^HOST: \S+ +Loss%",
            f"it is a trace of the route, which measures no TCP flow; {INSTEAD}",
        ),
        (r"^--- owping statistics|^SID:\s+[0-9a-f]{32}", f"it is the output of owping, which sends UDP; {INSTEAD}"),
    )
)
_SUBJECTS = (
    ("power or voltage", ("power", "watt", "volt", "ampere")),
    ("UDP", ("udp", "jitter", "lost_packets", "datagram")),
    ("ping or latency", ("ping", "icmp", "latency", "rtt")),
)
HEAD_BYTES = 4_096


def sentence_for_magic(content: bytes) -> str | None:
    """By the first bytes: what is no text."""
    return next((sentence for magic, sentence in _MAGIC if content.startswith(magic)), None)


def sentence_for_text(content: bytes) -> str | None:
    """By what a text says in its first lines."""
    head = content[:HEAD_BYTES]
    return next((sentence for pattern, sentence in _TEXTS if pattern.search(head)), None)


def sentence_for_table(header: Sequence[str]) -> str | None:
    """For a CSV that is neither an ACK log nor one of ours; None when it is no table."""
    if len(header) < 2 or not all(name and name.isprintable() and len(name) < 60 for name in header):
        return None
    words = " ".join(header).lower()
    subject = next((f" of {name}" for name, hints in _SUBJECTS if any(hint in words for hint in hints)), "")
    shown = ", ".join(header[:6]) + (", …" if len(header) > 6 else "")
    return (
        f"it is a table{subject} with the columns {shown}; of tables only per-ACK logs (at least now_us, bytes_acked, mss, rtt_us) "
        "and traces exported by Downlink are read; import what the tool itself wrote, e.g. the output of `iperf3 -J`"
    )


_NDT7_CLIENT = "it is the output of ndt7-client, which holds only means; import the archived ndt7 file, or `iperf3 -J`"
# The names of a document, all of them there.
_DOCUMENTS: tuple[tuple[set[str], str], ...] = (
    *(({name}, _DISH) for name in ("dishGetHistory", "dishGetStatus", "popPingLatencyMs", "popPingDropRate")),
    ({"Key", "Value"}, _NDT7_CLIENT),
    ({"ServerFQDN", "ClientIP"}, _NDT7_CLIENT),
    ({"CCAlgorithm", "MeasurementID"}, f"it is a measurement of msak, which is not read; {INSTEAD}"),
    ({"type", "download", "upload", "ping"}, f"it is a result of Ookla's Speedtest, {_MEANS}; {INSTEAD}"),
    (
        {"download", "upload", "ping", "bytes_sent", "share", "jitter"},
        f"it is a result of librespeed-cli, {_MEANS}; {INSTEAD}",
    ),
    ({"download", "upload", "ping", "bytes_sent", "server"}, f"it is a result of speedtest-cli, {_MEANS}; {INSTEAD}"),
    ({"colo", "latencyMs"}, f"it is a result of Cloudflare's speed test, {_MEANS}; {INSTEAD}"),
    ({"downloadedBytes", "downloadSpeed"}, f"it is a result of fast-cli, {_MEANS}; {INSTEAD}"),
    ({"round_trips", "stats"}, f"it is a measurement of irtt, which sends UDP; {INSTEAD}"),
    ({"prb_id", "msm_id"}, f"it is a measurement of RIPE Atlas, which holds no TCP flow; {INSTEAD}"),
    ({"mtr", "hubs"}, f"it is the report of mtr, which measures no TCP flow; {INSTEAD}"),
    (
        {"packets-sent", "histogram-latency"},
        f"it is a result of pScheduler's latency test (owping), which sends UDP; {INSTEAD}",
    ),
    (
        {"intervals", "summary"},
        "it is a throughput result of pScheduler, which is not read; run it with `--tool iperf3`, and import what iperf3 itself wrote",
    ),
    *(({name}, _QLOG) for name in ("qlog_version", "qlog_format", "file_schema")),
    ({"results", "statement_id"}, f"it is an answer of a time-series database, which holds no TCP flow; {INSTEAD}"),
    ({"campaign_id", "sha256"}, "it is a part of a Downlink archive; load the whole archive with `downlink seed FILE`"),
)
_WITHIN = ("response", "results", "report")
"""Where some documents have what they say: a gRPC answer, a database's, mtr's."""


def sentence_for_document(document: Mapping[str, Any]) -> str | None:
    """By the names that a JSON document has, also in what it has within."""
    names = set(map(str, document))
    for name in _WITHIN:
        held = document.get(name)
        held = held[0] if isinstance(held, list) and held else held
        names |= set(map(str, held)) if isinstance(held, Mapping) else set()
    return next((sentence for needed, sentence in _DOCUMENTS if needed <= names), None)
