"""Sign-in by an identity provider."""

from __future__ import annotations

from pydantic import Field

from downlink.api.schemas.access import Secret
from downlink.api.schemas.base import Body, Shape
from downlink.domain.moment import Moment


class ProviderState(Shape):
    is_on: bool
    name: str | None = Field(description="What the button says after “Sign in with”")


class Way(Shape):
    url: str = Field(description="At the provider; for the browser that asked alone, within ten minutes")


class ConnectBody(Body):
    password: Secret = Field(description="Of the account: a connection outlives the session that makes it")


class Connected(Shape):
    """The person at the provider who signs in to the account."""

    issuer: str
    subject: str
    created_at: Moment


class Connection(Shape):
    is_connected: bool
    identities: list[Connected] = Field(
        description="With whom; one at most, unless it was connected by an earlier version"
    )
    has_password: bool = Field(description="False for an account that was made by signing in at the provider")
