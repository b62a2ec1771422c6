"""Where notices may go, how they are signed, and when they are tried again."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.errors import InvalidError
from downlink.domain.notices.delivery import (
    MOST_TRIES,
    Message,
    chat_body,
    check_mail_address,
    check_reachable,
    check_url,
    may_be_called,
    networks_of,
    next_try_at,
    shown_target,
    signing_headers,
    webhook_body,
)

AT = "2026-11-24T12:00:00+00:00"
MESSAGE = Message("7", "campaign.complete", AT, "A & B <!channel>", "Done.", "https://d/c/1", {"n": 1})
INTERNAL = [
    "127.0.0.1", "127.8.9.1", "0.0.0.0",  # noqa: S104
    "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "169.254.169.254", "192.0.0.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a00:1",
    "192.88.99.1", "192.0.0.9", "100::1", "2001:2::1", "3fff::1", "5f00::1",
    "64:ff9b:1::a00:1", "64:ff9b:1::808:808", "2002:7f00:1::", "2002:a00:1::1", "fd00:ec2::254",
]  # fmt: skip


@pytest.mark.parametrize("address", INTERNAL)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not may_be_called(ip_address(address), [])


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "193.99.144.80", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_called(address: str) -> None:
    assert may_be_called(ip_address(address), [])


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_however_it_is_wrapped(address: IPv4Address) -> None:
    inner = int(address)
    for wrapped in (IPv6Address(0xFFFF << 32 | inner), IPv6Address((0x64FF9B << 96) | inner)):
        assert may_be_called(wrapped, []) == may_be_called(address, [])


def test_the_admins_networks_are_allowed_and_no_others() -> None:
    allowed = networks_of("10.0.0.0/8, fd00::/8")
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "fd12::1"):
        assert may_be_called(ip_address(address), allowed)
    for address in ("127.0.0.1", "192.168.1.1", "169.254.169.254", "::1"):
        assert not may_be_called(ip_address(address), allowed)


@pytest.mark.parametrize("text", ["10.0.0.1/8", "localhost", "10.0.0.0/33", "10.0.0.0/8;fd00::/8"])
def test_networks_are_written_as_networks(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the library says
        networks_of(text)


@pytest.mark.parametrize(
    "url",
    ["", "hooks.example/x", "ftp://a.example/x", "file:///etc/passwd", "gopher://a.example", "https://", "https:///x",
     "https://user:pw@a.example/x", "https://@a.example/", "https://a.example/x#part", "https://a.example/x y",
     "https://a.example/\r\nHost: b", "https://a.example:99999/", "https://[::1/x", "https://a.example/" + "x" * 2000],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidError):
        check_url(url)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "http://localhost/", "https://[::ffff:10.0.0.1]/"],
)
def test_an_address_that_is_never_posted_to_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidError, match="DOWNLINK_NOTIFY_ALLOW"):
        check_reachable(url, [])
    check_reachable(url, networks_of("127.0.0.0/8, ::1/128, 10.0.0.0/8"))
    check_reachable("https://a.example/", [])


@pytest.mark.parametrize(
    ("url", "allowed", "is_refused"),
    [
        ("http://8.8.8.8/", "10.0.0.0/8", True),
        ("http://a.example/", "", True),
        ("http://a.example/", "10.0.0.0/8", False),
        ("http://10.0.0.1/", "10.0.0.0/8", False),
        ("https://8.8.8.8/", "", False),
    ],
)
def test_http_goes_to_named_networks_alone(url: str, allowed: str, is_refused: bool) -> None:
    if is_refused:
        with pytest.raises(InvalidError, match="only https"):
            check_reachable(url, networks_of(allowed))
    else:
        check_reachable(url, networks_of(allowed))


def test_no_port_is_0() -> None:
    with pytest.raises(InvalidError, match="port"):
        check_url("https://a.example:0/")


@pytest.mark.parametrize("url", ["https://a.example/x?y=z", "http://10.0.0.1:8080/", "https://[2001:db8::1]:8443/x"])
def test_addresses_are_taken(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    "address", ["", "a", "a@b", "@b.example", "a@b.example,c@d.example", "a b@c.example", "a@b.example\nBcc: x@y.example",
                "A <a@b.example>", "a@b@c.example", "ä@b.example", "a" * 250 + "@b.example"],
)  # fmt: skip
def test_what_is_not_one_mail_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidError):
        check_mail_address(address)


def test_a_mail_address_is_taken_and_shown() -> None:
    check_mail_address("noc+dish@lab.example.org")
    assert shown_target("email", "noc@lab.example") == "noc@lab.example"


def test_the_path_of_an_incoming_webhook_is_not_shown() -> None:
    assert (
        shown_target("chat", "https://hooks.example:8443/services/T0/B0/s3cret?token=x")
        == "https://hooks.example:8443/…"
    )


def test_the_signature_is_that_of_the_specification() -> None:
    """The example that libraries of Standard Webhooks are tested with."""
    now = datetime.fromtimestamp(1614265330, UTC)
    secret, number = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert signing_headers(secret, number, b'{"test": 2432232314}', now) == {
        "webhook-id": number,
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_the_check_in_the_docs_accepts_what_is_signed_here_and_nothing_else() -> None:
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
    (code,) = [each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "is_from_downlink" in each]
    found: dict[str, Any] = {}
    exec(code, found)  # noqa: S102 - our own page
    check = found["is_from_downlink"]
    now = datetime(2026, 11, 24, tzinfo=UTC)
    secret, other = ("whsec_" + base64.b64encode(bytes([each]) * 32).decode() for each in (1, 2))
    body = webhook_body(MESSAGE)
    headers = signing_headers(secret, "7", body, now)
    assert check(secret, headers, body, now.timestamp() + 10)
    assert not check(other, headers, body, now.timestamp())
    assert not check(secret, headers, body + b" ", now.timestamp())
    assert not check(secret, {**headers, "webhook-id": "8"}, body, now.timestamp())
    assert not check(secret, headers, body, now.timestamp() + 301)


def test_bodies() -> None:
    assert json.loads(webhook_body(MESSAGE)) == {
        "type": "campaign.complete",
        "timestamp": "2026-11-24T12:00:00+00:00",
        "data": {"title": "A & B <!channel>", "text": "Done.", "url": "https://d/c/1", "n": 1},
    }
    assert json.loads(chat_body(MESSAGE)) == {"text": "A &amp; B &lt;!channel&gt;\nDone.\nhttps://d/c/1"}


def test_pauses_grow_and_end() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    pauses = [next_try_at(tries, now) - now for tries in range(1, MOST_TRIES)]
    assert [pause.total_seconds() for pause in pauses] == [30, 120, 480, 1920, 7680, 30720]
    assert sum(pauses, timedelta()) < timedelta(hours=12)
