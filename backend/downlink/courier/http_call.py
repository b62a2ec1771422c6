"""Calls to an address that somebody typed: to checked addresses alone, without redirects, within seconds."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TypeVar

import httpx

from downlink.courier.deadline import within
from downlink.domain.notices.delivery import Address, Networks, is_named, may_be_called

LONGEST_S = 10.0
"""Time from the look at the name to the end of the answer's reading, all tries of addresses included."""
MOST_ADDRESSES = 3
Resolve = Callable[[str, int], list[Address]]
T = TypeVar("T")
Read = Callable[[httpx.Response], Awaitable[T]]


class RefusedError(Exception):
    """The server does not call this."""


@dataclass(frozen=True, slots=True)
class Call:
    """variable: the setting that names `allowed`, the networks beside the public internet."""

    method: str
    url: str
    headers: Mapping[str, str]
    allowed: Networks
    variable: str
    body: bytes | None = None


def resolve(host: str, port: int) -> list[Address]:
    """OSError where the name has no address."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(each[4][0])) for each in addresses))


def carry_out(
    call: Call, read: Read[T], find: Resolve, longest_s: float, clock: Callable[[], float] = time.monotonic
) -> T:
    """Return what `read` makes of the answer, whose body is not read before. Raise RefusedError, TimeoutError, httpx.HTTPError or
    httpx.InvalidURL."""
    until = clock() + longest_s
    called = httpx.URL(call.url)
    addresses = within(longest_s, lambda: _checked(called, call, find))
    return asyncio.run(_ask(call, called, addresses, read, until - clock()))


async def _ask(call: Call, url: httpx.URL, addresses: list[Address], read: Read[T], longest_s: float) -> T:
    # Without the environment's proxies: they would call what was never checked.
    options = {"trust_env": False, "follow_redirects": False, "timeout": longest_s}
    async with asyncio.timeout(longest_s), httpx.AsyncClient(verify=ssl.create_default_context(), **options) as client:  # type: ignore[arg-type]
        for is_last, address in ((address is addresses[-1], address) for address in addresses):
            try:
                answer = await client.send(_request(client, call, url, address), stream=True)
            except httpx.ConnectError:
                if is_last:
                    raise
            else:
                try:
                    return await read(answer)
                finally:
                    await answer.aclose()
    raise AssertionError("unreachable")


def _checked(url: httpx.URL, call: Call, find: Resolve) -> list[Address]:
    """Resolve the host's name and check that each address may be called. The connection uses these addresses, so that a second
    lookup, which could give others, never happens."""
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        addresses = find(url.host, port)[:MOST_ADDRESSES]
    except (OSError, UnicodeError):
        raise httpx.ConnectError("the name of the host is not known") from None
    if not addresses:
        raise httpx.ConnectError("the name of the host has no address")
    if not all(may_be_called(address, call.allowed) for address in addresses):
        raise RefusedError(
            f"The address leads into a network that is not public. An admin may allow it with {call.variable}."
        )
    if url.scheme != "https" and not all(is_named(address, call.allowed) for address in addresses):
        raise RefusedError(f"Outside of the networks in {call.variable} only https is called.")
    return addresses


def _request(client: httpx.AsyncClient, call: Call, url: httpx.URL, address: Address) -> httpx.Request:
    """The certificate is still checked for the name."""
    return client.build_request(
        call.method,
        url.copy_with(host=str(address)),
        headers={**call.headers, "host": url.netloc.decode("ascii"), "user-agent": "Downlink"},
        content=call.body,
        extensions={"sni_hostname": url.host},
    )
