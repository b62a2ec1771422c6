"""Set-up, sessions and API tokens."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Body, Moment, Name, Shape

Scope = Literal["read", "write"]
Password = Annotated[str, Field(min_length=12, max_length=256, description="At least 12 characters")]


class SetupState(Shape):
    is_needed: bool = Field(description="True until the admin exists")


class SetupBody(Body):
    token: str = Field(max_length=200, description="From the set-up link that `downlink setup-link` prints")
    username: Name
    password: Password


class LoginBody(Body):
    username: Annotated[str, Field(max_length=100)]
    password: Annotated[str, Field(max_length=256)]


class Session(Shape):
    """Who is calling, and how."""

    username: str
    kind: Literal["session", "token"]
    scopes: list[Scope]
    expires_at: Moment | None


class TokenBody(Body):
    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=2)]
    expires_in_days: Annotated[int, Field(ge=1, le=3650)] | None = None


class Token(Shape):
    id: UUID
    name: str
    prefix: str = Field(description="The first characters of the secret, to recognise it by")
    scopes: list[Scope]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None


class TokenCreated(Token):
    secret: str = Field(description="Shown this once; only its hash is kept")


class TokenList(Shape):
    items: list[Token]
    total: int
