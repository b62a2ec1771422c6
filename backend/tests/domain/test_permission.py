"""The table of permissions: whole, monotonic, and refusing in doubt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args
from uuid import uuid4

import pytest

from downlink.domain.errors import DeniedError
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import SCOPES, TABLE, Reach, Role, Scope, Verb, is_allowed, reach_of

FURTHER = (Reach.NONE, Reach.OWN, Reach.ANY)


def caller(role: Role, scopes: tuple[str, ...] = SCOPES) -> Caller:
    return Caller("anna", "session", role, scopes, datetime(2026, 1, 1, tzinfo=UTC), uuid4(), uuid4())


def test_every_verb_has_a_rule_and_every_scope_a_verb() -> None:
    assert set(TABLE) == set(Verb)
    assert {rule.scope for rule in TABLE.values()} == set(SCOPES) == set(get_args(Scope))


@pytest.mark.parametrize("verb", Verb)
def test_a_higher_role_may_do_all_that_a_lower_one_may(verb: Verb) -> None:
    reaches = [FURTHER.index(reach_of(role, verb)) for role in (Role.VISITOR, Role.VIEWER, Role.OPERATOR, Role.ADMIN)]
    assert reaches == sorted(reaches)


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("role", Role)
def test_what_is_owned_is_allowed_as_far_as_the_role_reaches(role: Role, verb: Verb) -> None:
    reach = reach_of(role, verb)
    assert is_allowed(role, verb, is_owner=True) is (reach is not Reach.NONE)
    assert is_allowed(role, verb, is_owner=False) is (reach is Reach.ANY)


def test_a_viewer_changes_nothing_but_the_own_account() -> None:
    changes = {verb for verb in Verb if reach_of(Role.VIEWER, verb) is not Reach.NONE}
    assert changes == {Verb.READ, Verb.READ_CAMPAIGN, Verb.CHANGE_ACCOUNT, Verb.MANAGE_TOKENS}
    assert reach_of(Role.VIEWER, Verb.MANAGE_TOKENS) is Reach.OWN


def test_a_visitor_reads_the_own_campaign_and_does_nothing_else() -> None:
    assert {verb for verb in Verb if reach_of(Role.VISITOR, verb) is not Reach.NONE} == {Verb.READ_CAMPAIGN}
    assert reach_of(Role.VISITOR, Verb.READ_CAMPAIGN) is Reach.OWN


def test_nobody_changes_another_account() -> None:
    accounts = set(Role) - {Role.VISITOR}
    assert {reach_of(role, Verb.CHANGE_ACCOUNT) for role in accounts} == {Reach.OWN}


def test_only_an_admin_decides_who_takes_part() -> None:
    for verb in (Verb.MANAGE_AGENTS, Verb.MANAGE_ACCESS):
        assert [reach_of(role, verb) for role in Role] == [Reach.NONE, Reach.NONE, Reach.NONE, Reach.ANY]


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_with_one_scope_does_what_that_scope_is_for(scope: Scope, verb: Verb) -> None:
    asking = caller(Role.ADMIN, (scope,))
    if TABLE[verb].scope == scope:
        assert asking.require(verb, is_owner=True) is asking
    else:
        with pytest.raises(DeniedError, match=f"`{TABLE[verb].scope}`") as refused:
            asking.require(verb, is_owner=True)
        assert refused.value.code == "scope_missing"


def test_a_verb_is_confined_to_the_own_account_where_the_role_reaches_no_further() -> None:
    operator, admin = caller(Role.OPERATOR), caller(Role.ADMIN)
    assert operator.confined_to(Verb.RUN_CAMPAIGN) == operator.account_id is not None
    assert operator.confined_to(Verb.CREATE_CAMPAIGN) is None
    assert admin.confined_to(Verb.RUN_CAMPAIGN) is None


def test_a_role_that_does_not_reach_is_named() -> None:
    operator = caller(Role.OPERATOR)
    assert operator.require(Verb.RUN_CAMPAIGN, is_owner=True) is operator
    with pytest.raises(DeniedError, match="role `operator`") as refused:
        operator.require(Verb.RUN_CAMPAIGN)
    assert refused.value.code == "role_denied"
