"""Good input made bad: a few edits of a piece of a corpus, drawn by Hypothesis, so that a finding is made small and printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from hypothesis import strategies as st

ODD = (
    b"", b"\0", b"\n", b"\r\n", b"\xff" * 8, b"-", b"-1", b"0", b"1e999", b"NaN", b"null", b"true", b"[]", b"{}", b'""', b'"',
    b"\\u0000",    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"1" * 400, b"[" * 300, b"0.1",
    b" " * 200, b"\0\0\0\x80",
    "é\u202e\U0001f600".encode(), b"&a *a", b"!!python/object:os.system", b"<<: *x", b"- " * 50, b": ", b",",
)  # fmt: skip
"""What decoders of numbers, texts and documents stumble over."""
MOST_EDITS = 6


@dataclass(frozen=True)
class Edit:
    """At a share of the content, so much of it is replaced, taken out, repeated, or moved to another share."""

    kind: str
    at: float
    length: int
    content: bytes
    to: float


def edited(content: bytes, edit: Edit) -> bytes:
    begin = int(edit.at * len(content))
    end = min(len(content), begin + edit.length)
    before, middle, after = content[:begin], content[begin:end], content[end:]
    match edit.kind:
        case "put":
            return before + edit.content + after
        case "cut":
            return before
        case "repeat":
            return before + middle * 3 + after
        case "move":
            rest = before + after
            to = int(edit.to * len(rest))
            return rest[:to] + middle + rest[to:]
        case _:
            flipped = bytes(byte ^ (1 << edit.length % 8) for byte in middle[:4])
            return before + flipped + middle[4:] + after


edits = st.builds(
    Edit,
    kind=st.sampled_from(("put", "put", "put", "cut", "repeat", "move", "flip")),
    at=st.floats(0, 1, exclude_max=True),
    length=st.one_of(st.integers(0, 12), st.integers(0, 2_000)),
    content=st.one_of(
        st.sampled_from(ODD), st.binary(max_size=24), st.integers().map(lambda number: str(number).encode())
    ),
    to=st.floats(0, 1),
)


def mutants(corpus: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """A piece of the corpus with some edits, or any bytes at all."""
    changed = st.tuples(st.sampled_from(corpus), st.lists(edits, min_size=1, max_size=MOST_EDITS))
    return st.one_of(changed.map(lambda drawn: reduce(edited, drawn[1], drawn[0])), st.binary(max_size=200))
