"""One notice to one channel, by whatever means the channel has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Never

from downlink.courier.mail import MailServer, send_mail
from downlink.courier.post import post
from downlink.domain.notices.delivery import Message, Networks, Outcome, chat_body, signing_headers, webhook_body
from downlink.domain.notices.notification import ChannelKind
from downlink.process.settings import Settings


@dataclass(frozen=True, slots=True)
class Courier:
    """The means of this server to send. allowed: networks that are not public, and that an admin has named."""

    base_url: str
    allowed: Networks = ()
    mail: MailServer | None = None

    @classmethod
    def of(cls, settings: Settings) -> Courier:
        return cls(settings.public_url, settings.notify_networks, _mail_server(settings))

    def send(self, kind: ChannelKind, target: str, secret: str | None, message: Message, now: datetime) -> Outcome:
        """Send once. Nothing is raised: the outcome has the error."""
        match kind:
            case "email":
                if self.mail is None:
                    return Outcome(False, "This server sends no mail: DOWNLINK_SMTP_HOST is not set.", is_final=True)
                return send_mail(self.mail, target, message)
            case "chat":
                return post(target, {}, chat_body(message), self.allowed)
            case "webhook":
                body = webhook_body(message)
                return post(target, signing_headers(secret or "", message.id, body, now), body, self.allowed)
            case _:
                unknown: Never = kind  # a later version's, after a downgrade
                return Outcome(False, f"This server has no channels of the kind {unknown}.", is_final=True)


def _mail_server(settings: Settings) -> MailServer | None:
    if not settings.smtp_host:
        return None
    password = settings.smtp_password.get_secret_value() if settings.smtp_password else None
    return MailServer(
        settings.smtp_host,
        settings.mail_from or "",
        settings.smtp_security,
        settings.smtp_port,
        settings.smtp_user,
        password,
    )
