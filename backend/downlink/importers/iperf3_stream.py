"""Streams of iperf3 (`--json-stream`), an event in each line, to the documents that `-J` would have written."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from downlink.domain.partial import LeftOut
from downlink.importers.documents import repaired_json
from downlink.importers.model import UnreadableError

MAX_OTHER_LINES = 1_000_000
BROKEN, PASSED_OVER = "broken_line", "passed_over_lines"
"""Keys of a stream in its document: the number of the first such line; how many lines follow it, or how many there
are."""
OWN = {"intervals", "is_stream", "is_cut", BROKEN, PASSED_OVER}
EVENT = re.compile(rb'\{\s*+"event"\s*+:')


def is_stream_event(first_line: object) -> bool:
    return isinstance(first_line, Mapping) and "event" in first_line and "data" in first_line


class _Line(NamedTuple):
    """A line of a stream: an event, or what is none. is_broken: it begins like an event. is_last: without a line end."""

    number: int
    event: Mapping[str, Any] | None = None
    is_broken: bool = False
    is_last: bool = False


def documents_of_events(content: bytes) -> Iterator[dict[str, Any]]:
    """The documents that the same tests would have written without `--json-stream`.

    Each begins with an event `start`, or with the `error` of a test that could not start. Lines that are no events are passed
    over and counted. A broken event ends its test: what follows it may be of another one.
    """
    document: dict[str, Any] | None = None
    for line in _bounded(_lines(content)):
        name = str(line.event.get("event")) if line.event is not None else ""
        if document is None or _begins_another(document, name):
            if document is not None:
                yield document
            document = {"intervals": [], "end": {}, "is_stream": True, "is_cut": True}
            if name == "error":
                document["start"] = {}
        if line.event is None:
            _count(document, line)
        elif BROKEN in document:
            document[BROKEN][1] += 1
        else:
            _add(document, name, line.event.get("data"))
    if document is not None:
        yield document


def _bounded(lines: Iterator[_Line]) -> Iterator[_Line]:
    others = 0
    for line in lines:
        others += line.event is None
        if others > MAX_OTHER_LINES:
            raise UnreadableError(f"more than {MAX_OTHER_LINES} of its lines are no events of iperf3; remove them")
        yield line


def _begins_another(document: Mapping[str, Any], name: str) -> bool:
    """Behind its end a test has no interval and no error, and it has one error at most."""
    is_over = not document["is_cut"] or (name == "error" and "error" in document)
    return name == "start" or (is_over and name in ("interval", "error"))


def _add(document: dict[str, Any], name: str, data: object) -> None:
    if name == "interval":
        document["intervals"].append(data)
    elif name not in OWN:
        document[name] = data
        document["is_cut"] = document["is_cut"] and name != "end"


def _count(document: dict[str, Any], line: _Line) -> None:
    """Note a line that is no event. The last line of a test without an end is where iperf3 was killed: that is said of it."""
    if line.is_last and document["is_cut"]:
        return
    is_end = line.is_broken and document["is_cut"]
    document.setdefault(BROKEN if is_end else PASSED_OVER, [line.number, 0])
    if not is_end:
        document[PASSED_OVER][1] += 1


def _lines(content: bytes) -> Iterator[_Line]:
    """The events, and what is none; an event may stand behind text, or behind one that was cut off."""
    for number, text in enumerate(io.BytesIO(content), start=1):
        if (event := _event(text)) is not None:
            yield _Line(number, event)
        elif text.strip():
            *_, begin = 0, *(match.start() for match in EVENT.finditer(text))
            event = _event(text[begin:]) if begin else None
            is_broken = text.lstrip().startswith(b"{")
            if is_broken or event is None:
                yield _Line(number, None, is_broken, is_last=event is None and not text.endswith(b"\n"))
            if event is not None:
                yield _Line(number, event)


def _event(text: bytes) -> Mapping[str, Any] | None:
    if b'"event"' not in text:  # most other text: a parser's refusal takes longer
        return None
    try:
        document = repaired_json(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) and "event" in document else None


def lines_left_out(document: Mapping[str, Any]) -> Iterator[LeftOut]:
    """Name the lines of a stream that count nothing in its document."""
    if noted := _noted(document, BROKEN):
        first, events = noted
        s = "s" if events > 1 else ""
        behind = f"; what its test says behind it is left out ({events} event{s})" if events else ""
        yield LeftOut("", f"line {first} of the stream", f"it is broken JSON{behind}")
    if noted := _noted(document, PASSED_OVER):
        first, lines = noted
        more = f"; so are {lines - 1} more" if lines > 1 else ""
        yield LeftOut("", f"line {first} of the stream", f"it is no event of iperf3 and is passed over{more}")


def broken_at(document: Mapping[str, Any]) -> int | None:
    """Return the line of a broken event behind which the test's stream goes on; None where there is none."""
    noted = _noted(document, BROKEN)
    return noted[0] if noted and noted[1] else None


def _noted(document: Mapping[str, Any], name: str) -> tuple[int, int] | None:
    """Return the pair that `documents_of_events` noted under a name; other documents may have any key."""
    noted = document.get(name) if document.get("is_stream") else None
    is_ours = isinstance(noted, list) and len(noted) == 2 and all(type(each) is int for each in noted)
    return (noted[0], noted[1]) if is_ours and noted else None
