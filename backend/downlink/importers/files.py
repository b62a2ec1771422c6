"""Any importable file: find out what it is, read it, or refuse it with a sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from downlink.codec.bounded import unpack
from downlink.domain.errors import InvalidError
from downlink.importers.ack_csv import header_of, is_ack_csv, is_downlink_csv, read_ack_csv, read_downlink_csv
from downlink.importers.flent import is_flent, read_flent
from downlink.importers.iperf3 import document_of_events, is_iperf3, is_stream_event, read_iperf3
from downlink.importers.model import Content, ImportedTrace, SourceKind, UnreadableError, refused
from downlink.importers.ndt7 import is_ndt7, read_ndt7
from downlink.importers.tcp_info import is_tcp_info, read_tcp_info

MAX_FILE_BYTES = 256 * 2**20
MAX_UNPACKED_BYTES = 512 * 2**20
KNOWN = "iperf3 (-J, --json-stream), ndt7, M-Lab tcp-info, flent and per-ACK CSV are read"


def import_file(name: str, packed: bytes) -> ImportedTrace:
    """The flows of a file, plain or in gzip or zstd.

    name: what to call the file. Raises InvalidError `import_refused` that names file and reason; then nothing of it is kept.
    """
    if len(packed) > MAX_FILE_BYTES:
        raise refused(name, f"it is larger than {MAX_FILE_BYTES // 2**20} MiB")
    try:
        kind, content = _read(unpack(packed, MAX_UNPACKED_BYTES))
    except InvalidError as error:
        raise refused(name, error.message) from error
    except UnreadableError as error:
        raise refused(name, str(error)) from error
    digest = hashlib.sha256(packed).hexdigest()
    return ImportedTrace(kind, name, digest, content.started_at, content.flows, content.metadata)


def _read(content: bytes) -> tuple[SourceKind, Content]:
    if not content.strip():
        raise UnreadableError("it is empty")
    if content.lstrip().startswith((b"{", b"[")):
        return _read_json(content)
    header = header_of(content)
    if is_ack_csv(header):
        return SourceKind.ACK_CSV, read_ack_csv(content)
    if is_downlink_csv(header):
        return SourceKind.DOWNLINK_CSV, read_downlink_csv(content)
    raise UnreadableError(f"its format is not known; {KNOWN}")


def _read_json(content: bytes) -> tuple[SourceKind, Content]:
    """One document, or one object per line."""
    first = _json_line(content)
    if is_tcp_info(first):
        return SourceKind.TCP_INFO, read_tcp_info(content)
    if is_stream_event(first):
        return SourceKind.IPERF3, read_iperf3(document_of_events(content))
    document = _document(content)
    if is_iperf3(document):
        return SourceKind.IPERF3, read_iperf3(document)
    if is_ndt7(document):
        return SourceKind.NDT7, read_ndt7(document)
    if is_flent(document):
        return SourceKind.FLENT, read_flent(document)
    if document.get("error"):
        raise UnreadableError(f"it holds only an error: {document['error']}")
    raise UnreadableError(f"it is JSON of a kind that is not known; {KNOWN}")


def _json_line(content: bytes) -> object:
    """The first line as JSON, None when it is not a whole object."""
    try:
        return orjson.loads(content.lstrip().split(b"\n", 1)[0])
    except orjson.JSONDecodeError:
        return None


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableError(f"it is not valid JSON ({error})") from error
    if not isinstance(document, Mapping):
        raise UnreadableError("it is JSON but not an object")
    return document
