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
OPENING = re.compile(rb"^[ \t]*\{", re.MULTILINE)
BETWEEN = re.compile(rb"[ \t\r\n,]*+")
# A string that never ends is one token to the end of the text: each byte is looked at once, whatever the text.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}]', re.DOTALL)


def has_many_values(text: bytes) -> bool:
    """Whether a JSON text may hold more values than are read: each follows a comma or an opening bracket."""
    return sum(text.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES


def parsed_line(line: bytes) -> object:
    """A line of JSON. Raises ValueError when it is none, UnreadableError for more than is read."""
    if has_many_values(line):
        raise too_many_values()
    return repaired_json(line)


NO_NUMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|(?P<before>[:,\[]\s*+)[+-]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])|(?P<power>\d[eE]) (?=\d)',
    re.IGNORECASE | re.DOTALL,
)
"""What C programs print for a number that is none, outside of strings, and a power of ten whose plus sign was lost."""
NO_NUMBER_HINT = re.compile(rb"[:,\[]\s*+[+-]?(?:nan|inf)|\d[eE] \d", re.IGNORECASE)
BOTH_WAYS = ("sum_sent", "sum_received", "sum")
"""iperf3 3.7 to 3.10 writes these twice for `--bidir`: of the client's sending, then of the other way."""


def repaired_json(text: bytes) -> Any:
    """Parse JSON, also with nan and inf, which become null, and with iperf3's totals of two directions under one key.

    Raises ValueError for what is none.
    """
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "enough memory" in str(error):  # which orjson calls an error of the text
            raise MemoryError from error
        if not NO_NUMBER_HINT.search(text):  # a log of many documents comes here too, and is long
            raise
        text = NO_NUMBER.sub(_as_json, text)
        found = orjson.loads(text)
    has_two_totals = text.count(b'"sum_sent"') > 1 + text.count(b'"server_output_json"')
    return json.loads(text, object_pairs_hook=_apart) if has_two_totals else found


def _as_json(found: re.Match[bytes]) -> bytes:
    if found["before"] is not None:
        return found["before"] + b"null"
    return found["power"] + b"+" if found["power"] else found[0]


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
    """The text from the first line on that opens a JSON object; None when there is none."""
    found = OPENING.search(content)
    return content[found.end() - 1 :] if found else None


def documents_in(content: bytes) -> list[bytes]:
    """The text of each document, the last one perhaps cut off."""
    spans = []
    for span in _spans(content):
        spans.append(span)
        if len(spans) > MAX_DOCUMENTS:
            raise UnreadableError(f"it holds more than {MAX_DOCUMENTS} tests; split it")
    return [content[start:end] for start, end in spans]


def _spans(content: bytes) -> Iterator[tuple[int, int]]:
    """Where documents begin and end: braces are counted, except those in strings."""
    start = _next_opening(content, 0)
    while start is not None:
        depth, end = 0, len(content)
        for token in TOKEN.finditer(content, start):
            depth += {b"{": 1, b"}": -1}.get(token[0], 0)
            if depth == 0:
                end = token.end()
                break
        yield start, end
        start = _next_opening(content, end)


def _next_opening(content: bytes, at: int) -> int | None:
    """The next brace that opens a document: the very next sign, or the first of a line."""
    between = BETWEEN.match(content, at)
    after = between.end() if between else at
    if content[after : after + 1] == b"{":
        return after
    found = OPENING.search(content, at)
    return found.end() - 1 if found else None
