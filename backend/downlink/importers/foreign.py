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
_TEXTS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"^\[ *ID\] +Interval", re.MULTILINE), "it is iperf3's output for reading; run iperf3 with `-J` and import that"),
    (re.compile(rb"^PING \S+", re.MULTILINE), f"it is the output of ping, which measures no TCP flow; {INSTEAD}"),
    (re.compile(rb"bytes from \S+.* time=", re.MULTILINE), f"it is the output of ping, which measures no TCP flow; {INSTEAD}"),
)  # fmt: skip
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
    ({"type", "download", "upload", "ping"}, f"it is a result of Speedtest, which holds only means; {INSTEAD}"),
    ({"round_trips", "stats"}, f"it is a measurement of irtt, which sends UDP; {INSTEAD}"),
    ({"campaign_id", "sha256"}, "it is a part of a Downlink archive; load the whole archive with `downlink seed FILE`"),
)


def sentence_for_document(document: Mapping[str, Any]) -> str | None:
    """By the names that a JSON document has, or the answer in it (gRPC puts it under `response`)."""
    answer = document.get("response")
    names = set(map(str, document)) | set(map(str, answer if isinstance(answer, Mapping) else ()))
    return next((sentence for needed, sentence in _DOCUMENTS if needed <= names), None)
