"""The gate before what strangers may ask: so many requests of an address."""

from __future__ import annotations

import pytest

from downlink.api.http.gate import MOST_ADDRESSES, Gate
from downlink.domain.errors import DeniedError


def is_open(gate: Gate, address: str, now_s: float) -> bool:
    try:
        gate.check(address, now_s)
    except DeniedError:
        return False
    return True


def test_a_burst_passes_and_then_as_many_as_the_rate() -> None:
    gate = Gate(burst=3, per_s=2)
    assert [is_open(gate, "192.0.2.1", 10.0) for _ in range(5)] == [True, True, True, False, False]
    assert [is_open(gate, "192.0.2.1", 10.5) for _ in range(2)] == [True, False]
    assert [is_open(gate, "192.0.2.1", 1000.0) for _ in range(4)] == [True, True, True, False], (
        "never more than a burst"
    )


def test_each_address_has_its_own_and_an_ipv6_network_one_together() -> None:
    gate = Gate(burst=1, per_s=1)
    assert is_open(gate, "192.0.2.1", 0.0)
    assert is_open(gate, "192.0.2.2", 0.0)
    assert is_open(gate, "2001:db8:1:2::1", 0.0)
    assert not is_open(gate, "2001:db8:1:2:ffff::9", 0.0)
    assert is_open(gate, "2001:db8:1:3::1", 0.0)
    assert is_open(gate, "unix", 0.0)
    assert not is_open(gate, "::ffff:192.0.2.1", 0.0), "the same host by another name"


def test_it_says_when_to_come_back() -> None:
    gate = Gate(burst=1, per_s=0.1)
    gate.check("192.0.2.1", 0.0)
    with pytest.raises(DeniedError) as refused:
        gate.check("192.0.2.1", 5.0)
    assert (refused.value.code, refused.value.details["retry_after_s"]) == ("too_many_requests", 5)


def test_it_remembers_no_more_addresses_than_it_may() -> None:
    gate = Gate(burst=1, per_s=1e-9)
    for number in range(MOST_ADDRESSES + 1):
        gate.check(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 0.0)
    assert is_open(gate, "10.0.0.0", 0.0), "the oldest was forgotten"
    assert not is_open(gate, f"10.0.{MOST_ADDRESSES >> 8}.{MOST_ADDRESSES & 255}", 0.0)
