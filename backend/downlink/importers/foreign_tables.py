"""Tables of other tools: a sentence for each, by its first line."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SUBJECTS = (
    ("TCP", ("cwnd", "ssthresh", "retrans")),
    ("power or voltage", ("power", "watt", "volt", "ampere")),
    ("UDP", ("udp", "lost_packets", "datagram")),
    ("ping or latency", ("ping", "icmp", "latency", "rtt", "jitter")),
)


def sentence_for_table(header: Sequence[str]) -> str | None:
    """Return a sentence for a text that is neither an ACK log nor one of ours, by its first line; None if that is no row of a table."""
    if _JSON_IN_LINE.match(",".join(header)):
        return (
            "it is JSON with other text before it on its lines; remove that text, e.g. the time stamp before each line"
        )
    names = _cells(header)
    is_headless = _are_values(names)
    if len(names) < 2 or not (is_headless or _are_names(names)):
        return None
    words = " ".join(names).lower()
    subject = next((f" of {name}" for name, hints in _SUBJECTS if any(hint in words for hint in hints)), "")
    shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
    told = "without column names" if is_headless else f"with the columns {shown}"
    return (
        f"it is a table{subject} {told}; of tables only per-ACK logs (at least now_us, bytes_acked, mss, rtt_us) "
        "and traces exported by Downlink are read; import what the tool itself wrote, e.g. the output of `iperf3 -J`"
    )


_JSON_IN_LINE = re.compile(r'[^"{]*\{\s*"')
_NAME = re.compile(r"(?:\d*[^\W\d]|[%#(_])(?:[^={}<>:;]|:(?! ))*")
_VALUE = re.compile(r"[+-]?\d[\d.:TZ+\- /]*")
MAX_NAME_CHARS = 60
MOST_WORDS_PER_NAME = 3
"""Words of a header's name on the mean: sentences with commas have more."""


def _cells(header: Sequence[str]) -> list[str]:
    """Split a first line at commas, or at semicolons or tabs if it has none."""
    line = header[0]
    cells = header if len(header) > 1 else line.split(max(";", "\t", key=line.count))
    return [cell for cell in cells if cell.strip(' "')]


def _are_names(cells: Sequence[str]) -> bool:
    names = [cell.strip(' "') for cell in cells]
    are_short = all(name.isprintable() and len(name) < MAX_NAME_CHARS for name in names)
    words = sum(len(name.split()) for name in names)
    return are_short and words <= MOST_WORDS_PER_NAME * len(names) and all(map(_NAME.fullmatch, names))


def _are_values(cells: Sequence[str]) -> bool:
    """Return whether a row begins with a number or a time, and has no sentence behind it."""
    values = [cell.strip(' "') for cell in cells]
    is_value = [_VALUE.fullmatch(value) is not None for value in values]
    return any(is_value[:1]) and all(is_one or " " not in value for is_one, value in zip(is_value, values, strict=True))
