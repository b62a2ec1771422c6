"""JSON as PostgreSQL keeps it: numbers of any length, where a reader has 64 bits and doubles."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

LONGEST = re.compile(r"\d{19}")
"""2^63 has 19 digits: what has no such run of digits can be read as it is."""
MOST = 2**63 - 1


def read_json(stored: str | bytes) -> Any:
    """Return the value; a number beyond 64 bits as the greatest one of its sign.

    Rows that hold one were written before writers had bounds. They must open, so that somebody can look and remove them.
    """
    text = stored.decode() if isinstance(stored, bytes) else stored
    if LONGEST.search(text) is None:
        return orjson.loads(text)  # campaigns have tens of thousands of JSON values
    return json.loads(text, parse_int=_whole, parse_float=_real)


def _whole(digits: str) -> int:
    if len(digits) > 20:  # int() refuses thousands of digits, and is quadratic before that
        return -MOST if digits.startswith("-") else MOST
    return max(-MOST, min(MOST, int(digits)))


def _real(digits: str) -> float:
    return max(-float(MOST), min(float(MOST), float(digits))) if len(digits.partition(".")[0]) > 19 else float(digits)
