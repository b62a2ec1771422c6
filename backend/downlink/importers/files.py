"""Any importable file: find out what it is, read its tests, or refuse it with a sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from downlink.domain.errors import InvalidError
from downlink.domain.partial import LeftOut, told
from downlink.importers.ack_csv import (
    header_of,
    is_ack_csv,
    is_downlink_csv,
    missing_columns,
    plain_table,
    read_ack_csv,
    read_downlink_csv,
)
from downlink.importers.documents import (
    as_utf8,
    documents_in,
    from_first_object,
    has_many_values,
    parsed_line,
    repaired_json,
    too_many_values,
)
from downlink.importers.flent import is_flent, read_flent
from downlink.importers.foreign import (
    KNOWN,
    sentence_for_document,
    sentence_for_magic,
    sentence_for_table,
    sentence_for_text,
)
from downlink.importers.iperf3 import documents_of_events, is_iperf3, is_stream_event, read_iperf3
from downlink.importers.model import Content, ImportedTrace, SourceKind, UnreadableError, refused
from downlink.importers.ndt7 import is_ndt7, read_ndt7
from downlink.importers.packing import Member, members
from downlink.importers.reading import checked_start
from downlink.importers.tcp_info import is_tcp_info, read_tcp_info

MAX_FILE_BYTES = 256 * 2**20
MAX_UNPACKED_BYTES = 512 * 2**20
MAX_PATH_CHARS = 120

Found = ImportedTrace | InvalidError
Reader = Callable[[], Content]
Document = Mapping[str, Any]

_DOCUMENTS: tuple[tuple[Callable[[Document], bool], SourceKind, Callable[[Document], Content]], ...] = (
    (is_iperf3, SourceKind.IPERF3, read_iperf3),
    (is_ndt7, SourceKind.NDT7, read_ndt7),
    (is_flent, SourceKind.FLENT, read_flent),
)


def import_file(name: str, packed: bytes, now: datetime | None = None) -> ImportedTrace:
    """The one test that a file holds. Raises InvalidError `import_refused` that names file and reason."""
    found = list(traces_in(name, packed, now))
    if error := next((each for each in found if isinstance(each, InvalidError)), None):
        raise error
    if len(found) > 1:
        raise refused(name, f"it holds {len(found)} tests; give them one at a time")
    return next(each for each in found if isinstance(each, ImportedTrace))


def traces_in(name: str, packed: bytes, now: datetime | None = None, *, is_strict: bool = False) -> Iterator[Found]:
    """Every test of a file, plain, compressed or an archive, each read or refused (InvalidError `import_refused`).

    name: what to call the file. now: no test starts later; None asks nothing. is_strict: a test of which a part cannot be used
    is refused.
    """
    if len(packed) > MAX_FILE_BYTES:
        yield refused(name, f"it is larger than {MAX_FILE_BYTES // 2**20} MiB")
        return
    try:
        for member in members(packed, MAX_UNPACKED_BYTES):
            label = name if member.path is None else f"{name}: {_shown(member.path)}"
            yield from _tests_of(member, label, now, is_strict=is_strict)
    except InvalidError as error:
        yield refused(name, error.message)
    except UnreadableError as error:
        yield refused(name, str(error))


def _shown(path: str) -> str:
    """A path inside an archive as a label; it opens nothing."""
    return (_printable(path) or "a file without a name")[-MAX_PATH_CHARS:]


def _tests_of(member: Member, name: str, now: datetime | None, *, is_strict: bool) -> Iterator[Found]:
    try:
        kind, readers = _readers(as_utf8(member.content))
    except UnreadableError as error:
        yield refused(name, str(error))
        return
    for place, (read, own) in enumerate(readers, start=1):
        is_one = len(readers) == 1
        digest = hashlib.sha256(member.packed if is_one else own).hexdigest()
        label = name if is_one else f"{name} ({place} of {len(readers)})"
        yield _read(kind, label, digest, read, now, is_strict=is_strict)


def _read(kind: SourceKind, name: str, digest: str, read: Reader, now: datetime | None, *, is_strict: bool) -> Found:
    try:
        content = read()
        if is_strict and content.left_out:
            raise UnreadableError("; ".join(told(content.left_out)))
        started_at = content.started_at if now is None else checked_start(content.started_at, now)
    except UnreadableError as error:
        return refused(name, str(error))
    shown = replace(
        content,
        started_at=started_at,
        test=_printable(content.test),
        failure=_printable(content.failure),
        left_out=tuple(_shown_part(each) for each in content.left_out),
    )
    return ImportedTrace(kind, name, digest, shown)


def _shown_part(part: LeftOut) -> LeftOut:
    return LeftOut(*(_printable(each) or "" for each in (part.what, part.place, part.reason)))


def _printable(text: str | None) -> str | None:
    """What a stranger wrote, as it can be shown and stored."""
    return "".join(c for c in text if c.isprintable()) or None if text else None


Readers = tuple[SourceKind, list[tuple[Reader, bytes]]]


def _readers(content: bytes) -> Readers:
    """What a text is, and a reader for each of its tests with the bytes that it reads."""
    if not content or content.isspace():
        raise UnreadableError("it is empty")
    if sentence := sentence_for_magic(content):  # before a brace in the middle of it is looked at
        raise UnreadableError(sentence)
    text = content.lstrip(b"\x1e \t\r\n")
    if text.startswith((b"{", b"[")):
        return _json_or_named(text, content)
    content = plain_table(content)
    header = header_of(content)
    if is_ack_csv(header):
        return SourceKind.ACK_CSV, [(lambda: read_ack_csv(content), content)]
    if is_downlink_csv(header):
        return SourceKind.DOWNLINK_CSV, [(lambda: read_downlink_csv(content), content)]
    if objects := from_first_object(content):
        return _json_or_named(objects, content)
    raise UnreadableError(sentence_for_text(content) or _unknown_text(header))


def _unknown_text(header: list[str]) -> str:
    if missing := missing_columns(header):
        return (
            f"it looks like a per-ACK log, but lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
        )
    return sentence_for_table(header) or f"its format is not known; {KNOWN}"


def _json_or_named(text: bytes, content: bytes) -> Readers:
    """A page or a log with a brace or a bracket in it is named for what it is."""
    try:
        return _json_readers(text)
    except UnreadableError as error:
        raise UnreadableError(sentence_for_text(content) or str(error)) from error


def _json_readers(content: bytes) -> Readers:
    """Objects per line, or documents one after the other. Only snapshots are parsed line by line: the rest is held as a whole."""
    if has_many_values(content):
        if is_tcp_info(_object(content[: content.find(b"\n") + 1])):
            return SourceKind.TCP_INFO, [(lambda: read_tcp_info(content), content)]
        raise too_many_values()
    whole = _object(content)
    if isinstance(whole, Mapping) and not (is_tcp_info(whole) or is_stream_event(whole)):
        kind, read = _kind_of(whole)
        return kind, [(_reader(read, whole), content)]
    first = _object(content[: content.find(b"\n") + 1]) if whole is None else whole
    if is_tcp_info(first):
        return SourceKind.TCP_INFO, [(lambda: read_tcp_info(content), content)]
    if is_stream_event(first):
        events = list(documents_of_events(content))
        return SourceKind.IPERF3, [(_reader(read_iperf3, each), orjson.dumps(each)) for each in events]
    texts = _each_once(_texts(content, whole)) or [content]
    kind, read = _kind_of(_document(texts[0]))
    return kind, [(_document_reader(kind, read, text), text) for text in texts]


def _texts(content: bytes, whole: object) -> list[bytes]:
    """The documents' own bytes; of an array in which they do not begin lines, as they are written again."""
    texts = documents_in(content)
    return [orjson.dumps(each) for each in whole] if isinstance(whole, list) and len(whole) > len(texts) else texts


def _each_once(texts: list[bytes]) -> list[bytes]:
    """Without the repetitions of iperf3 of mid 2024, which wrote each document twice. Tests that failed at once may be equal."""
    return [text for place, text in enumerate(texts) if not place or text != texts[place - 1] or b'"error"' in text]


def _reader(read: Callable[[Document], Content], document: Document) -> Reader:
    return lambda: read(document)


def _document_reader(kind: SourceKind, read: Callable[[Document], Content], text: bytes) -> Reader:
    """Parses when it is used: one document of a long log is held at a time."""

    def reader() -> Content:
        document = _document(text)
        if _kind_of(document)[0] is not kind:
            raise UnreadableError(f"it is of another kind than the first in its file, which is {kind}")
        return read(document)

    return reader


def _kind_of(document: Document) -> tuple[SourceKind, Callable[[Document], Content]]:
    for is_kind, kind, read in _DOCUMENTS:
        if is_kind(document):
            return kind, read
    if sentence := sentence_for_document(document):
        raise UnreadableError(sentence)
    if document.get("error"):
        raise UnreadableError(f"it holds only an error: {str(document['error'])[:300]}")
    raise UnreadableError(f"it is JSON of a kind that is not known; {KNOWN}")


def _object(text: bytes) -> object:
    """A text as JSON, None when it is none, or more than is read."""
    try:
        return parsed_line(text)
    except (orjson.JSONDecodeError, UnreadableError):
        return None


def _document(text: bytes) -> Document:
    try:
        document = repaired_json(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is not valid JSON ({error})") from error
    if not isinstance(document, Mapping):
        raise UnreadableError("it is JSON but not an object")
    return document
