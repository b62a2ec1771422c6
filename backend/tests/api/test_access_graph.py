"""The graph of access: what each session, token and link can make, and what ends that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from downlink.actions.people.access import MOST_TOKENS
from downlink.actions.people.provider import MOST_OF_ORIGIN
from downlink.actions.people.secrets import hash_secret
from downlink.storage.people import identity_store, means_of_access
from downlink.storage.tables import Identity, ProviderVisit
from tests.api.test_access import PASSWORD, SAME_ORIGIN, sign_up
from tests.api.test_accounts import account, accounts, browser
from tests.fixtures.lab import API, CAMPAIGN, Lab

NEW = "another walk by the sea"


class Thief:
    """A browser that is signed in with the owner's session, and what it makes with it."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        sign_up(lab)
        self.owner = lab.client
        self.client = TestClient(lab.app)
        signed = self.client.post(f"{API}/login", json={"username": "anna", "password": PASSWORD})
        assert signed.status_code == 200
        self.made: dict[str, str] = {}

    def ask(self, method: str, path: str, body: Any = None, *, by: str = "") -> Any:
        headers = {"Authorization": f"Bearer {by}"} if by else SAME_ORIGIN
        answer = self.client.request(method, API + path, json=body, headers=headers)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def make_all(self) -> None:
        """One of each means, by the session; and a token by the token."""
        self.made["token"] = self.ask("POST", "/tokens", {"name": "t", "scopes": ["read", "admin"]})["secret"]
        self.made["heir"] = self.ask("POST", "/tokens", {"name": "h", "scopes": ["read"]}, by=self.made["token"])[
            "secret"
        ]
        for name in ("client", "server"):
            self.lab.join(name)
        self.lab.link()
        campaign = self.ask(
            "POST", "/campaigns", {"campaign": {**CAMPAIGN, "trigger": {"when": {"call": True}, "most": 1}}}
        )
        self.ask("POST", f"/campaigns/{campaign['id']}/launch")
        self.made["call_secret"] = self.ask("POST", f"/campaigns/{campaign['id']}/trigger/secret")["secret"]
        self.made["share"] = self.ask(
            "POST", f"/campaigns/{campaign['id']}/shares", {"name": "s", "expires_in_days": 7}
        )["link"]
        self.made["enrolment"] = self.ask("POST", "/agents/enrolments", {"name": "new"})["token"]
        self.made["invitation"] = self.ask("POST", "/invitations", {"name": "eve", "role": "admin"})["link"]
        channel = {"name": "c", "kind": "webhook", "target": "https://a.example/"}
        self.ask("POST", "/channels", channel)
        session = self.ask("GET", "/sessions")["items"]
        own = UUID(next(each["id"] for each in session if each["is_own"]))
        user = UUID(self.ask("GET", "/session")["account_id"])
        with self.lab.units() as unit:
            now = self.lab.now()
            identity_store.add(
                unit, Identity(issuer="i", subject="thief", user_id=user, is_ruled=False, created_at=now)
            )
            identity_store.add_visit(unit, visit(now, "elsewhere", user_id=user, session_id=own))

    def kinds(self) -> set[str]:
        """What the owner is told of."""
        return {each["kind"] for each in self.owner.get(f"{API}/account/access").json()["items"]}


def visit(now: Any, origin: str, number: int = 0, **changes: Any) -> ProviderVisit:
    secret = hash_secret(f"{origin} {number}")
    return ProviderVisit(
        state_hash=secret, browser_hash=secret, nonce="n", verifier="v", origin=origin,
        expires_at=now + timedelta(minutes=10, seconds=number), **changes,
    )  # fmt: skip


def works(lab: Lab, secret: str) -> bool:
    return lab.client.get(f"{API}/session", headers={"Authorization": f"Bearer {secret}"}).status_code == 200


def test_every_means_is_listed_for_its_owner(lab: Lab) -> None:
    thief = Thief(lab)
    thief.make_all()
    assert thief.kinds() == set(means_of_access.KINDS)
    listed = thief.owner.get(f"{API}/account/access").json()["items"]
    assert {"thief", "t", "h", "HyStart on and off"} <= {each["name"] for each in listed}


def test_a_new_password_ends_sessions_and_what_nobody_has_used_yet_and_lists_the_rest(lab: Lab) -> None:
    thief = Thief(lab)
    thief.make_all()
    asked = {"current": PASSWORD, "password": NEW}
    assert thief.owner.post(f"{API}/password", json=asked, headers=SAME_ORIGIN).status_code == 204
    assert thief.client.get(f"{API}/session").status_code == 401
    assert thief.kinds() == set(means_of_access.KINDS) - set(means_of_access.OPEN)
    assert works(lab, thief.made["token"])
    ended = thief.owner.post(
        f"{API}/account/access/end", json={"kinds": list(means_of_access.KINDS)}, headers=SAME_ORIGIN
    )
    assert ended.json()["ended"] == {"token": 2, "connection": 1, "channel": 1, "share": 1, "call_secret": 1}
    assert thief.kinds() == set()
    assert not works(lab, thief.made["token"])
    assert not works(lab, thief.made["heir"])
    assert lab.call("GET", "/audit")["items"][0]["action"] == "end_access"


def test_an_admins_link_for_a_new_password_ends_everything(lab: Lab) -> None:
    thief = Thief(lab)
    thief.make_all()
    user = next(each["id"] for each in lab.call("GET", "/accounts")["items"] if each["username"] == "anna")
    link = lab.call("POST", f"/accounts/{user}/password")["link"]
    accepted = browser(lab).post(
        f"{API}/invitations/accept", json={"secret": link.partition("#")[2], "password": NEW}, headers=SAME_ORIGIN
    )
    assert accepted.status_code == 201, accepted.text
    assert not works(lab, thief.made["token"])
    with lab.units() as unit:
        assert means_of_access.list_means(unit, UUID(user), lab.now()) == []


def test_a_visit_to_the_provider_ends_with_the_session_that_asked_for_it(lab: Lab) -> None:
    thief = Thief(lab)
    thief.make_all()
    (stolen,) = (each for each in thief.owner.get(f"{API}/sessions").json()["items"] if not each["is_own"])
    assert "visit" in thief.kinds()
    thief.owner.delete(f"{API}/sessions/{stolen['id']}", headers=SAME_ORIGIN)
    assert "visit" not in thief.kinds()


def test_a_token_that_a_token_made_ends_with_it_and_no_later(lab: Lab) -> None:
    sign_up(lab)
    made = lab.client.post(
        f"{API}/tokens", json={"name": "t", "scopes": ["admin"], "expires_in_days": 1}, headers=SAME_ORIGIN
    ).json()
    heirs = [
        lab.call(
            "POST",
            "/tokens",
            {"name": "heir", "scopes": ["admin"], **more},
            headers={"Authorization": f"Bearer {made['secret']}"},
        )
        for more in ({}, {"expires_in_days": 365})
    ]
    assert {each["expires_at"] for each in heirs} == {made["expires_at"]}
    grandchild = lab.call(
        "POST", "/tokens", {"name": "x", "scopes": ["admin"]}, headers={"Authorization": f"Bearer {heirs[0]['secret']}"}
    )
    assert grandchild["expires_at"] == made["expires_at"]
    lab.client.delete(f"{API}/tokens/{made['id']}", headers=SAME_ORIGIN)
    assert not any(works(lab, each["secret"]) for each in (*heirs, grandchild))


def test_an_account_has_so_many_tokens(lab: Lab) -> None:
    sign_up(lab)
    answers = [
        lab.client.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}, headers=SAME_ORIGIN)
        for _ in range(MOST_TOKENS + 1)
    ]
    assert [each.status_code for each in answers] == [201] * MOST_TOKENS + [409]
    assert answers[-1].json()["code"] == "tokens_full"


def test_one_host_has_so_many_visits_and_others_keep_theirs(lab: Lab) -> None:
    with lab.units() as unit:
        now = lab.now()
        for number in range(3 * MOST_OF_ORIGIN):
            identity_store.make_room(unit, "a", MOST_OF_ORIGIN, 50, now)
            identity_store.add_visit(unit, visit(now, "a", number))
        for number in range(40):
            identity_store.make_room(unit, f"b{number}", MOST_OF_ORIGIN, 50, now)
            identity_store.add_visit(unit, visit(now, f"b{number}"))
        held = identity_store.use_visit(unit, hash_secret("b0 0"), now)
        assert held is not None, "the host that has most made room, not one that has one"
        assert identity_store.use_visit(unit, hash_secret(f"a {3 * MOST_OF_ORIGIN - 1}"), now) is not None
        assert identity_store.use_visit(unit, hash_secret("a 0"), now) is None


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_nobody_sees_or_ends_the_means_of_another_account(lab: Lab, role: str) -> None:
    thief = Thief(lab)
    thief.make_all()
    other = account(lab, role, "olga")
    assert other.get(f"{API}/account/access").json()["items"] == []
    ended = other.post(f"{API}/account/access/end", json={"kinds": list(means_of_access.KINDS)}, headers=SAME_ORIGIN)
    assert ended.json() == {"ended": {}}
    assert thief.kinds() == set(means_of_access.KINDS)
    assert accounts(lab)
