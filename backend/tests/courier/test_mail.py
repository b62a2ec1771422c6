"""Mails to a real SMTP conversation on loopback."""

from __future__ import annotations

import base64
import socket
import threading
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Literal

import pytest

from downlink.courier.mail import MailServer, send_mail
from downlink.domain.notices.delivery import Message
from tests.fixtures.receivers import GIVE_UP_S, MailReceiver

AT = "2026-11-24T12:00:00+00:00"
MESSAGE = Message("7", "test", AT, "Müller's\r\nBcc: x@y.example", "It ended — well.", "https://d/c/1", {})
PASSWORD = "s3cret pass"


def server(receiver: MailReceiver, **changes: object) -> MailServer:
    return MailServer("127.0.0.1", "downlink@lab.example", **{"security": "none", "port": receiver.port, **changes})  # type: ignore[arg-type]


def test_a_mail_arrives() -> None:
    with MailReceiver() as receiver:
        outcome = send_mail(server(receiver, user="me", password=PASSWORD), "noc@lab.example", MESSAGE)
    assert outcome.is_sent, outcome.detail
    (content,) = receiver.mails
    mail = message_from_bytes(content, EmailMessage, policy=policy.default)
    assert (mail["from"], mail["to"], mail["bcc"]) == ("downlink@lab.example", "noc@lab.example", None)
    assert mail["subject"] == "[Downlink] Müller's Bcc: x@y.example"
    assert mail["message-id"] == "<7@downlink>"
    assert mail["date"].datetime == datetime.fromisoformat(AT)
    assert mail.get_content().split() == ["It", "ended", "—", "well.", "https://d/c/1"]
    assert "rcpt TO:<noc@lab.example>" in receiver.lines


def test_without_encryption_nothing_is_said_where_it_was_asked_for() -> None:
    with MailReceiver() as receiver:
        outcome = send_mail(server(receiver, security="starttls", user="me", password=PASSWORD), "a@b.example", MESSAGE)
    assert (outcome.is_sent, outcome.is_final) == (False, False)
    assert [line.split()[0].upper() for line in receiver.lines] == ["EHLO"]


@pytest.mark.parametrize(
    ("refuses", "detail"),
    [
        ({"AUTH": "535 s3cret pass is wrong"}, "The mail server answered 535 (SMTPAuthenticationError)."),
        ({"RCPT": "550 no such user"}, "The mail server refused the recipient (550)."),
        ({"RCPT": "450 greylisted"}, "The mail server refused the recipient (450)."),
        ({"MAIL": "451 later"}, "The mail server answered 451 (SMTPSenderRefused)."),
        ({"DATA": "552 full"}, "The mail server answered 552 (SMTPDataError)."),
    ],
)
def test_what_the_server_says_is_left_out(refuses: dict[str, str], detail: str) -> None:
    with MailReceiver(refuses=refuses) as receiver:
        outcome = send_mail(server(receiver, user="me", password=PASSWORD), "a@b.example", MESSAGE)
    assert (outcome.is_sent, outcome.detail, outcome.is_final) == (False, detail, "550" in detail)
    assert receiver.mails == []


@pytest.mark.parametrize("said", ["421 busy", "500 what?", ""])
def test_a_mail_that_was_taken_is_sent_whatever_is_said_at_parting(said: str) -> None:
    with MailReceiver(refuses={"QUIT": said}) as receiver:
        outcome = send_mail(server(receiver), "a@b.example", MESSAGE)
    assert (outcome.is_sent, len(receiver.mails)) == (True, 1)


@pytest.mark.parametrize("at", ["HELLO", "EHLO", "MAIL"])
@pytest.mark.parametrize("by", ["bytes", "lines"])
def test_all_of_a_conversation_has_one_deadline(at: str, by: Literal["bytes", "lines"]) -> None:
    """Each piece of an answer comes in time, all of them together never do; and nothing is sent afterwards."""
    with MailReceiver(stalls=(at, by)) as receiver:
        outcome = send_mail(server(receiver), "a@b.example", MESSAGE, longest_s=0.2)
        assert receiver.go_on()
    assert (outcome.is_sent, outcome.is_final, outcome.detail) == (False, False, "The mail was not taken within 0.2 s.")
    assert receiver.mails == []


def test_a_slow_name_has_the_same_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    found, is_over = socket.getaddrinfo, threading.Event()

    def slow(*args: Any, **kwargs: Any) -> Any:
        is_over.wait(GIVE_UP_S)
        return found(*args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with MailReceiver() as receiver:
        outcome = send_mail(server(receiver), "a@b.example", MESSAGE, longest_s=0.1)
        assert receiver.lines == []
        is_over.set()
        assert receiver.go_on()
    assert (outcome.is_sent, receiver.mails) == (False, [])


def test_nobody_there() -> None:
    with MailReceiver() as receiver:
        away = server(receiver)
    assert (
        send_mail(away, "a@b.example", MESSAGE).detail == "No connection to the mail server (ConnectionRefusedError)."
    )


def test_the_password_is_in_no_text() -> None:
    kept = MailServer("mail.example", "a@b.example", user="me", password=PASSWORD)
    assert PASSWORD not in repr(kept)
    assert base64.b64encode(PASSWORD.encode()).decode() not in repr(kept)
