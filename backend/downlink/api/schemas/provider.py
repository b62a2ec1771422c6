"""Sign-in by an identity provider."""

from __future__ import annotations

from pydantic import Field

from downlink.api.schemas.base import Shape


class ProviderState(Shape):
    is_on: bool
    name: str | None = Field(description="What the button says after “Sign in with”")


class Way(Shape):
    url: str = Field(description="At the provider; for the browser that asked alone, within ten minutes")


class Connection(Shape):
    is_connected: bool
    has_password: bool = Field(description="False for an account that was made by signing in at the provider")
