"""Accounts as an identity provider knows them, and sign-ins that are on their way there."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class Identity(Table):
    """The account of a subject at an issuer. is_ruled: the account was made by signing in, so that its role follows the claims."""

    __tablename__ = "identities"
    issuer: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    is_ruled: Mapped[bool]
    created_at: Mapped[datetime]


class ProviderVisit(Table):
    """A browser on its way to the provider and back: one use, ten minutes. user_id: the account that is to be connected.

    browser_hash: of the cookie that the same browser shows when it comes back. session_id: that asked for the connection, and
    ends it with itself. origin: where it was begun (domain/origin.py).
    """

    __tablename__ = "provider_visits"
    state_hash: Mapped[bytes] = mapped_column(primary_key=True)
    browser_hash: Mapped[bytes]
    nonce: Mapped[str]
    verifier: Mapped[str]
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    expires_at: Mapped[datetime]
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    origin: Mapped[str] = mapped_column(server_default="", default="")
