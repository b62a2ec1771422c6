"""A post to an address that somebody typed: to checked addresses alone, without redirects, within seconds."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address

import httpx

from downlink.courier.patience import within
from downlink.domain.delivery import Address, Networks, Outcome, is_named, may_be_called

LONGEST_S = 10.0
"""From the look at the name to the head of the answer, all tries of addresses included."""
MOST_ADDRESSES = 3
Resolve = Callable[[str, int], list[Address]]


class RefusedError(Exception):
    """The server does not call this."""


def resolve(host: str, port: int) -> list[Address]:
    """OSError where the name has no address."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(each[4][0])) for each in found))


def post(
    url: str, headers: Mapping[str, str], body: bytes, allowed: Networks, find: Resolve = resolve, longest_s: float = LONGEST_S
) -> Outcome:  # fmt: skip
    """Post JSON, once. What is answered beyond its status is not read: it could be anything, of any size."""
    until = time.monotonic() + longest_s
    try:
        called = httpx.URL(url)
        addresses = within(longest_s, lambda: _checked(called, allowed, find))
        status = asyncio.run(_post(called, addresses, headers, body, until - time.monotonic()))
    except RefusedError as error:
        return Outcome(False, str(error), is_final=True)
    except (TimeoutError, httpx.TimeoutException):
        return Outcome(False, f"No answer within {longest_s:g} s.")
    except httpx.ConnectError as error:
        return Outcome(False, f"No connection: {error}.")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Outcome(False, f"No HTTP answer ({type(error).__name__}).")
    return _outcome(status)


def _outcome(status: int) -> Outcome:
    if 200 <= status < 300:
        return Outcome(True, f"Answered {status}.")
    if 300 <= status < 400:
        is_final = status in (httpx.codes.MOVED_PERMANENTLY, httpx.codes.PERMANENT_REDIRECT)
        said = f"Answered {status}, a redirect, which is not followed: enter the final address."
        return Outcome(False, said, is_final)
    return Outcome(False, f"Answered {status}.", is_final=status == httpx.codes.GONE)


async def _post(
    url: httpx.URL, addresses: list[Address], headers: Mapping[str, str], body: bytes, longest_s: float
) -> int:
    # Without the environment's proxies: they would call what was never checked.
    options = {"trust_env": False, "follow_redirects": False, "timeout": longest_s}
    async with asyncio.timeout(longest_s), httpx.AsyncClient(verify=ssl.create_default_context(), **options) as client:  # type: ignore[arg-type]
        for is_last, address in ((address is addresses[-1], address) for address in addresses):
            try:
                return await _status(client, url, address, headers, body)
            except httpx.ConnectError:
                if is_last:
                    raise
    raise AssertionError("unreachable")


def _checked(url: httpx.URL, allowed: Networks, find: Resolve) -> list[Address]:
    """Where the name leads now, each of which may be called. The connection is made to these, so that a second look at the name,
    which could be answered otherwise, never happens."""
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        addresses = find(url.host, port)[:MOST_ADDRESSES]
    except (OSError, UnicodeError):
        raise httpx.ConnectError("the name of the host is not known") from None
    if not addresses:
        raise httpx.ConnectError("the name of the host has no address")
    if not all(may_be_called(address, allowed) for address in addresses):
        raise RefusedError(
            "The address leads into a network that is not public. An admin may allow it with DOWNLINK_NOTIFY_ALLOW."
        )
    if url.scheme != "https" and not all(is_named(address, allowed) for address in addresses):
        raise RefusedError("Outside of the networks in DOWNLINK_NOTIFY_ALLOW only https is called.")
    return addresses


async def _status(
    client: httpx.AsyncClient, url: httpx.URL, address: Address, headers: Mapping[str, str], body: bytes
) -> int:
    """The certificate is still checked for the name."""
    sent = {**headers, "host": url.netloc.decode("ascii"), "content-type": "application/json", "user-agent": "Downlink"}
    request = client.build_request(
        "POST", url.copy_with(host=str(address)), headers=sent, content=body, extensions={"sni_hostname": url.host}
    )
    answer = await client.send(request, stream=True)
    await answer.aclose()
    return answer.status_code
