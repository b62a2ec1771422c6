"""Actors and callers, and what each may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from downlink.domain.errors import DeniedError
from downlink.domain.people.permission import TABLE, Reach, Role, Verb, is_allowed, reach_of


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change. The id distinguishes two of the same name; the server's command line has none.

    account_id: whose access it was done with; None for what belongs to no account.
    """

    kind: Literal["user", "token", "agent", "command line", "server"]
    name: str
    id: UUID | None = None
    account_id: UUID | None = None


COMMAND_LINE = Actor("command line", "command line")


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of the API. A session has all scopes, a token those that it was made with. id: of the session, the token or the share
    link.

    user_id: of a session, its account; token_of: of a token, the account that it was made by, None for one of the command line.
    campaign_id: of a visitor, the campaign that the link was made for.
    """

    username: str
    kind: Literal["session", "token", "share"]
    role: Role
    scopes: tuple[str, ...]
    expires_at: datetime | None
    id: UUID
    user_id: UUID | None = None
    campaign_id: UUID | None = None
    token_of: UUID | None = None

    @property
    def account_id(self) -> UUID | None:
        """The account that owns what the caller creates."""
        return self.user_id or self.token_of

    @property
    def is_admin(self) -> bool:
        return self.role is Role.ADMIN

    @property
    def actor(self) -> Actor:
        return (
            Actor("token", self.username, self.id, self.token_of)
            if self.user_id is None
            else Actor("user", self.username, self.user_id, self.user_id)
        )

    @property
    def may_any(self) -> list[Verb]:
        """Return the verbs that this caller may use on everything."""
        return self._verbs(Reach.ANY)

    @property
    def may_own(self) -> list[Verb]:
        """Return the verbs that this caller may use only on its own things."""
        return self._verbs(Reach.OWN)

    def _verbs(self, reach: Reach) -> list[Verb]:
        return [
            verb for verb, rule in TABLE.items() if rule.scope in self.scopes and reach_of(self.role, verb) is reach
        ]

    def confined_to(self, verb: Verb) -> UUID | None:
        """The account whose things alone the verb reaches for this caller; None for those of all accounts."""
        return self.account_id if reach_of(self.role, verb) is Reach.OWN else None

    def require(self, verb: Verb, *, is_owner: bool = False) -> Caller:
        """DeniedError unless role and scopes allow this. is_owner: whether it is done to what is the caller's own."""
        self.require_scopes(TABLE[verb].scope)
        if not is_allowed(self.role, verb, is_owner=is_owner):
            raise DeniedError("role_denied", f"This account may not do this: it has the role `{self.role}`.")
        return self

    def require_scopes(self, *scopes: str) -> Caller:
        """DeniedError unless this caller has all of these scopes."""
        for scope in scopes:
            if scope not in self.scopes:
                raise DeniedError("scope_missing", f"This API token may not do this: it lacks the scope `{scope}`.")
        return self
