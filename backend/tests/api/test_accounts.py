"""Accounts: invited, used by role and owner, and removed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from downlink.domain.people.permission import Reach, Role, Verb, reach_of
from tests.api.test_access import PASSWORD, SAME_ORIGIN, sign_up
from tests.api.test_routes import NOWHERE, asked, fill
from tests.fixtures.lab import API, CAMPAIGN, Lab

ROLES = ("viewer", "operator", "admin")
ANOTHER = "another horse battery staple"


@pytest.fixture(autouse=True)
def admin(lab: Lab) -> None:
    """The first account, `anna`, signed in with the lab's own browser."""
    sign_up(lab)


def browser(lab: Lab) -> TestClient:
    return TestClient(lab.app, raise_server_exceptions=False, headers=SAME_ORIGIN)


def invite(lab: Lab, role: str, name: str = "somebody") -> str:
    """The secret of a new invitation."""
    made = lab.call("POST", "/invitations", {"name": name, "role": role})
    return str(made["link"].partition("#")[2])


def accept(client: TestClient, secret: str, username: str | None, password: str = PASSWORD) -> Any:
    body = {"secret": secret, "password": password, **({"username": username} if username else {})}
    return client.post(f"{API}/invitations/accept", json=body)


def account(lab: Lab, role: str, username: str) -> TestClient:
    """A browser in which a new account with this role is signed in."""
    client = browser(lab)
    answer = accept(client, invite(lab, role), username)
    assert (answer.status_code, answer.json()["role"]) == (201, role), answer.text
    return client


def accounts(lab: Lab) -> dict[str, dict[str, Any]]:
    return {each["username"]: each for each in lab.call("GET", "/accounts")["items"]}


def join_both(lab: Lab) -> None:
    for name in ("client", "server"):
        lab.join(name)


@pytest.fixture
def two(lab: Lab) -> Iterator[tuple[TestClient, TestClient]]:
    """Two operators."""
    with account(lab, "operator", "olga") as olga, account(lab, "operator", "otto") as otto:
        yield olga, otto


def test_an_invitation_makes_one_account_with_its_role(lab: Lab) -> None:
    secret = invite(lab, "operator", "Olga of the lab")
    client = browser(lab)
    shown = client.post(f"{API}/invitations/open", json={"secret": secret}).json()
    assert (shown["role"], shown["username"]) == ("operator", None)
    assert accept(client, secret, None).json()["code"] == "username_missing"
    assert accept(client, secret, "anna").json()["code"] == "username_taken"
    assert accept(client, secret, "ANNA").json()["code"] == "username_taken"
    assert accept(client, secret, "olga").status_code == 201
    assert client.get(f"{API}/session").json()["username"] == "olga"
    for again in (accept(browser(lab), secret, "eve"), client.post(f"{API}/invitations/open", json={"secret": secret})):
        assert (again.status_code, again.json()["code"]) == (403, "invitation_ended")
    assert {name: each["role"] for name, each in accounts(lab).items()} == {"anna": "admin", "olga": "operator"}
    assert lab.call("GET", "/invitations")["total"] == 0


def test_of_many_who_use_one_invitation_at_once_one_gets_an_account(lab: Lab) -> None:
    secret = invite(lab, "viewer")
    with ThreadPoolExecutor(3) as pool:  # one host's fourth at once would be refused before it is looked at
        answers = list(pool.map(lambda number: accept(browser(lab), secret, f"user{number}"), range(3)))
    assert sorted(answer.status_code for answer in answers) == [201, 403, 403]
    assert len(accounts(lab)) == 2


def test_an_invitation_that_was_withdrawn_or_is_old_works_no_more(lab: Lab) -> None:
    withdrawn, old = invite(lab, "viewer"), invite(lab, "viewer", "late")
    listed = {each["name"]: each["id"] for each in lab.call("GET", "/invitations")["items"]}
    lab.call("DELETE", f"/invitations/{listed['somebody']}")
    assert accept(browser(lab), withdrawn, "eve").json()["code"] == "invitation_ended"
    lab.wait(7 * 86_400 + 1)
    assert accept(browser(lab), old, "eve").json()["code"] == "invitation_ended"
    assert set(accounts(lab)) == {"anna"}


def test_guesses_at_invitations_are_counted(lab: Lab) -> None:
    client = browser(lab)
    codes = [client.post(f"{API}/invitations/open", json={"secret": f"dli_{n}"}).status_code for n in range(12)]
    assert codes == [403] * 10 + [429] * 2


def test_a_lost_password_is_replaced_by_link_and_ends_every_session(lab: Lab) -> None:
    with account(lab, "viewer", "vera") as vera:
        made = lab.call("POST", f"/accounts/{accounts(lab)['vera']['id']}/password")
        secret = made["link"].partition("#")[2]
        client = browser(lab)
        assert client.post(f"{API}/invitations/open", json={"secret": secret}).json()["username"] == "vera"
        assert accept(client, secret, "somebody else", ANOTHER).status_code == 201
        assert client.get(f"{API}/session").json()["username"] == "vera"
        assert vera.get(f"{API}/session").status_code == 401
        for password, status in ((PASSWORD, 403), (ANOTHER, 200)):
            answer = browser(lab).post(f"{API}/login", json={"username": "vera", "password": password})
            assert (answer.status_code == 200) is (status == 200)
    assert set(accounts(lab)) == {"anna", "vera"}


def test_a_role_counts_from_the_next_request_on_and_there_is_always_an_admin(lab: Lab) -> None:
    with account(lab, "viewer", "vera") as vera:
        made = vera.post(f"{API}/campaigns", json={"campaign": CAMPAIGN})
        assert (made.status_code, made.json()["code"]) == (403, "role_denied")
        known = accounts(lab)
        lab.call("PATCH", f"/accounts/{known['vera']['id']}", {"role": "operator"})
        join_both(lab)
        lab.link()
        assert vera.post(f"{API}/campaigns", json={"campaign": CAMPAIGN}).status_code == 201
        anna = f"/accounts/{known['anna']['id']}"
        assert lab.call("PATCH", anna, {"role": "viewer"}, expect=409)["code"] == "last_admin"
        assert lab.call("DELETE", anna, expect=409)["code"] == "last_admin"
        lab.call("PATCH", f"/accounts/{known['vera']['id']}", {"role": "admin"})
        lab.call("DELETE", anna)
        assert lab.client.get(f"{API}/session").status_code == 401


def test_with_an_account_end_its_sessions_and_tokens_and_what_it_owned_stays(lab: Lab) -> None:
    join_both(lab)
    lab.link()
    with account(lab, "operator", "olga") as olga:
        token = olga.post(f"{API}/tokens", json={"name": "script", "scopes": ["read", "write"]}).json()
        headers = {"Authorization": f"Bearer {token['secret']}"}
        made = lab.client.post(f"{API}/campaigns", json={"campaign": CAMPAIGN}, headers=headers).json()
        assert olga.delete(f"{API}/campaigns/{made['id']}/shares/{NOWHERE}").json()["code"] == "share_not_found"
        lab.call("DELETE", f"/accounts/{accounts(lab)['olga']['id']}")
        assert olga.get(f"{API}/session").status_code == 401
        assert lab.client.get(f"{API}/session", headers=headers).status_code == 401
    assert lab.call("GET", f"/campaigns/{made['id']}")["name"] == CAMPAIGN["name"]
    lab.call("DELETE", f"/campaigns/{made['id']}")


def test_operators_change_their_own_campaigns_and_links_alone(lab: Lab, two: tuple[TestClient, TestClient]) -> None:
    olga, otto = two
    join_both(lab)
    link = olga.post(f"{API}/links", json={
        "name": "geo", "orbit": "GEO", "operator": "Viasat", "nominal_rate_bps": 144_000_000, "base_rtt_ms": 600,
        "receiver": "client", "senders": ["server"],
    }).json()  # fmt: skip
    campaign = olga.post(f"{API}/campaigns", json={"campaign": CAMPAIGN}).json()["id"]
    changes = [
        ("PATCH", f"/links/{link['id']}", {"operator": "ViaSat"}),
        ("PUT", f"/campaigns/{campaign}", {"campaign": CAMPAIGN}),
        ("PATCH", f"/campaigns/{campaign}", {"notes": "mine"}),
        ("POST", f"/campaigns/{campaign}/shares", {"name": "partners"}),
        ("POST", f"/campaigns/{campaign}/launch", None),
        ("POST", f"/campaigns/{campaign}/pause", None),
        ("POST", f"/campaigns/{campaign}/resume", None),
        ("POST", f"/campaigns/{campaign}/cancel", None),
    ]
    for method, path, body in changes:
        refused = otto.request(method, API + path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "role_denied"), path
        assert olga.request(method, API + path, json=body).is_success, path
    run = lab.runs(campaign)[0]["id"]
    assert otto.post(f"{API}/runs/{run}/cancel").json()["code"] == "role_denied"
    assert otto.post(f"{API}/campaigns/{campaign}/duplicate").status_code == 201  # the copy is otto's
    assert otto.delete(f"{API}/campaigns/{NOWHERE}").json()["code"] == "campaign_not_found"


def test_tokens_and_sessions_are_the_accounts_own(lab: Lab, two: tuple[TestClient, TestClient]) -> None:
    olga, otto = two
    token = olga.post(f"{API}/tokens", json={"name": "olga's", "scopes": ["admin"]}).json()
    assert [each["name"] for each in olga.get(f"{API}/tokens").json()["items"]] == ["olga's"]
    assert otto.get(f"{API}/tokens").json()["items"] == []
    assert otto.delete(f"{API}/tokens/{token['id']}").json()["code"] == "token_not_found"
    [session] = olga.get(f"{API}/sessions").json()["items"]
    assert (session["username"], session["is_own"]) == ("olga", True)
    assert otto.delete(f"{API}/sessions/{session['id']}").json()["code"] == "session_not_found"
    headers = {"Authorization": f"Bearer {token['secret']}"}
    refused = lab.client.get(f"{API}/accounts", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "role_denied")  # the token may no more than olga
    assert {each["username"] for each in lab.call("GET", "/sessions")["items"]} == {"anna", "olga", "otto"}
    lab.call("DELETE", f"/tokens/{token['id']}")
    assert lab.client.get(f"{API}/session", headers=headers).status_code == 401


@pytest.mark.parametrize("role", ROLES)
def test_every_route_asks_the_table_for_role_and_owner(lab: Lab, role: str) -> None:
    """Of things that are nobody's: whoever is confined to the own is refused, or learns that there is no such thing."""
    with account(lab, role, "somebody") as client:
        for (method, path), permissions in asked().items():
            if path.endswith(("/events", "/logout")):  # one is held open, the other would sign out
                continue
            answer = client.request(method, fill(path), json={})
            is_denied = answer.status_code == 403 and answer.json()["code"] == "role_denied"
            reaches = [reach_of(Role(role), permission.verb) for permission in permissions]
            assert is_denied is (Reach.NONE in reaches), (method, path, answer.text)


def test_changes_to_access_are_on_record_and_can_be_taken_away(lab: Lab) -> None:
    with account(lab, "viewer", "vera"):
        pass
    lab.call("PATCH", f"/accounts/{accounts(lab)['vera']['id']}", {"role": "operator"})
    newest, *older = lab.call("GET", "/audit", params={"limit": 3})["items"]
    assert (newest["actor"], newest["action"], newest["subject"]) == ("tests", "change_role", "vera to operator")
    assert [(each["actor"], each["action"]) for each in older] == [("vera", "join"), ("tests", "invite")]
    rows = list(csv.DictReader(io.StringIO(lab.call("GET", "/audit.csv"))))
    assert [row["action"] for row in rows][-3:] == ["invite", "join", "change_role"]
    assert len(rows) == lab.call("GET", "/audit")["total"]


def test_the_verbs_that_belong_to_an_owner_are_asked_with_the_owner() -> None:
    """A route whose verb reaches an operator's own things alone must look up whose they are."""
    owned = {verb for verb in Verb if reach_of(Role.OPERATOR, verb) is Reach.OWN}
    for place, permissions in asked().items():
        for permission in permissions:
            is_looked_up = type(permission).__name__.startswith("Own") or permission.is_own
            assert (permission.verb in owned) is is_looked_up, place


def test_every_table_has_a_form_for_spreadsheets(lab: Lab) -> None:
    plain = lab.client.get(f"{API}/audit.csv", headers={"Authorization": f"Bearer {lab.token}"})
    sheet = lab.client.get(f"{API}/audit.csv?spreadsheet=semicolon", headers={"Authorization": f"Bearer {lab.token}"})
    assert sheet.text.startswith("\ufeffid;at;actor;")
    assert sheet.headers["content-disposition"] == plain.headers["content-disposition"]
    assert not plain.text.startswith("\ufeff")
    assert lab.call("GET", "/audit.csv?spreadsheet=pipe", expect=422)["code"] == "request_invalid"
    paths = lab.client.app.openapi()["paths"]  # type: ignore[attr-defined]
    tables = {path: part["get"] for path, part in paths.items() if path.endswith(".csv")}
    assert len(tables) > 4
    for path, operation in tables.items():
        assert "spreadsheet" in {each["name"] for each in operation["parameters"]}, path
