"""Set-up, sessions and API tokens."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from downlink.api.schemas.base import Body, Name, Shape, storable
from downlink.domain.moment import Moment
from downlink.domain.people.permission import Verb

Scope = Literal["read", "write", "admin"]
Password = Annotated[
    str,
    Field(min_length=12, max_length=256, description="At least 12 characters, not easy to guess"),
    AfterValidator(storable),
]
Secret = Annotated[str, Field(max_length=256), AfterValidator(storable)]


class SetupState(Shape):
    is_needed: bool = Field(description="True until the admin exists")


class SetupBody(Body):
    token: Secret = Field(description="From the set-up link that `downlink setup-link` prints")
    username: Name
    password: Password


class LoginBody(Body):
    username: Name
    password: Secret


class PasswordBody(Body):
    current: Secret
    password: Password


class Session(Shape):
    """The caller, and how it signed in."""

    username: str
    kind: Literal["session", "token"]
    role: Literal["viewer", "operator", "admin"] = Field(description="Of the account, as GET /accounts has it")
    scopes: list[Scope]
    expires_at: Moment | None
    account_id: UUID | None = Field(
        description="Whose things are the caller's own; null for a token of the command line"
    )
    may_any: list[Verb] = Field(description="What the caller may do to whatever there is")
    may_own: list[Verb] = Field(description="What the caller may do to its own things alone")


MeansKind = Literal["token", "connection", "channel", "share", "call_secret", "enrolment", "invitation", "visit"]


class Means(Shape):
    """One way to act for the account, or to give others a way."""

    kind: MeansKind = Field(
        description="`token`, `connection` with the identity provider, `channel` that is on, `share` link, `call_secret` of a "
        "trigger; open `enrolment`, `invitation` and `visit` to the provider, which a new password ends"
    )
    name: str = Field(description="What it is called; of a call secret, its campaign; empty where it has no name")
    created_at: Moment | None
    expires_at: Moment | None = Field(description="null: it lasts until it is ended")


class MeansList(Shape):
    items: list[Means]
    total: int


class MeansBody(Body):
    kinds: Annotated[list[MeansKind], Field(min_length=1, max_length=8)]


class MeansEnded(Shape):
    ended: dict[str, int] = Field(description="By kind, how many there were")


class OpenSession(Shape):
    """A browser that is signed in."""

    id: UUID
    username: str
    address: str = Field(description="Where it signed in from")
    browser: str = Field(description="What the browser calls itself")
    created_at: Moment
    expires_at: Moment
    is_own: bool = Field(description="The session that asks")


class SessionList(Shape):
    items: list[OpenSession]
    total: int


class TokenBody(Body):
    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)] = Field(
        description="`read`; `write`: links, campaigns, imports; `admin`: tokens, accounts, agents; no more than its account may"
    )
    expires_in_days: Annotated[int, Field(ge=1, le=3650)] | None = None


class Token(Shape):
    id: UUID
    name: str
    prefix: str = Field(description="The first characters of the secret, to recognise it by")
    scopes: list[Scope]
    created_by: str
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None


class TokenCreated(Token):
    secret: str = Field(description="Shown only once; only its hash is kept")


class TokenList(Shape):
    items: list[Token]
    total: int
