"""Accounts, invitations and the record of changes to access."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.access import Password, Secret
from downlink.api.schemas.base import Body, Name, Shape
from downlink.domain.moment import Moment

AccountRole = Literal["viewer", "operator", "admin"]
_ROLES = "`viewer` reads; `operator` measures, and changes what is its own; `admin` decides who and what takes part"


class Account(Shape):
    id: UUID
    username: str
    role: AccountRole = Field(description=_ROLES)
    created_at: Moment
    signed_in_at: Moment | None = Field(description="When its newest session began; null when it has none")
    is_own: bool = Field(description="The account that asks")


class AccountList(Shape):
    items: list[Account]
    total: int


class RoleBody(Body):
    role: AccountRole = Field(description=_ROLES)


class InvitationBody(Body):
    name: Name = Field(description="Label: whom it is for")
    role: AccountRole = Field(default="operator", description=_ROLES)


class Invitation(Shape):
    id: UUID
    name: str
    role: AccountRole
    user_id: UUID | None = Field(description="The account that it gives a new password; null where it makes one")
    created_by: str
    created_at: Moment
    expires_at: Moment


class InvitationCreated(Invitation):
    link: str = Field(description="Shown only once; of its secret only a hash is kept")


class InvitationList(Shape):
    items: list[Invitation]
    total: int


class InvitationSecret(Body):
    secret: Secret = Field(description="What comes after the link's #")


class OpenedInvitation(Shape):
    """The purpose of an invitation. username: of the account that gets a new password; null where one is to be chosen."""

    role: AccountRole
    username: str | None
    expires_at: Moment


class AcceptBody(InvitationSecret):
    username: Name | None = Field(default=None, description="Of the new account; left out for a new password")
    password: Password


class AuditEntry(Shape):
    id: int
    at: Moment
    actor: str = Field(description="The name of who did it")
    actor_kind: str = Field(description="`user`, `token`, `agent`, `command line` or `server`")
    actor_id: UUID | None
    action: str
    subject: str = Field(description="What it was done to")
    subject_id: UUID | None


class AuditList(Shape):
    items: list[AuditEntry]
    total: int
