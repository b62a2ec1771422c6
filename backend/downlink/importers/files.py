"""Any importable file: find out what it is, read its tests, or refuse it with a sentence."""

from __future__ import annotations

import hashlib
import re
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
from downlink.importers.containers import Member, members
from downlink.importers.documents import (
    as_utf8,
    documents_in,
    first_of,
    from_first_object,
    has_many_values,
    lines_of,
    parsed_line,
    repaired_json,
    too_many_values,
)
from downlink.importers.flent import is_flent, read_flent
from downlink.importers.foreign import KNOWN, sentence_for_document, sentence_for_magic, sentence_for_text
from downlink.importers.foreign_tables import sentence_for_table
from downlink.importers.iperf3 import is_iperf3, read_iperf3
from downlink.importers.iperf3_stream import documents_of_events, is_stream_event
from downlink.importers.model import Content, ImportedTrace, SourceKind, UnreadableError, refused
from downlink.importers.ndt7 import is_ndt7, read_ndt7
from downlink.importers.tcp_info import is_tcp_info, read_tcp_info
from downlink.importers.value_checks import SAY_START, checked_start

MAX_FILE_BYTES = 256 * 2**20
MAX_UNPACKED_BYTES = 512 * 2**20
MAX_PATH_CHARS = 120
CUT_OFF = "it was cut off: fetch the file again, or repeat the test"
CHANGED = "import it as the tool wrote it, or repeat the test"
FIRST_ON_LINE = re.compile(rb"\[\s*\n\s*\{")

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
    traces = list(traces_in(name, packed, now))
    if error := next((each for each in traces if isinstance(each, InvalidError)), None):
        raise error
    if len(traces) > 1:
        raise refused(name, f"it holds {len(traces)} tests; give them one at a time")
    return next(each for each in traces if isinstance(each, ImportedTrace))


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
    for number, (read, own) in enumerate(readers, start=1):
        is_one = len(readers) == 1
        digest = hashlib.sha256(member.packed if is_one else own).hexdigest()
        label = name if is_one else f"{name} ({number} of {len(readers)})"
        yield _read(kind, label, digest, read, now, is_strict=is_strict)


def _read(kind: SourceKind, name: str, digest: str, read: Reader, now: datetime | None, *, is_strict: bool) -> Found:
    try:
        content = read()
        started_at, unknown = _started_at(content, now)
        left_out = (*content.left_out, *unknown)
        if is_strict and left_out:
            raise UnreadableError("; ".join(told(left_out)))
    except UnreadableError as error:
        return refused(name, str(error))
    shown = replace(
        content,
        started_at=started_at,
        test=_printable(content.test),
        failure=_printable(content.failure),
        left_out=tuple(_shown_part(each) for each in left_out),
    )
    return ImportedTrace(kind, name, digest, shown)


def _started_at(content: Content, now: datetime | None) -> tuple[datetime | None, tuple[LeftOut, ...]]:
    """Return when a test began; None, and the reason, for an impossible time."""
    try:
        return content.started_at if now is None else checked_start(content.started_at, now), ()
    except UnreadableError as error:
        reason = str(error).removeprefix("its start is ")
        return None, (LeftOut("", "its start", f"{reason}; {SAY_START}"),)


def _shown_part(part: LeftOut) -> LeftOut:
    return LeftOut(*(_printable(each) or "" for each in (part.what, part.place, part.reason)))


def _printable(text: str | None) -> str | None:
    """Return the printable characters of a text; None without any."""
    return "".join(c for c in text if c.isprintable()) or None if text else None


Readers = tuple[SourceKind, list[tuple[Reader, bytes]]]


def _readers(content: bytes) -> Readers:
    """Identify a text; return a reader for each of its tests, with the bytes that it reads."""
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
    if isinstance(whole, Mapping) and not _is_of_many(whole):
        kind, read = _kind_of(whole)
        return kind, [(_reader(read, whole), content)]
    first, lines = _by_line(content, whole)
    if is_tcp_info(first):
        return SourceKind.TCP_INFO, [(lambda: read_tcp_info(lines), content)]
    if is_stream_event(first):
        events = list(documents_of_events(lines))
        return SourceKind.IPERF3, [(_reader(read_iperf3, each), orjson.dumps(each)) for each in events]
    texts = _each_once(_texts(content, whole)) or [content]
    kind, read = _first_kind(texts)
    return kind, [(_document_reader(kind, read, text), text) for text in texts]


def _is_of_many(document: object) -> bool:
    """Return whether an object is one of those that make a test together, each on its line."""
    return is_tcp_info(document) or is_stream_event(document)


def _by_line(content: bytes, whole: object) -> tuple[object, bytes]:
    """The first object and the text, with an object per line. `jq` writes them over several lines, or as an array."""
    line = _object(content[: content.find(b"\n") + 1] or content)
    if _is_of_many(line):
        return line, content
    first = whole[0] if isinstance(whole, list) and whole else first_of(content)
    return first, lines_of(content) if _is_of_many(first) else content


def _first_kind(texts: list[bytes]) -> tuple[SourceKind, Callable[[Document], Content]]:
    """Return the kind of the first document that can be read. Raise the first one's UnreadableError if none can."""
    first: UnreadableError | None = None
    for text in texts:
        try:
            return _kind_of(_document(text))
        except UnreadableError as error:
            first = first or error
    raise first or UnreadableError("it holds no document")


def _texts(content: bytes, whole: object) -> list[bytes]:
    """The documents' own bytes; of an array in which they do not begin lines, as they are written again."""
    if not isinstance(whole, list):
        return documents_in(content)
    texts = documents_in(content) if FIRST_ON_LINE.match(content) else []
    return [orjson.dumps(each) for each in whole] if len(whole) > len(texts) else texts


def _each_once(texts: list[bytes]) -> list[bytes]:
    """Drop the repetitions of iperf3 of mid 2024, which wrote each document twice. Tests that failed at once may be equal."""
    return [text for index, text in enumerate(texts) if not index or text != texts[index - 1] or b'"error"' in text]


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
        way = CUT_OFF if "end of data" in str(error) else CHANGED
        raise UnreadableError(f"it is not valid JSON ({error}); {way}") from error
    if not isinstance(document, Mapping):
        raise UnreadableError("it is JSON but not an object")
    return document
