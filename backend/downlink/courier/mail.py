"""A mail by the server that the admin has named."""

from __future__ import annotations

import smtplib
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Literal

from downlink.courier.deadline import within
from downlink.domain.notices.delivery import Message, Outcome

LONGEST_S = 20.0
"""Time from the look at the name until the mail is accepted; servers search it before."""
PERMANENT = 500
PORTS = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class MailServer:
    host: str
    sender: str
    security: Literal["starttls", "tls", "none"] = "starttls"
    port: int | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def send_mail(server: MailServer, to: str, message: Message, longest_s: float = LONGEST_S) -> Outcome:
    """Hand one mail over. The server's words stay out of the outcome: they may repeat what it was told."""
    attempt = _Attempt(server, to, message, longest_s)
    try:
        return within(longest_s, attempt.make)
    except TimeoutError:
        attempt.stop()
        return Outcome(False, f"The mail was not taken within {longest_s:g} s.")


class _Attempt:
    """One conversation with the mail server, which another thread may end."""

    def __init__(self, server: MailServer, to: str, message: Message, longest_s: float) -> None:
        self._server, self._to, self._message, self._longest_s = server, to, message, longest_s
        self._connection: smtplib.SMTP | None = None
        self._is_over = False

    def make(self) -> Outcome:
        try:
            self._hand_over()
        except smtplib.SMTPRecipientsRefused as error:
            code = error.recipients[self._to][0]
            return Outcome(False, f"The mail server refused the recipient ({code}).", is_final=code >= PERMANENT)
        except smtplib.SMTPResponseException as error:
            return Outcome(False, f"The mail server answered {error.smtp_code} ({type(error).__name__}).")
        except smtplib.SMTPException as error:
            return Outcome(False, f"The mail was not taken ({type(error).__name__}).")
        except OSError as error:
            return Outcome(False, f"No connection to the mail server ({type(error).__name__}).")
        return Outcome(True, "Handed over to the mail server.")

    def _hand_over(self) -> None:
        self._connection = connection = _connect(self._server, self._longest_s)
        try:
            if self._server.security == "starttls":
                connection.starttls(context=ssl.create_default_context())
            if self._server.user:
                connection.login(self._server.user, self._server.password or "")
            if self._is_over:
                raise smtplib.SMTPServerDisconnected
            connection.send_message(_mail(self._server, self._to, self._message), self._server.sender, [self._to])
            with suppress(smtplib.SMTPException, OSError):
                connection.putcmd("quit")  # the mail was taken, whatever is answered
        finally:
            connection.close()

    def stop(self) -> None:
        """Nothing is sent from now on. Below TLS, which would go on in plain text if it were closed under a writer's hands."""
        self._is_over = True
        if self._connection and (opened := self._connection.sock):
            with suppress(OSError):
                socket.socket.shutdown(opened, socket.SHUT_RDWR)


def _connect(server: MailServer, longest_s: float) -> smtplib.SMTP:
    port = server.port or PORTS[server.security]
    if server.security == "tls":
        return smtplib.SMTP_SSL(server.host, port, timeout=longest_s, context=ssl.create_default_context())
    return smtplib.SMTP(server.host, port, timeout=longest_s)


def _mail(server: MailServer, to: str, message: Message) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = server.sender, to
    mail["Subject"] = "[Downlink] " + " ".join(message.title.split())  # a header has one line
    mail["Date"] = format_datetime(datetime.fromisoformat(message.at))
    mail["Message-ID"] = f"<{message.id}@downlink>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(f"{message.text}\n\n{message.url}\n")
    return mail
