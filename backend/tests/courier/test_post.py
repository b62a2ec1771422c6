"""Posts to a real server on loopback, and refusals of what must not be called."""

from __future__ import annotations

import ssl
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from downlink.courier import mail
from downlink.courier.http_call import Call, carry_out
from downlink.courier.post import LONGEST_S, post
from downlink.domain.notices.delivery import FIRST_PAUSE, Address
from tests.fixtures.receivers import GIVE_UP_S, LOOPBACK, Answer, WebReceiver

LOCAL = [ip_address("127.0.0.1")]


def local(_host: str, _port: int) -> list[Address]:
    return [*LOCAL]


def test_a_post_arrives_with_its_headers() -> None:
    with WebReceiver() as receiver:
        outcome = post(receiver.url("hooks.example"), {"webhook-id": "7"}, b'{"a":1}', LOOPBACK, local)
    assert (outcome.is_sent, outcome.detail) == (True, "Answered 200.")
    (got,) = receiver.got
    assert (got.path, got.body) == ("/hooks/secret-part", b'{"a":1}')
    assert got.headers["host"] == f"hooks.example:{receiver.port}"
    assert (got.headers["webhook-id"], got.headers["content-type"]) == ("7", "application/json")


@pytest.mark.parametrize(
    ("status", "is_sent", "is_final"),
    [(204, True, False), (400, False, False), (404, False, False), (410, False, True), (500, False, False)],
)
def test_the_status_decides(status: int, is_sent: bool, is_final: bool) -> None:
    with WebReceiver([Answer(status)]) as receiver:
        outcome = post(receiver.url(), {}, b"{}", LOOPBACK)
    assert (outcome.is_sent, outcome.is_final, outcome.detail) == (is_sent, is_final, f"Answered {status}.")


@pytest.mark.parametrize(("status", "is_final"), [(301, True), (308, True), (302, False), (303, False), (307, False)])
def test_a_redirect_is_not_followed(status: int, is_final: bool) -> None:
    with WebReceiver() as inside, WebReceiver([Answer(status, location=inside.url())]) as receiver:
        outcome = post(receiver.url(), {}, b"{}", LOOPBACK)
    assert (outcome.is_sent, outcome.is_final) == (False, is_final)
    assert "redirect" in outcome.detail
    assert inside.got == []


@pytest.mark.parametrize("stalls", ["head", "drip"])
def test_a_slow_answer_is_not_waited_for(stalls: Literal["head", "drip"]) -> None:
    with WebReceiver([Answer(stalls=stalls)]) as receiver:
        outcome = post(receiver.url(), {}, b"{}", LOOPBACK, longest_s=0.2)
    assert (outcome.is_sent, outcome.is_final, outcome.detail) == (False, False, "No answer within 0.2 s.")


def test_a_slow_name_has_a_deadline_and_is_not_called_afterwards() -> None:
    is_over, has_found = threading.Event(), threading.Event()

    def slow(*_: object) -> list[Address]:
        is_over.wait(GIVE_UP_S)
        has_found.set()
        return LOCAL

    with WebReceiver() as receiver:
        outcome = post(receiver.url(), {}, b"{}", LOOPBACK, slow, longest_s=0.1)
        assert not has_found.is_set()
        is_over.set()
        assert has_found.wait(GIVE_UP_S)
        assert post(receiver.url(), {}, b"{}", LOOPBACK, local).is_sent
    assert (outcome.detail, len(receiver.got)) == ("No answer within 0.1 s.", 1)


def test_an_answer_has_what_the_name_has_left_of_the_deadline() -> None:
    now_s = [0.0]

    def slow(*_: object) -> list[Address]:
        now_s[0] += 999.9
        return LOCAL

    async def status(answer: httpx.Response) -> int:
        return answer.status_code

    with WebReceiver([Answer(stalls="head")]) as receiver:
        call = Call("POST", receiver.url(), {}, LOOPBACK, "")
        with pytest.raises((TimeoutError, httpx.TimeoutException)):
            carry_out(call, status, slow, 1000, clock=lambda: now_s[0])


def test_the_next_try_begins_when_this_one_is_over() -> None:
    assert max(LONGEST_S, mail.LONGEST_S) < FIRST_PAUSE.total_seconds()


def test_a_large_answer_is_not_read() -> None:
    with WebReceiver([Answer(size=10 << 20)]) as receiver:
        outcome = post(receiver.url(), {}, b"{}", LOOPBACK)
        assert receiver.has_answered(1)
    assert outcome.is_sent
    assert receiver.sent_bytes < 8 << 20, "no more than what buffers on the way take"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "10.0.0.1", "192.168.0.1", "169.254.169.254", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
     "localhost", "127.1", "2130706433", "0x7f000001", "0"],
)  # fmt: skip
def test_what_leads_inside_is_refused(host: str) -> None:
    with WebReceiver() as receiver:
        for scheme in ("http", "https"):
            outcome = post(f"{scheme}://{host}:{receiver.port}/", {}, b"{}", [])
            assert (outcome.is_sent, outcome.is_final) == (False, True), outcome.detail
            assert "DOWNLINK_NOTIFY_ALLOW" in outcome.detail
    assert receiver.got == []


def test_a_name_with_one_inner_address_among_public_ones_is_refused() -> None:
    outcome = post("https://a.example/", {}, b"{}", [], lambda *_: [ip_address("8.8.8.8"), ip_address("10.0.0.1")])
    assert outcome.is_final


def test_a_name_is_looked_up_once_so_that_a_second_answer_changes_nothing() -> None:
    answers = [[ip_address("127.0.0.1")], [ip_address("10.9.9.9")]]
    with WebReceiver() as receiver:
        assert post(receiver.url("rebinding.example"), {}, b"{}", LOOPBACK, lambda *_: answers.pop(0)).is_sent
    assert len(answers) == 1


def test_plain_http_goes_to_named_networks_alone() -> None:
    outcome = post("http://a.example/", {}, b"{}", LOOPBACK, lambda *_: [ip_address("8.8.8.8")])
    assert (outcome.is_final, "https" in outcome.detail) == (True, True)


def test_the_next_address_is_tried_where_one_has_nobody() -> None:
    with WebReceiver() as receiver:
        nobody = ip_address("127.0.0.77")
        receiver_here = [nobody, *LOCAL] if receiver.port else []
        assert post(receiver.url("a.example"), {}, b"{}", LOOPBACK, lambda *_: receiver_here).is_sent


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with WebReceiver() as proxy, WebReceiver() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert post(receiver.url(), {}, b"{}", LOOPBACK).is_sent
    assert (len(proxy.got), len(receiver.got)) == (0, 1)


def test_nobody_there_and_no_such_name() -> None:
    with WebReceiver() as receiver:
        url = receiver.url()
    outcome = post(url, {}, b"{}", LOOPBACK)
    assert (outcome.is_sent, outcome.is_final) == (False, False)
    assert outcome.detail.startswith("No connection")

    def unknown(*_: object) -> list[Address]:
        raise OSError

    said = post("https://nowhere.example/s3cret", {}, b"{}", LOOPBACK, unknown)
    assert (said.is_final, said.detail) == (False, "No connection: the name of the host is not known.")


def certificate(name: str) -> bytes:
    """Make a key and a certificate for a name, which it has signed itself."""
    key, subject = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hooks")]),
    )
    begin = datetime.now(UTC) - timedelta(days=1)
    made = x509.CertificateBuilder(
        subject, subject, key.public_key(), x509.random_serial_number(), begin, begin + timedelta(days=3)
    )
    signed = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False).sign(key, SHA256())
    form = Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    return key.private_bytes(*form) + signed.public_bytes(Encoding.PEM)


@pytest.mark.parametrize(("name", "is_sent"), [("hooks.example", True), ("other.example", False)])
def test_the_certificate_is_checked_for_the_name(
    name: str, is_sent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = tmp_path / "both.pem"
    pem.write_bytes(certificate("hooks.example"))
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    server = HTTPServer(("127.0.0.1", 0), _Taker)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        outcome = post(f"https://{name}:{server.server_address[1]}/", {}, b"{}", LOOPBACK, local)
    finally:
        server.shutdown()
        server.server_close()
    assert outcome.is_sent is is_sent, outcome.detail
    assert is_sent or "certificate" in outcome.detail


class _Taker(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass
