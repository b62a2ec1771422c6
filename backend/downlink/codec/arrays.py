"""Thousands of numbers as PostgreSQL sends and receives them in binary: array_send and array_recv (utils/adt/arrayfuncs.c)."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

import numpy as np

HEAD_BYTES = 20
_NUMBERS = np.dtype([("length", ">i4"), ("value", ">f8")])


def pack_array(values: Sequence[float], type_number: int) -> bytes:
    """One dimension without NULL: the number of dimensions, no flags, the type, the length and the first index; then each
    number behind its own length. An empty one has no dimension. type_number: of double precision (pg_type.oid)."""
    head = pack(">iiI", bool(len(values)), 0, type_number)
    if not len(values):
        return head
    numbers = np.empty(len(values), _NUMBERS)
    numbers["length"], numbers["value"] = 8, values
    return head + pack(">ii", len(values), 1) + numbers.tobytes()


def unpack_array(sent: bytes) -> list[float]:
    """Unpack the numbers of pack_array."""
    numbers: list[float] = np.frombuffer(sent[HEAD_BYTES:], _NUMBERS)["value"].tolist()
    return numbers
