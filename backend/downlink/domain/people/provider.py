"""Claims of an institute's identity provider about a person, and the role that follows from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from downlink.domain.errors import DeniedError
from downlink.domain.people.permission import Role

RANKS = (Role.VIEWER, Role.OPERATOR, Role.ADMIN)
MOST_NAME = 100
_RULE = re.compile(r"(?P<claim>[\w.:/-]{1,100})=(?P<value>[^=,]{1,200})->(?P<role>viewer|operator|admin)")


@dataclass(frozen=True, slots=True)
class RoleRule:
    """A rule: a person with this value in this claim has this role."""

    claim: str
    value: str
    role: Role


@dataclass(frozen=True, slots=True)
class Admission:
    """The rules of admission for a provider's users.

    domains: of e-mail addresses that the provider has verified; empty: no such limit. otherwise: the role where no rule fits;
    None: refused. most: no claim gives more than this.
    """

    domains: tuple[str, ...] = ()
    rules: tuple[RoleRule, ...] = ()
    otherwise: Role | None = None
    most: Role = Role.OPERATOR

    def role_of(self, claims: Mapping[str, Any]) -> Role:
        """DeniedError for whom the server does not let in."""
        self._check_domain(claims)
        roles = [rule.role for rule in self.rules if rule.value in _values(claims.get(rule.claim))]
        given = max(roles, key=RANKS.index) if roles else self.otherwise
        if given is None:
            message = "Your institute knows you, and this server lets in certain groups alone; ask its admin."
            raise DeniedError("provider_not_admitted", message)
        return min(given, self.most, key=RANKS.index)

    def _check_domain(self, claims: Mapping[str, Any]) -> None:
        if not self.domains:
            return
        address = claims.get("email")
        domain = address.rpartition("@")[2].lower() if isinstance(address, str) else ""
        if domain not in self.domains or claims.get("email_verified") is not True:
            message = "This server lets in verified addresses of certain domains alone; ask its admin."
            raise DeniedError("provider_not_admitted", message)


def read_rules(text: str) -> tuple[RoleRule, ...]:
    """`claim=value->role`, comma separated. ValueError for anything else."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    matches = [_RULE.fullmatch(part) for part in parts]
    if not all(matches):
        raise ValueError(text)
    return tuple(RoleRule(each["claim"], each["value"].strip(), Role(each["role"])) for each in matches if each)


def _values(claim: Any) -> Sequence[str]:
    """A claim may be one word or a list of them; anything else gives nobody a role."""
    if isinstance(claim, str):
        return [claim]
    return [each for each in claim if isinstance(each, str)] if isinstance(claim, list) else []


def wanted_name(claims: Mapping[str, Any]) -> str:
    """A user name for a new account, of what the provider says; its subject where it says nothing that fits."""
    address = claims.get("email")
    local = address.partition("@")[0] if isinstance(address, str) else None
    for claim in (claims.get("preferred_username"), local, claims.get("sub")):
        if isinstance(claim, str) and (name := _printable(claim)):
            return name
    return "somebody"


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable()).strip()[:MOST_NAME]
