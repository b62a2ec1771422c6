"""Whom a provider lets in, and as what."""

from __future__ import annotations

import re
from typing import Any

import pytest

from downlink.domain.errors import DeniedError
from downlink.domain.people.permission import Role
from downlink.domain.people.provider import Admission, RoleRule, read_rules, wanted_name

RULES = read_rules("groups=lab->operator, groups=guests->viewer, roles=boss->admin")


@pytest.mark.parametrize(
    ("claims", "most", "role"),
    [
        ({"groups": ["lab"]}, Role.OPERATOR, Role.OPERATOR),
        ({"groups": "guests"}, Role.OPERATOR, Role.VIEWER),
        ({"groups": ["guests", "lab"]}, Role.OPERATOR, Role.OPERATOR),
        ({"roles": ["boss"]}, Role.OPERATOR, Role.OPERATOR),
        ({"roles": ["boss"]}, Role.ADMIN, Role.ADMIN),
        ({"roles": ["boss"]}, Role.VIEWER, Role.VIEWER),
    ],
)
def test_the_greatest_role_counts_up_to_the_most(claims: dict[str, Any], most: Role, role: Role) -> None:
    assert Admission(rules=RULES, most=most).role_of(claims) is role


@pytest.mark.parametrize("said", [None, 7, {"lab": True}, [7, None], ["la"], "labs", [["lab"]]])
def test_odd_claims_give_nobody_a_role(said: Any) -> None:
    with pytest.raises(DeniedError):
        Admission(rules=RULES).role_of({"groups": said})
    assert Admission(rules=RULES, otherwise=Role.VIEWER).role_of({"groups": said}) is Role.VIEWER


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"email": "a@lab.example"},
        {"email": "a@lab.example", "email_verified": "true"},
        {"email": "a@other.example", "email_verified": True},
        {"email": "a@lab.example.other", "email_verified": True},
        {"email": ["a@lab.example"], "email_verified": True},
    ],
)
def test_only_a_verified_address_of_a_named_domain_counts(claims: dict[str, Any]) -> None:
    with pytest.raises(DeniedError, match="verified addresses"):
        Admission(("lab.example",), otherwise=Role.VIEWER).role_of(claims)


def test_domains_know_no_upper_case() -> None:
    claims = {"email": "A@LAB.example", "email_verified": True}
    assert Admission(("lab.example",), otherwise=Role.VIEWER).role_of(claims) is Role.VIEWER


@pytest.mark.parametrize("text", ["lab", "groups=lab", "groups=lab->root", "=lab->viewer", "groups=->viewer"])
def test_a_rule_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        read_rules(text)


def test_rules_may_name_claims_by_their_addresses() -> None:
    assert read_rules("https://x.example/roles=a b->viewer") == (
        RoleRule("https://x.example/roles", "a b", Role.VIEWER),
    )


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "ada", "email": "b@c", "sub": "1"}, "ada"),
        ({"preferred_username": "\n\x00", "email": "bob@c", "sub": "1"}, "bob"),
        ({"preferred_username": 7, "sub": "x" * 300}, "x" * 100),
        ({"sub": "\x7f"}, "somebody"),
    ],
)
def test_a_name_is_taken_from_what_fits(claims: dict[str, Any], name: str) -> None:
    assert wanted_name(claims) == name
