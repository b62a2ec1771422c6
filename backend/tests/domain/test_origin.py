"""What one host cannot change about where it calls from."""

from __future__ import annotations

import pytest

from downlink.domain.origin import origin_of


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::1", "::/64"),
        ("unix", "unix"),
    ],
)
def test_an_ipv6_host_is_its_network_and_a_mapped_address_the_host_itself(address: str, origin: str) -> None:
    assert origin_of(address) == origin
