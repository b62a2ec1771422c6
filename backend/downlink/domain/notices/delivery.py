"""Delivery of a notice: allowed addresses, message format, signature and retries."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from downlink.domain.errors import InvalidError

MOST_TRIES = 7
FIRST_PAUSE = timedelta(seconds=30)
"""Pause from the beginning of the first try to the second: longer than any try lasts."""
MOST_URL = 2000
Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]
_NAT64 = ip_network("64:ff9b::/96")
_SPECIAL = tuple(
    ip_network(each)
    for each in (
        "192.88.99.0/24",  # once 6to4 relays (RFC 7526)
        "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
        "64:ff9b:1::/48",  # translated within a site, in ways that the site chooses (RFC 8215)
        "100::/64", "2001::/23", "3fff::/20", "5f00::/16", "fec0::/10",
    )
)  # fmt: skip
"""Networks of IANA's registries of special addresses; `ipaddress` calls some of them global, and which ones depends
on Python's version."""

LOCALHOST = (ip_address("127.0.0.1"), ip_address("::1"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """detail: a sentence without addresses and secrets, for the page and the log. is_final: another try would end the same way."""

    is_sent: bool
    detail: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A notice on its way. id: the same in every try, so that a receiver recognises repetitions."""

    id: str
    type: str
    at: str
    title: str
    text: str
    url: str
    data: Mapping[str, Any]


def next_try_at(tries: int, now: datetime) -> datetime:
    """Return when a notice is due again after so many tries: after 30 s, then four times as long each time, 11 hours in all."""
    pause: timedelta = FIRST_PAUSE * 4 ** (tries - 1)
    return now + pause


def networks_of(text: str) -> Networks:
    """`10.0.0.0/8, fd00::/8`. ValueError for anything else."""
    return [ip_network(each.strip()) for each in text.split(",") if each.strip()]


def is_named(address: Address, allowed: Networks) -> bool:
    """Return whether the admin has named a network with this address."""
    return any(each in network for network in allowed for each in _faces(address) if each.version == network.version)


def may_be_called(address: Address, allowed: Networks) -> bool:
    """Return whether the server may send to this address: one of the public internet, or in a network that the admin has named."""
    return is_named(address, allowed) or all(_is_public(each) for each in _faces(address))


def _is_public(address: Address) -> bool:
    is_special = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    is_none = address.is_reserved or address.is_unspecified or getattr(address, "is_site_local", False)
    is_listed = any(address in network for network in _SPECIAL if address.version == network.version)
    return address.is_global and not is_special and not is_none and not is_listed


def _faces(address: Address) -> list[Address]:
    """Return the addresses that packets to it reach: IPv6 may carry an IPv4 address."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped or address in _NAT64:
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    return [address, address.sixtofour] if address.sixtofour else [address]


def check_url(url: str) -> None:
    """InvalidError for what no notice can be posted to. Where the name leads is seen when it is called."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _invalid("This is not an address: write https://host/path.") from None
    if len(url) > MOST_URL or any(ord(each) <= 32 or ord(each) == 127 for each in url):
        raise _invalid("An address has no blanks, and at most 2,000 characters.")
    if parts.scheme not in ("https", "http") or not host:
        raise _invalid("The address must begin with https:// and name a host.")
    if port == 0:
        raise _invalid("The address has port 0, which nobody listens on: leave it out or write another one.")
    if parts.username is not None or parts.fragment:
        raise _invalid("The address must have neither a user nor a fragment (#).")


def check_reachable(url: str, allowed: Networks) -> None:
    """InvalidError where it is plain without a look-up that nothing is sent to: addresses in numbers, this host, and http."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removesuffix(".")
    addresses: Sequence[Address]
    try:
        addresses = LOCALHOST if host == "localhost" else (ip_address(host),)
    except ValueError:
        addresses = ()
    if addresses and not any(may_be_called(each, allowed) for each in addresses):
        raise _invalid(f"{host} is not on the public internet: an admin names its network in DOWNLINK_NOTIFY_ALLOW.")
    may_be_named = any(is_named(each, allowed) for each in addresses) if addresses else bool(allowed)
    if parts.scheme != "https" and not may_be_named:
        raise _invalid("Outside of the networks in DOWNLINK_NOTIFY_ALLOW only https is called: write https://.")


def check_mail_address(address: str) -> None:
    """InvalidError for what is not one plain address. Whether it exists is seen when mail is sent."""
    name, _, domain = address.partition("@")
    is_plain = all(33 <= ord(each) < 127 and each not in '<>()[],;:\\"' for each in address)
    if not (name and "." in domain and "@" not in domain and is_plain and len(address) <= 254):
        raise _invalid("Write one address like someone@example.org.")


def _invalid(message: str) -> InvalidError:
    return InvalidError("target_invalid", message)


def shown_target(kind: str, target: str) -> str:
    """Return the target as pages show it: the path of an incoming webhook is a secret."""
    if kind == "email":
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.netloc}/…"


def webhook_body(message: Message) -> bytes:
    """The same bytes in every try."""
    data = {"title": message.title, "text": message.text, "url": message.url, **message.data}
    body = {"type": message.type, "timestamp": message.at, "data": data}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def chat_body(message: Message) -> bytes:
    """Names are people's own words: without the escapes, `<!channel>` in one of them would call everybody."""
    text = "\n".join((message.title, message.text, message.url))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return json.dumps({"text": escaped}, ensure_ascii=False).encode()


def signing_headers(secret: str, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of the Standard Webhooks specification: HMAC-SHA256 over `id.timestamp.body`."""
    stamp = str(int(now.timestamp()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mark = hmac.new(key, f"{message_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(mark).decode()}",
    }
