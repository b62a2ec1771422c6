"""The origin of a request, which one host cannot vary freely: limits for unknown callers count by it."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

NETWORK_BITS = 64
"""An IPv6 host has a network of this prefix to itself, and may call from each of its addresses (RFC 6177, section 2)."""


def origin_of(address: str) -> str:
    """Return an IPv4 address, the network of an IPv6 one as `2001:db8:1:2::/64`, or what is no address as it is."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return str(ip)
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    kept = int(ip) >> (128 - NETWORK_BITS) << (128 - NETWORK_BITS)
    return f"{IPv6Address(kept)}/{NETWORK_BITS}"
