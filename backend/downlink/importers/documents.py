"""The JSON documents in a text: one, several one after the other (`iperf3 -J >> log`), with other text before, between and after them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from downlink.importers.model import UnreadableError

MAX_DOCUMENTS = 500
MAX_VALUES = 8_000_000
"""Three days of `iperf3 -J` at a second. A value takes up to 150 bytes of memory, and may be written with three."""
_REPORT = rb'\{(?=\s*+"start"\s*+:\s*+\{)'
OPENING = re.compile(rb"^[ \t]*+\{|" + _REPORT, re.MULTILINE)
"""Beginnings of a document: a brace that begins a line, or iperf3's report, also behind other text: `^C{`, `run 2:
{`."""
FRESH = re.compile(rb"^\{|" + _REPORT, re.MULTILINE)
"""Beginnings that also count where the document before was cut off."""
KEY = re.compile(rb'"[ \t]*+:[ \t]*+\Z')
MAX_BLANKS = 64
NO_TEXT = b" \t\r\n,[]"
BETWEEN = re.compile(rb"[ \t\r\n,]*+")
# A string that never ends is one token to the end of the text: each byte is looked at once, whatever the text.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}]', re.DOTALL)


def has_many_values(text: bytes) -> bool:
    """Return whether a JSON text may hold more values than are read: each follows a comma or an opening bracket."""
    return sum(text.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES


def parsed_line(line: bytes) -> object:
    """A line of JSON. Raises ValueError when it is none, UnreadableError for more than is read."""
    if has_many_values(line):
        raise too_many_values()
    return repaired_json(line)


_WINDOWS = rb"nan(?:\(\w*+\))?|1\.\#[a-z]++\d*+"
NO_NUMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|(?P<before>[:,\[]\s*+)[+-]?(?:inf(?:inity)?|' + _WINDOWS + rb")(?=\s*[,}\]])"
    rb"|(?P<power>\d[eE]) (?=\d)",
    re.IGNORECASE | re.DOTALL,
)
"""Texts that C programs print for a number that is none (on Windows `-1.#IND`, `-nan(ind)`), outside of strings, and a power of
ten whose plus sign was lost."""
NO_NUMBER_HINT = re.compile(rb"[:,\[]\s*+[+-]?(?:nan|inf|1\.\#)|\d[eE] \d", re.IGNORECASE)
BOTH_WAYS = ("sum_sent", "sum_received", "sum")
"""iperf3 3.7 to 3.10 writes these twice for `--bidir`: of the client's sending, then of the other way."""


def repaired_json(text: bytes) -> Any:
    """Parse JSON, also with nan and inf, which become null, and with iperf3's totals of two directions under one key.

    Raises ValueError for what is none.
    """
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "enough memory" in str(error):  # which orjson calls an error of the text
            raise MemoryError from error
        if not NO_NUMBER_HINT.search(text):  # a log of many documents comes here too, and is long
            raise
        text = NO_NUMBER.sub(_as_json, text)
        document = orjson.loads(text)
    has_two_totals = text.count(b'"sum_sent"') > 1 + text.count(b'"server_output_json"')
    return json.loads(text, object_pairs_hook=_apart) if has_two_totals else document


def _as_json(match: re.Match[bytes]) -> bytes:
    if match["before"] is not None:
        return match["before"] + b"null"
    return match["power"] + b"+" if match["power"] else match[0]


def _apart(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose second total of one name is the other direction's, as later versions of iperf3 call it."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        made[f"{name}_bidir_reverse" if name in BOTH_WAYS and name in made else name] = value
    return made


def too_many_values() -> UnreadableError:
    return UnreadableError(f"it holds more than {MAX_VALUES} values; split it, or record at longer intervals")


def as_utf8(content: bytes) -> bytes:
    """Text without its byte-order mark; PowerShell redirects output as UTF-16."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16").encode()
        except UnicodeDecodeError:
            return content
    return content.removeprefix(b"\xef\xbb\xbf")


def from_first_object(content: bytes) -> bytes | None:
    """The text from the first brace on that opens a line or a report of iperf3; None when there is none."""
    start = _beginning(content, OPENING, 0, len(content))
    return None if start is None else content[start:]


def documents_in(content: bytes) -> list[bytes]:
    """The text of each document, of which any may be cut off."""
    spans = []
    for span in _spans(content):
        spans.append(span)
        if len(spans) > MAX_DOCUMENTS:
            raise UnreadableError(f"it holds more than {MAX_DOCUMENTS} tests; split it")
    return [content[start:end] for start, end in spans]


def first_of(content: bytes) -> object:
    """The first object of a text that can be parsed, None where there is none."""
    for start, end in _spans(content):
        try:
            return repaired_json(content[start:end])
        except (ValueError, RecursionError):
            continue
    return None


def lines_of(content: bytes) -> bytes:
    """The objects of a text, each on one line: the one where it begins. Other text between them stays."""
    parts: list[bytes] = []
    at = line_ends = 0
    for start, end in _spans(content):
        between, text = _text_or_line_ends(content[at:start]), content[start:end]
        if parts and not line_ends and b"\n" not in between:
            line_ends = 1
        parts += [b"\n" * line_ends, between, text.replace(b"\n", b" ")]
        at, line_ends = end, text.count(b"\n")
    if at < len(content):
        parts += [b"\n" * line_ends, _text_or_line_ends(content[at:])]
    return b"".join(parts)


def _text_or_line_ends(between: bytes) -> bytes:
    """Return the text between objects, without the signs of an array."""
    return between if between.strip(NO_TEXT) else b"\n" * between.count(b"\n")


def _spans(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where documents begin and end. A truncated one seems to contain the following ones; then each ends where the next begins."""
    start, limit, cut_to = _next_opening(content, 1 if content.startswith(b"[") else 0), 0, 0
    while start is not None:
        if start < cut_to and limit <= start:  # each byte is looked at a few times at most, however many were cut off
            limit = _beginning(content, FRESH, start + 1, cut_to) or 0
            cut_to = cut_to if limit else 0
        end = _end(content, start, limit if start < cut_to else len(content))
        if start >= cut_to and _beginning(content, FRESH, start + 1, end) and not _is_json(content[start:end]):
            limit, cut_to = 0, end
        else:
            yield start, end
            start = _next_opening(content, end)


def _end(content: bytes, start: int, limit: int) -> int:
    """Return where the object ends that begins at start: braces are counted, except those in strings."""
    depth = 0
    for token in TOKEN.finditer(content, start, limit):
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return limit


def _is_json(text: bytes) -> bool:
    try:
        repaired_json(text)
    except (ValueError, RecursionError):
        return False
    return True


def _next_opening(content: bytes, at: int) -> int | None:
    """The next brace that opens a document: the very next sign, or one that begins a line or a report."""
    between = BETWEEN.match(content, at)
    after = between.end() if between else at
    return after if content[after : after + 1] == b"{" else _beginning(content, OPENING, at, len(content))


def _beginning(content: bytes, pattern: re.Pattern[bytes], at: int, limit: int) -> int | None:
    """The first match that is no value of a key: a client's report may hold its server's."""
    places = (match.end() - 1 for match in pattern.finditer(content, at, limit))
    return next(
        (position for position in places if not KEY.search(content, max(0, position - MAX_BLANKS), position)), None
    )
