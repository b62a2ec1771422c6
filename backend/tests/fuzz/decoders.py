"""Every decoder of bytes that come from elsewhere, with a corpus of what it takes. A decoder answers, or refuses in a sentence."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from downlink.api.fleet.agent_channel import parse_poll
from downlink.api.schemas.triggers import CallBody
from downlink.codec.bundle import split_bundle
from downlink.codec.campaign_file import parse_campaign
from downlink.codec.chunk import ChunkHeader, decode_chunk, encode_chunk, read_header
from downlink.codec.parquet import columns_to_parquet, parquet_to_columns
from downlink.codec.path import decode_path
from downlink.codec.profile_file import kept_paths
from downlink.codec.station_csv import parse_station
from downlink.codec.station_table import StationForm
from downlink.codec.weather_json import parse_reading
from downlink.constellation.elements import read_elements
from downlink.courier.provider import read_answer
from downlink.domain.errors import DownlinkError
from downlink.domain.links.weather_source import read_source
from downlink.domain.traces.point import Point
from downlink.importers.ack_csv import KERNEL_ALWAYS
from downlink.importers.files import traces_in
from downlink.protocol.events import AnyEvent
from downlink.protocol.facts import JoinRequest
from downlink.protocol.observations import ObservationsRequest
from tests.constellation.test_parts import as_csv, as_xml, lines, messages
from tests.fixtures.foreign_files import flent_file, iperf3_file, ndt7_file
from tests.fixtures.scripted_agent import bundle_line, draw_steady

ROOT = Path(__file__).resolve().parents[3]
RECORDED = ROOT / "backend" / "tests" / "importers" / "data"
RUN = "0b5f2a1c-7d4e-4f6a-9b8c-1d2e3f4a5b6c"
STATION = "time,weather.rain_mm_per_h,weather.gust [m/s]\n2026-01-02T12:00Z,0.2,NA\n2026-01-02 13:10+01:00,1.5e-3,7\n"
LONG_STATION = "time,weather.rain_mm_per_h,note\n" + "".join(
    f"2026-01-02T12:{minute:02}Z,1,{'x' * 4_000}\n" for minute in range(40)
)
"""Longer than a cell may be, where a quote has none that ends it."""
GERMAN = "date;weather.rain_mm_per_h;Regen\n02.01.2026 13:00;1,5;x\n20260102 1310;-;y\n"
"""Of a station whose file says no offset, and whose numbers have decimal commas."""
ACKS = (
    b"now_us,bytes_acked,mss,rtt_us,snd_nxt,snd_una,sk_pacing_rate,snd_cwnd\n",
    b"0,1000,1000,50000,11000,2000,125,10\n250,4000,1000,50200,15000,5000,4294967295,\n",
)
KERNEL = (
    ",".join((*KERNEL_ALWAYS, "each_delv_MB")).encode() + b"\n",
    b"0,50000,0.01,12000,1448,2147483647,1448\n100,50100,0.01448,24000,2896,2147483647,1448\n",
)
OWN = (b"elapsed_us,cwnd_segments,acked_bytes,snd_mss_bytes\n", b"0,10,0,1448\n10000,20,14480,1448\n")
"""Header and rows of tables: what follows a header that is known is read as numbers."""
PROVIDER = (
    b'{"issuer": "https://id.example", "token_endpoint": "https://id.example/t", "jwks_uri": "https://id.example/k"}'
)
WEATHER = b'{"now": {"time": "2026-11-25T11:45", "rain": 0.3}, "stations": [{"t": "-1.5", "at": 1795607100}]}'
SOURCE = read_source(
    "service", "https://weather.example/?a={latitude}&b={longitude}",
    "weather.rain_mm_per_h=/now/rain,weather.temperature_c=/stations/0/t", "/now/time", "Europe/Madrid", 15,
)  # fmt: skip
REFUSALS = (DownlinkError, ValidationError)


@dataclass(frozen=True)
class Decoder:
    """decode: of a mutant. wrap: what makes of a mutant something whose outside is sound, so that the inside is reached."""

    name: str
    corpus: Sequence[bytes]
    decode: Callable[[bytes], object]
    wrap: Callable[[bytes], bytes] = bytes


def _chunk() -> bytes:
    t_us = np.arange(40, dtype=np.int64) * 10_000
    columns = draw_steady(t_us)
    return encode_chunk(ChunkHeader(RUN, 1, 1, Point.SENDER, 0, len(t_us), tuple(columns)), columns)


def _unpacked(packed: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(packed)


def _with_checksum(inside: bytes) -> bytes:
    """A path whose header names the checksum of the columns that are there."""
    line, end, body = inside.partition(b"\n")
    try:
        about = json.loads(line)
    except ValueError:
        about = None
    if isinstance(about, dict):
        about["columns_sha256"] = hashlib.sha256(body).hexdigest()
        line = json.dumps(about).encode()
    return zstandard.compress(line + end + body)


def _parquet() -> bytes:
    t_us = np.arange(40, dtype=np.int64) * 10_000
    return columns_to_parquet(draw_steady(t_us))


def _bundle() -> bytes:
    chunk = _chunk()
    return b"".join(bundle_line((1, "sender", number), chunk) + chunk for number in range(2))


def _tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in (("a.json", iperf3_file(2)), ("b/c.json", ndt7_file())):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def _read_all(content: bytes) -> None:
    """Every trace of a file; what single tests of an archive are refused for is theirs."""
    deque(traces_in("some file", content), maxlen=0)


def _golden(prefix: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "docs" / "protocol").glob(f"{prefix}*.json"))]


def _after(header: bytes, rows: bytes) -> bytes:
    return header + rows


def _tables() -> list[Decoder]:
    """Tables of numbers: mutants of the whole, and of the rows behind a header that is known."""
    kinds = {"ACK logs": ACKS, "kernel logs of ACKs": KERNEL, "traces as CSV": OWN}
    whole = Decoder("imported tables", [header + rows for header, rows in kinds.values()], _read_all)
    rows = [
        Decoder(f"imported {name}", [rows], _read_all, partial(_after, header))
        for name, (header, rows) in kinds.items()
    ]
    return [whole, *rows]


def _texts(*patterns: str) -> list[bytes]:
    return [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def _elements() -> list[bytes]:
    """As two lines each, with names and with planes; as messages in each of their forms."""
    two_lines = ["\n".join(lines(range(3), name=True)), "\n".join(["2 2", *lines(range(4))])]
    return [
        each.encode() for each in (*two_lines, *(form(messages(range(2))) for form in (as_csv, as_xml, json.dumps)))
    ]


def _as_text(read: Callable[[str], Any], content: bytes) -> object:
    """Where bytes are no text, the caller has refused them before."""
    return read(content.decode(errors="replace"))


def _message(kind: Any, content: bytes) -> object:
    return TypeAdapter(kind).validate_json(content)


def decoders() -> list[Decoder]:
    path = (ROOT / "docs/examples/paths/golden.dlpath").read_bytes()
    foreign = [iperf3_file(3), ndt7_file(), flent_file(), (RECORDED / "iperf3-3.0.11.json").read_bytes()[:60_000]]
    tcp_info = _unpacked_stream(RECORDED / "tcp-info.jsonl.zst")
    return [
        Decoder("chunks", [_unpacked(_chunk())], decode_chunk, zstandard.compress),
        Decoder("chunks' headers", [_unpacked(_chunk())], read_header, zstandard.compress),
        Decoder("chunks as they come", [_chunk()], decode_chunk),
        Decoder("bundles", [_bundle()], split_bundle),
        Decoder("paths", [_unpacked(path)], decode_path, _with_checksum),
        Decoder("paths as they come", [path], decode_path),
        Decoder("element sets", _elements(), partial(_as_text, read_elements)),
        Decoder(
            "campaign files",
            _texts("docs/examples/*.yaml", "docs/examples/studies/*.yaml"),
            partial(_as_text, parse_campaign),
        ),
        Decoder("imported documents", foreign, _read_all),
        Decoder("imported lines", [tcp_info], _read_all),
        Decoder("imported archives", [_tar()], _read_all),
        Decoder("imported, packed", [gzip.compress(foreign[0], mtime=0), zstandard.compress(foreign[1])], _read_all),
        Decoder("weather", [WEATHER], partial(parse_reading, source=SOURCE, now=datetime(2026, 11, 26, tzinfo=UTC))),
        Decoder(
            "weather stations",
            [STATION.encode(), LONG_STATION.encode()],
            partial(_as_text, partial(parse_station, source="roof")),
        ),
        Decoder(
            "weather stations' local times",
            [GERMAN.encode()],
            partial(_as_text, partial(parse_station, source="roof", form=StationForm(zone="Europe/Madrid"))),
        ),
        *_tables(),
        Decoder("traces as Parquet", [_parquet()], parquet_to_columns),
        Decoder(
            "link profiles",
            _texts("agents/internal/lab/emulate/profiles/*.yaml", "docs/examples/profiles/*.yaml"),
            partial(_as_text, kept_paths),
        ),
        Decoder("identity providers", [PROVIDER], partial(read_answer, 200)),
        Decoder("calls of triggers", [b'{"value": 0.5}'], partial(_message, CallBody)),
        Decoder("agents' observations", _golden("observations_request"), partial(_message, ObservationsRequest)),
        Decoder("agents joining", _golden("join_request"), partial(_message, JoinRequest)),
        Decoder("agents' polls", _golden("poll_request"), _poll),
        Decoder("agents' events", _golden("event_"), partial(_message, AnyEvent)),
    ]


def _poll(content: bytes) -> object:
    try:
        return parse_poll(content)
    except RequestValidationError:
        return None


def _unpacked_stream(path: Path, most: int = 20_000) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as reader:
        return reader.read(most).rpartition(b"\n")[0]
