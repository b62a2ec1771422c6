"""Unpacking with a limit."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.bounded import unpack
from downlink.domain.errors import InvalidError

PACKERS = [gzip.compress, zstandard.compress]


@given(st.binary(max_size=5_000), st.sampled_from(PACKERS))
def test_unpacking_gives_back_what_was_packed(content: bytes, pack: Callable[[bytes], bytes]) -> None:
    assert unpack(pack(content), len(content)) == content


@pytest.mark.parametrize("pack", PACKERS)
def test_the_limit_is_exact(pack: Callable[[bytes], bytes]) -> None:
    assert len(unpack(pack(b"x" * 1_000), 1_000)) == 1_000
    with pytest.raises(InvalidError, match="unpacks to more"):
        unpack(pack(b"x" * 1_001), 1_000)


@pytest.mark.parametrize("pack", PACKERS)
def test_pieces_one_after_the_other_are_one_content(pack: Callable[[bytes], bytes]) -> None:
    assert unpack(pack(b"one ") + pack(b"two"), 100) == b"one two"


def test_unpacked_content_passes_within_the_limit() -> None:
    assert unpack(b"plain", 5) == b"plain"
    with pytest.raises(InvalidError):
        unpack(b"plain", 4)
