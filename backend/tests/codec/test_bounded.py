"""Unpacking with a limit."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import multiprocessing
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.unpack_limit import unpack
from downlink.domain.errors import InvalidError

pytestmark = pytest.mark.sampled("faults")

PACKERS = [gzip.compress, zstandard.compress, bz2.compress, lzma.compress]


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


def test_content_of_too_many_parts_is_refused() -> None:
    """Each part costs a set-up of the unpacker, however little is in it."""
    assert unpack(gzip.compress(b"", mtime=0) * 1_000 + gzip.compress(b"x"), 1) == b"x"
    with pytest.raises(InvalidError, match="more than 100000 parts"):
        unpack(gzip.compress(b"", mtime=0) * 100_001, 1)


@pytest.mark.parametrize("pack", PACKERS)
def test_content_that_is_cut_off_or_broken_is_refused(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(random.Random(1).randbytes(50_000))
    with pytest.raises(InvalidError, match="ends too early"):
        unpack(packed[:-9], 100_000)
    with pytest.raises(InvalidError, match="is broken"):
        unpack(packed[:6] + b"\xff" * len(packed), 100_000)


def test_xz_streams_may_be_padded() -> None:
    """The .xz file format, 2.2: stream padding is null bytes."""
    assert unpack(lzma.compress(b"one ") + bytes(8) + lzma.compress(b"two") + bytes(4), 100) == b"one two"


MIB = 2**20


def peak_mib(pack: Callable[[bytes], bytes], content_mib: int, limit_mib: int) -> float:
    """How far a process of its own grows while it unpacks, in MiB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_grow, (pack(bytes(content_mib * MIB)), limit_mib))


def _grow(packed: bytes, limit_mib: int) -> float:
    before = _high_water_mib()
    with contextlib.suppress(InvalidError):
        unpack(packed, limit_mib * MIB)
    return _high_water_mib() - before


def _high_water_mib() -> float:
    """proc(5), VmHWM."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


@pytest.mark.parametrize("pack", PACKERS)
def test_content_within_the_limit_is_held_once(pack: Callable[[bytes], bytes]) -> None:
    # Held twice, it would be 300; the buffer grows by an eighth at a time, and an unpacker has up to 30 of its own.
    assert 150 < peak_mib(pack, 150, 160) < 1.5 * 150


@pytest.mark.parametrize("pack", PACKERS)
def test_content_beyond_the_limit_takes_no_memory(pack: Callable[[bytes], bytes]) -> None:
    """2 GiB of zeros are 65 kB of zstd, and a part of that at once."""
    assert peak_mib(pack, 400, 160) < 40
