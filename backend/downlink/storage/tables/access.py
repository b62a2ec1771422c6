"""Access: people, sessions, tokens, and the record of changes to access."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Identity, Index
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class User(Table):
    __tablename__ = "users"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    username: Mapped[str] = mapped_column(unique=True)
    password_hash: Mapped[str]
    role: Mapped[str] = mapped_column(server_default="admin")
    created_at: Mapped[datetime]


class Invitation(Table):
    """A single-use right to an account with this role, or, with user_id, to a new password for that one. Removed when it is used.

    account_id: whose access made it; None for the command line's.
    """

    __tablename__ = "invitations"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str]
    role: Mapped[str]
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    account_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))


class SetupToken(Table):
    """The first-run right to make the admin; removed when it is used."""

    __tablename__ = "setup_tokens"
    token_hash: Mapped[bytes] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime]


class Session(Table):
    """A browser's sign-in. Removing the row ends it. address and browser: where it was made, to recognise it by."""

    __tablename__ = "sessions"
    secret_hash: Mapped[bytes] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(unique=True, default=uuid4)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    address: Mapped[str]
    browser: Mapped[str]


class LoginFailure(Table):
    """A try at a secret that failed, or is being judged. Counted for the rate limit, for a quarter of an hour."""

    __tablename__ = "login_failures"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    key: Mapped[str]
    at: Mapped[datetime]
    __table_args__ = (Index("ix_login_failures_key_at", "key", "at"),)


class ApiToken(Table):
    """user_id: the account that it was made by, whose role it has; None for one of the server's command line, which is an admin's.

    parent_id: the token that made it, and ends it with itself; None where a session did.
    """

    __tablename__ = "api_tokens"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str]
    prefix: Mapped[str]
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    parent_id: Mapped[UUID | None] = mapped_column(ForeignKey("api_tokens.id", ondelete="CASCADE"))


class Share(Table):
    """A link that gives anyone with it read access to one campaign. Removing the row ends it. name: what, or whom, it was made for.

    opened: how often it was exchanged for a cookie, last at opened_at. account_id: whose access made it.
    """

    __tablename__ = "shares"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    opened: Mapped[int] = mapped_column(default=0, server_default="0")
    opened_at: Mapped[datetime | None]
    account_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))


class Audit(Table):
    """A change to access, its author and subject by id: names may be given twice. Rows are never changed, and kept for two years."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    at: Mapped[datetime]
    actor: Mapped[str]
    actor_kind: Mapped[str]
    actor_id: Mapped[UUID | None]
    action: Mapped[str]
    subject: Mapped[str]
    subject_id: Mapped[UUID | None]
