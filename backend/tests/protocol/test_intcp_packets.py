"""The golden INTCP packets of docs/protocol/intcp, read by a decoder that follows docs/intcp/README.md and not the agent."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).resolve().parents[3] / "docs" / "protocol" / "intcp" / "packets.json"
PACKETS: list[dict[str, Any]] = json.loads(GOLDEN.read_text())
KINDS = {1: "open", 2: "opened", 3: "refused", 4: "interest", 5: "data", 6: "close"}
TAG_BYTES = 12
WORD = 2**64


def stream(seed: int, offset: int, length: int) -> bytes:
    """The content's bytes: splitmix64 of seed and position, eight bytes at a time, the lowest first."""
    content = b""
    for position in range(offset // 8, (offset + length + 7) // 8):
        x = (seed + (position + 1) * 0x9E3779B97F4A7C15) % WORD
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD
        x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
        content += struct.pack("<Q", x ^ x >> 31)
    return content[offset % 8 : offset % 8 + length]


def decode(packet: bytes) -> dict[str, Any]:
    version, kind, flags, flow, sequence, sent_us = struct.unpack_from(">BBHIII", packet)
    assert version == 1
    head = {"kind": kind, "flags": flags, "flow": flow, "sequence": sequence, "sent_us": sent_us}
    return head | BODIES[KINDS[kind]](packet)


def decode_open(packet: bytes) -> dict[str, Any]:
    assert len(packet) == 1200
    run, hop, unit_bytes, salt, cookie, name, length = struct.unpack_from(">QHHI16s16sQ", packet, 16)
    assert not any(packet[72:-TAG_BYTES])
    return {
        "run": run, "hop": hop, "unit_bytes": unit_bytes, "salt": salt,
        "cookie": cookie.hex(), "name": name.hex(), "length": length,
    }  # fmt: skip


def decode_opened(packet: bytes) -> dict[str, Any]:
    assert len(packet) == 60
    salt, yours, echo_us, cookie = struct.unpack_from(">III4x16s", packet, 16)
    return {"salt": salt, "yours": yours, "echo_us": echo_us, "cookie": cookie.hex()}


def decode_refused(packet: bytes) -> dict[str, Any]:
    assert len(packet) == 36
    reason, salt = struct.unpack_from(">H2xI", packet, 16)
    return {"reason": reason, "salt": salt}


def decode_interest(packet: bytes) -> dict[str, Any]:
    assert 52 <= len(packet) <= 512
    rate_kbps, highest, echo_us, ttl, ranges, losts = struct.unpack_from(">IIIBBBx", packet, 16)
    end = 32 + 12 * ranges
    assert len(packet) == max(52, end + 6 * losts + TAG_BYTES)
    return {
        "rate_kbps": rate_kbps, "highest": highest, "echo_us": echo_us, "ttl": ttl,
        "ranges": [list(struct.unpack_from(">QI", packet, 32 + 12 * i)) for i in range(ranges)],
        "losts": [list(struct.unpack_from(">IH", packet, end + 6 * i)) for i in range(losts)],
    }  # fmt: skip


def decode_data(packet: bytes) -> dict[str, Any]:
    offset, length, waiting, echo_us, highest, bits = struct.unpack_from(">QHHIII", packet, 16)
    payload = packet[40 + TAG_BYTES :]
    assert len(payload) == length
    assert payload == stream(1, offset, length)
    return {
        "offset": offset, "length": length, "waiting": waiting, "echo_us": echo_us,
        "interest_highest": highest, "interest_bits": bits, "stream_seed": 1,
    }  # fmt: skip


def decode_close(packet: bytes) -> dict[str, Any]:
    assert len(packet) == 56
    reason, units, again, content_bytes = struct.unpack_from(">H2xQQQ", packet, 16)
    return {"reason": reason, "units": units, "again": again, "bytes": content_bytes}


BODIES = {
    "open": decode_open, "opened": decode_opened, "refused": decode_refused,
    "interest": decode_interest, "data": decode_data, "close": decode_close,
}  # fmt: skip


@pytest.mark.parametrize("golden", PACKETS, ids=lambda golden: golden["name"])
def test_a_second_decoder_reads_the_golden_packets(golden: dict[str, Any]) -> None:
    assert decode(bytes.fromhex(golden["packet"])) == golden["fields"]


def test_there_is_a_golden_packet_of_each_kind() -> None:
    assert {golden["fields"]["kind"] for golden in PACKETS} == set(KINDS)
