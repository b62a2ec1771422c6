"""Sentences for files that are known and not read: what the file is, and what to use instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

KNOWN = "iperf3 (-J, --json-stream), ndt7, M-Lab tcp-info, flent, per-ACK CSV and Downlink's own CSV are read"
INSTEAD = "import a TCP test of the same path, e.g. the output of `iperf3 -J`"

_CAPTURE = "it is a packet capture, which is not read; record the transfer with `iperf3 -J`, or log each ACK as CSV (docs/imports.md)"
_ARCHIVE = "which is not read; pack it as .zip or .tar.gz"
_AS_CSV = "which is not read; export its table as CSV (docs/imports.md)"
_ROUTE = f"it is a trace of the route, which measures no TCP flow; {INSTEAD}"
_MAGIC: tuple[tuple[bytes, str], ...] = (
    *((magic, _CAPTURE) for magic in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")),
    *((magic, _CAPTURE) for magic in (b"\x0a\x0d\x0d\x0a", b"snoop\0\0\0")),
    (b"\x12\x05\0\0", _ROUTE),
    (b"PAR1", "it is a Parquet file, which is not read; export the trace as CSV"),
    (b"ARROW1", f"it is an Arrow file, {_AS_CSV}"),
    (b"\x89HDF", f"it is an HDF5 file, {_AS_CSV}"),
    (b"\x93NUMPY", f"it is a NumPy file, {_AS_CSV}"),
    (b"MATLAB 5.0", f"it is a MATLAB file, {_AS_CSV}"),
    (b"\xd0\xcf\x11\xe0", f"it is a document of an office program, {_AS_CSV}"),
    (b"%PDF-", f"it is a PDF document, which is not read; {INSTEAD}"),
    (b"\x89PNG", f"it is a picture, which is not read; {INSTEAD}"),
    (b"7z\xbc\xaf\x27\x1c", f"it is a 7z archive, {_ARCHIVE}"),
    (b"Rar!", f"it is a RAR archive, {_ARCHIVE}"),
    (b"\x1f\x9d", f"it is packed with compress, {_ARCHIVE}"),
    (b"\x04\x22\x4d\x18", f"it is packed with lz4, {_ARCHIVE}"),
    (b"SQLite format 3\0", f"it is an SQLite database, which is not read; {INSTEAD}"),
)  # fmt: skip
_DISH = f"it is the state of a Starlink dish, which holds no TCP flow; {INSTEAD}"
_MEANS = "which holds only means"
_PING = f"it is the output of ping, which measures no TCP flow; {INSTEAD}"
_SS = f"it is the output of ss, which is not read; {INSTEAD}, or let an agent record the flow"
_QLOG = f"it is a qlog of QUIC, which is not read; {INSTEAD}"
_IPERF2 = "which is not read; run `iperf3 -J` and import that"
_NDT7_CLIENT = "it is the output of ndt7-client, which holds only means; import the archived ndt7 file, or `iperf3 -J`"
_OOKLA = f"it is a result of Ookla's Speedtest, {_MEANS}; {INSTEAD}"
_SPEEDTEST_CLI = f"it is a result of speedtest-cli, {_MEANS}; {INSTEAD}"
_LIBRESPEED = f"it is a result of librespeed-cli, {_MEANS}; {INSTEAD}"
_CLOUDFLARE = f"it is a result of Cloudflare's speed test, {_MEANS}; {INSTEAD}"
_QUALITY = f"it is a result of Apple's networkQuality, {_MEANS}; {INSTEAD}"
_IRTT = f"it is a measurement of irtt, which sends UDP; {INSTEAD}"
_COUNTERS = f"it is a list of sockets or counters (netstat, nstat, bcc), which is not read; {INSTEAD}"
_DATABASE = f"it is an answer of a time-series database, which holds no TCP flow; {INSTEAD}"
_ADDRESS = r"[\d.:\[\]a-fA-F]+(?:%\w+)?"
_STATE = r"(?:ESTAB|LISTEN|UNCONN|CLOSED|CLOSING|CLOSE-WAIT|LAST-ACK|SYN-\w+|TIME-WAIT|FIN-WAIT-\d)"
_WITHIN_LINE = r'^[^{"\n]*?'
"""Text before what does not begin its line: no JSON, whose texts may hold the output of another tool."""


def _columns(*names: str) -> str:
    """The first columns of a table, quoted or not."""
    return "^" + r"\s*[,;\t]\s*".join(f'"?{re.escape(name)}"?' for name in names) + r"\s*[,;\t\r\n]"


def _without_json(*patterns: str) -> str:
    """Patterns of what iperf3 also prints around its JSON, whose own fault is told instead."""
    return r"\A(?![^{]*\{)[\s\S]*?(?:" + "|".join(patterns) + ")"


# The first that is found counts. `^` is also what follows a time stamp at the beginning of a line.
_RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "it is a web page, no measurement: a server answered with it instead of the file; fetch the file again",
        (r"\A(?:\s|<!--(?:(?!-->)[\s\S])*+-->|<\?xml[^>]*>)*+<(!doctype\s+)?html",),
    ),
    (
        "it is iperf's output for reading; run iperf3 with `-J` and import that",
        (
            r"^\[ *ID\] +Interval +Transfer",
            _without_json(
                r"^Connecting to host \S+, port \d",
                r"^Server listening on \d",
                r"^Accepted connection from \S+, port \d",
                r"^\[ *\d+\] local \S+ port \d+ connected to ",
                r"^\[(?: *\d+|SUM)\](?:\[[TR]X-[CS]\])? +[\d.]+ *- *[\d.]+ +sec ",
            ),
        ),
    ),
    (
        "it holds no measurement, but an error of iperf3; run the test again with `-J` and import that",
        (_without_json(r"^(?:\S+ )*?iperf3: (?:error|interrupt)\b"),),
    ),
    (
        f"it is the output of fping or hping, which measures no TCP flow; {INSTEAD}",
        (r"^\S+ +: (?:\[\d+\], |xmt/rcv/)", r"^\S*[.:]\S* +: (?:[\d.]+|-)(?: (?:[\d.]+|-))++\s*$", r"^HPING \S+ \("),
    ),
    (
        _PING,
        (
            r"^PING \S+",
            r"bytes from \S+.* time=",
            _WITHIN_LINE + r"\bicmp_[rs]eq[= ]\d",
            _WITHIN_LINE + r"\bseq=\d+ ttl=\d",
            _WITHIN_LINE + r"[=<] ?\d{1,6} ?\S{1,6} ?TTL=\d",
            r"^Pinging \S+",
            r"^Reply from \S+: time[=<]\d",
        ),
    ),
    (_QLOG, (r'\A\x1e?\s*\{\s*"(qlog_version|file_schema)"',)),
    (
        "it is an object as Python prints it, which is no JSON; write it with `json.dump`",
        (r"\A\s*(?:\[\s*)?\{\s*'[^'\n]*':",),
    ),
    (
        _SS,
        (
            r"^(?:Netid +)?State\s+Recv-Q\s",
            rf"^(?:\w+ +)?{_STATE} +\d+ +\d+\s",
            _WITHIN_LINE + r"\bwscale:\d+,\d+ rto:",
            _WITHIN_LINE + r"\brto:[\d.]+ (?:backoff:\d+ )?rtt:[\d.]+/",
        ),
    ),
    (
        _COUNTERS,
        (
            r"^ *Proto +(?:Recv-Q|Local Address) ",
            r"^Tcp(?:Ext)?:(?: RtoAlgorithm| SyncookiesSent|\s+\d+ active connection)",
            r"^#kernel\s",
            r"^Tcp(?:Ext)?[A-Z]\w+ +\d+ +[\d.]+\s*$",
            r"^ *sl +local_address ",
            r"^(?:TIME|PID)\b.{0,40} [LS]ADDR\b.{0,20}PORT\b",
        ),
    ),
    (
        f"it is the output of netperf, {_MEANS}; {INSTEAD}, or run the test by flent",
        (
            r"^(MIGRATED )?(TCP|UDP)[ _](STREAM|MAERTS|SENDFILE|RR|CRR)( TEST)?\b",
            r"^(?:MIGRATED )?OMNI \S+ TEST\b",
            r"^Interim result: +[\d.]+ \S+ over ",
            r"^(?:THROUGHPUT(?:_UNITS)?|(?:NETPERF|LOCAL|REMOTE)_[A-Z_]+(?:\[\d+\])?)=",
        ),
    ),
    (
        "it is a log of tcp_probe, which is not read; log each ACK as CSV (docs/imports.md)",
        (
            rf"^[\d.]+ {_ADDRESS}:\d+ {_ADDRESS}:\d+ \d+ 0x[0-9a-f]+ 0x[0-9a-f]+ ",
            _WITHIN_LINE + r"\btcp_probe: (?:family=\w+ )?src=",
        ),
    ),
    (
        f"it is the CSV of iperf 2, {_IPERF2}",
        (
            rf"^\d{{14}}(?:[.,]\d+)?(?:[+-]\d{{4}})?,{_ADDRESS},\d+,{_ADDRESS},\d+,",
            _columns("time", "srcaddr", "srcport", "dstaddr"),
        ),
    ),
    (
        f"it is the output of iperf 2, {_IPERF2}",
        (
            r"^\[ *\d+\] +local .* connected with ",
            r"^Client connecting to \S+, (?:TCP|UDP) port",
            r"^Server listening on (?:TCP|UDP) port",
        ),
    ),
    (
        f"it is the output of nuttcp, which is not read; {INSTEAD}",
        (r"nuttcp-\d", r"^nuttcp-[rt]: ", r"^[ \t]*[\d.]+ MB / +[\d.]+ sec = +[\d.]+ Mbps"),
    ),
    (
        _ROUTE,
        (
            r"^[ \t]*(traceroute|tracepath|mtr) ",
            r"^HOST: \S+ +Loss%",
            r"^ *Host +Loss%",
            r"^<MTR ",
            r"^MTR\.[\d.]+[,;]",
            _columns("Mtr_Version"),
            r"^ *\d+\??: +\S+ +(?:\(\S+\) +)?(?:pmtu \d|[\d.]+ ?ms|reached)",
            r"^ *\d+ +(?:(?:<?\d+ ms|\*) +){3}\S",
            r"^Tracing route to ",
        ),
    ),
    (
        f"it is the output of owping, which sends UDP; {INSTEAD}",
        (r"^--- (?:ow|tw)ping statistics", r"^SID:\s+[0-9a-f]{32}"),
    ),
    (_IRTT, (r"^\[Connecting\] connecting to ", r"^seq=\d+ rtt=\S+ rd=")),
    (
        _CAPTURE,
        (
            r"^(?:\S+ +(?:In|Out|B|M|P) +)?IP6? (?:\((?:tos|class|flowlabel|hlim) |\S+ > \S+: )",
            _WITHIN_LINE + r"\bethertype IPv[46] \(0x",
            r"^ *\d+ +[\d.]+ +\S+ (?:→|->) \S+ +\w+ +\d+ ",
            r"^No\.\s+Time\s+Source\s+Destination\s",
            _columns("No.", "Time", "Source", "Destination"),
            r'^"?(?:frame\.(?:number|time\w*)|ip\.src|tcp\.stream)"?[,;\t]',
        ),
    ),
    (
        f"it is the output of tcptrace, which is not read; {INSTEAD}",
        (r"\A(?:timeval|dtime|double|signed|unsigned) (?:double|signed|unsigned)\s", r"^Ostermann's tcptrace"),
    ),
    (f"it is a log of mahimahi, which holds no TCP flow; {INSTEAD}", (r"^# mahimahi mm-",)),
    (_NDT7_CLIENT, (r"^[ \t]*(?:download|upload) in progress with \S+",)),
    (_OOKLA, (r"^ *Speedtest by Ookla", _columns("server name", "server id"))),
    (
        _SPEEDTEST_CLI,
        (r"^Retrieving speedtest\.net configuration", _columns("Server ID", "Sponsor", "Server Name")),
    ),
    (_LIBRESPEED, (_columns("Timestamp", "Server Name", "Address", "Ping"),)),
    (_CLOUDFLARE, (_columns("test_type", "payload_size"),)),
    (_QUALITY, (r"^=+ SUMMARY =+\s+(?:Uplink|Upload|Downlink|Download) capacity",)),
    (
        _DISH,
        (
            _WITHIN_LINE + r"\bpop_ping_(?:drop_rate|latency)",
            r"^spacex\.starlink\.",
            _WITHIN_LINE + r"\bstarlink_dish_",
        ),
    ),
    (_DATABASE, (r"^# (?:HELP|TYPE) \w+ ", r"^[\w.]+(?:,[\w.-]+=[^,\s]+)++ [\w.-]+=\S+ \d{10,19}\s*$")),
    (
        "it is XML, which is not read; export the table of a spreadsheet as CSV; "
        "if a server answered with it instead of the file, fetch the file again",
        (r"\A\s*<\?xml\b",),
    ),
)
_TEXTS = tuple(
    (re.compile("|".join(f"(?:{each})" for each in patterns).encode(), re.MULTILINE | re.IGNORECASE), sentence)
    for sentence, patterns in _RULES
)
_STAMP = re.compile(
    rb"""^[ \t]*[\[(]?(?:
    \d{4}[-/]\d\d[-/]\d\d[T_ ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d)?  # ISO 8601
    |(?:\w{2,4}\.?,?[ ]+)?\w{3}[ ]+\d{1,2}[ ]+(?:\d{4}[ ]+)?\d\d:\d\d:\d\d(?:\.\d+)?(?:[ ]\d{4})?  # ctime, syslog, ts
    |\d\d:\d\d:\d\d(?:[.,]\d+)?
    |\d{10}(?:\d{3}|\d{6}|\d{9})?(?:[.,]\d+)?  # since 1970, in seconds to nanoseconds
    )[\])]?[:,;|]?[ \t]+""",
    re.MULTILINE | re.VERBOSE,
)
HEAD_BYTES = 4_096


def sentence_for_magic(content: bytes) -> str | None:
    """Return a sentence for a file that is no text, by its first bytes."""
    return next((sentence for magic, sentence in _MAGIC if content.startswith(magic)), None)


def sentence_for_text(content: bytes) -> str | None:
    """Return a sentence for a text of another kind, by its first lines, also behind a time stamp."""
    head = content[:HEAD_BYTES]
    heads = (head, _STAMP.sub(b"", head))
    return next((sentence for pattern, sentence in _TEXTS if any(map(pattern.search, heads))), None)


# The names of a document, all of them there.
_DOCUMENTS: tuple[tuple[set[str], str], ...] = (
    *(({name}, _DISH) for name in ("dishGetHistory", "dishGetStatus", "popPingLatencyMs", "popPingDropRate")),
    *(({name}, _DISH) for name in ("dish_get_history", "dish_get_status", "pop_ping_latency_ms", "pop_ping_drop_rate")),
    ({"Key", "Value"}, _NDT7_CLIENT),
    ({"ServerFQDN", "ClientIP"}, _NDT7_CLIENT),
    ({"CCAlgorithm", "MeasurementID"}, f"it is a measurement of msak, which is not read; {INSTEAD}"),
    ({"type", "download", "upload", "ping"}, _OOKLA),
    *(({"type", "timestamp", name}, _OOKLA) for name in ("isp", "ping", "download", "upload")),
    ({"download", "upload", "ping", "bytes_sent", "share", "jitter"}, _LIBRESPEED),
    ({"download", "upload", "ping", "bytes_sent", "server"}, _SPEEDTEST_CLI),
    ({"colo", "latencyMs"}, _CLOUDFLARE),
    ({"latency_measurement", "speed_measurements"}, _CLOUDFLARE),
    ({"downLoadedLatency"}, _CLOUDFLARE),
    ({"dl_throughput", "ul_throughput"}, _QUALITY),
    ({"downloadedBytes", "downloadSpeed"}, f"it is a result of fast-cli, {_MEANS}; {INSTEAD}"),
    ({"S2C", "C2S"}, f"it is a result of ndt5, {_MEANS}; import the result of an ndt7 test, or `iperf3 -J`"),
    ({"round_trips", "stats"}, _IRTT),
    ({"prb_id", "msm_id"}, f"it is a measurement of RIPE Atlas, which holds no TCP flow; {INSTEAD}"),
    ({"mtr", "hubs"}, f"it is the report of mtr, which measures no TCP flow; {INSTEAD}"),
    *((names, _ROUTE) for names in ({"type", "list_name"}, {"type", "hop_count"}, {"TracerouteCallerVersion"})),
    ({"_index", "_source"}, _CAPTURE),
    (
        {"packets-sent", "histogram-latency"},
        f"it is a result of pScheduler's latency test (owping), which sends UDP; {INSTEAD}",
    ),
    (
        {"intervals", "summary"},
        "it is a throughput result of pScheduler, which is not read; run it with `--tool iperf3`, and import what iperf3 itself wrote",
    ),
    *(
        (names, f"it is a result of pScheduler, which is not read; {INSTEAD}")
        for names in ({"test", "tool", "result"}, {"succeeded", "roundtrips"}, {"succeeded", "paths"})
    ),
    ({"ts", "val"}, f"it is an answer of perfSONAR's archive, {_MEANS}; {INSTEAD}"),
    *(({name}, _QLOG) for name in ("qlog_version", "qlog_format", "file_schema")),
    ({"results", "statement_id"}, _DATABASE),
    ({"resultType", "result"}, _DATABASE),
    ({"TcpInSegs"}, _COUNTERS),
    ({"TcpRetransSegs"}, _COUNTERS),
    ({"campaign_id", "sha256"}, "it is a part of a Downlink archive; load the whole archive with `downlink seed FILE`"),
)
_WITHIN = ("response", "results", "report", "data", "kernel")
"""Keys behind which some documents have their content: a gRPC answer, a database's, mtr's, nstat's."""


def sentence_for_document(document: Mapping[str, Any]) -> str | None:
    """Return a sentence for a JSON document of another tool, by its names and those one level deeper."""
    names = set(map(str, document))
    for name in _WITHIN:
        held = document.get(name)
        held = held[0] if isinstance(held, list) and held else held
        names |= set(map(str, held)) if isinstance(held, Mapping) else set()
    return next((sentence for needed, sentence in _DOCUMENTS if needed <= names), None)
