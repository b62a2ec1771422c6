"""Set-up, sign-in, tokens, and who may do what."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from downlink.actions import access
from tests.fixtures.lab import API, Lab

PASSWORD = "correct horse battery"
SAME_ORIGIN = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}


def sign_up(lab: Lab) -> None:
    with lab.units() as unit:
        token = access.ensure_setup_token(unit, lab.now())
    answer = lab.client.post(f"{API}/setup", json={"token": token, "username": "anna", "password": PASSWORD})
    assert answer.status_code == 201, answer.text


def login(lab: Lab, password: str = PASSWORD, **headers: str) -> Any:
    return lab.client.post(f"{API}/login", json={"username": "anna", "password": password}, headers=headers)


def test_the_set_up_token_makes_one_admin_and_signs_in(lab: Lab) -> None:
    assert lab.client.get(f"{API}/setup").json() == {"is_needed": True}
    sign_up(lab)
    assert lab.client.get(f"{API}/setup").json() == {"is_needed": False}
    assert lab.client.get(f"{API}/session").json()["username"] == "anna"
    with lab.units() as unit:
        assert access.ensure_setup_token(unit, lab.now()) is None
    again = lab.client.post(f"{API}/setup", json={"token": "dlu_x", "username": "eve", "password": PASSWORD})
    assert (again.status_code, again.json()["code"]) == (409, "already_set_up")


@pytest.mark.parametrize(
    ("password", "late_s", "status", "code"),
    [
        ("short", 0, 422, "request_invalid"),
        ("aaaaaaaaaaaaaa", 0, 422, "password_weak"),
        ("anna-anna-anna", 0, 422, "password_weak"),
        (PASSWORD, 90_000, 403, "setup_token_wrong"),
    ],
)
def test_set_up_refuses_weak_passwords_and_old_tokens(
    lab: Lab, password: str, late_s: float, status: int, code: str
) -> None:
    with lab.units() as unit:
        token = access.ensure_setup_token(unit, lab.now())
    lab.wait(late_s)
    answer = lab.client.post(f"{API}/setup", json={"token": token, "username": "anna", "password": password})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert lab.client.get(f"{API}/setup").json() == {"is_needed": True}


def test_the_cookie_is_for_this_site_and_no_script(lab: Lab) -> None:
    sign_up(lab)
    cookie = login(lab).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (SAME_ORIGIN, 201),
        ({"Origin": "http://testserver"}, 201),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://testserver"}, 403),
        ({}, 403),
    ],
)
def test_a_cookie_write_must_come_from_the_same_origin(lab: Lab, headers: dict[str, str], status: int) -> None:
    sign_up(lab)
    answer = lab.client.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}, headers=headers)
    assert answer.status_code == status, answer.text


def test_signing_out_ends_the_session_on_the_server(lab: Lab) -> None:
    sign_up(lab)
    kept = dict(lab.client.cookies)
    assert lab.client.post(f"{API}/logout", headers=SAME_ORIGIN).status_code == 204
    lab.client.cookies.update(kept)
    assert lab.client.get(f"{API}/session").json()["code"] == "session_ended"


def test_a_session_ends_by_itself(lab: Lab) -> None:
    sign_up(lab)
    lab.wait(8 * 24 * 3600)
    assert lab.client.get(f"{API}/session").status_code == 401


def test_guessing_is_refused_after_ten_tries_for_a_quarter_of_an_hour(lab: Lab) -> None:
    sign_up(lab)
    assert {login(lab, "wrong").json()["code"] for _ in range(10)} == {"login_wrong"}
    refused = login(lab)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_tries")
    assert refused.headers["retry-after"] == "900"
    lab.wait(901)
    assert login(lab).status_code == 200


def test_a_token_is_kept_as_a_hash_expires_and_can_be_revoked(lab: Lab) -> None:
    made = lab.call("POST", "/tokens", {"name": "ci", "scopes": ["read"], "expires_in_days": 1})
    secret = made["secret"]
    assert secret.startswith("dlk_")
    assert made["prefix"] == secret[:10]
    with lab.units() as unit:
        assert secret not in str(unit.session.execute(text("SELECT * FROM api_tokens")).all())
    headers = {"Authorization": f"Bearer {secret}"}
    assert lab.client.get(f"{API}/session", headers=headers).json()["scopes"] == ["read"]
    lab.call("DELETE", f"/tokens/{made['id']}", expect=204)
    assert lab.client.get(f"{API}/session", headers=headers).status_code == 401
    lab.wait(2 * 24 * 3600)
    assert lab.call("DELETE", f"/tokens/{made['id']}", expect=404)["code"] == "token_not_found"


def test_an_expired_token_is_refused(lab: Lab) -> None:
    secret = lab.call("POST", "/tokens", {"name": "ci", "scopes": ["read"], "expires_in_days": 1})["secret"]
    lab.wait(86_401)
    assert lab.client.get(f"{API}/session", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


def test_enrolment_tokens_work_once_and_in_time(lab: Lab) -> None:
    lab.join("first")
    token = lab.call("POST", "/agents/enrolments", {"name": "late", "expires_in_minutes": 5})["token"]
    lab.wait(301)
    answer = lab.client.post(
        f"{API}/agent/join", json={"token": token, "name": "late", "version": "1", "host": lab.join("x").host}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "enrolment_wrong")


def test_a_name_is_taken_until_its_agent_is_revoked(lab: Lab) -> None:
    first = lab.join("client")
    token = lab.call("POST", "/agents/enrolments", {"name": "free"})["token"]
    body = {"token": token, "name": "client", "version": "1", "host": first.host}
    assert lab.client.post(f"{API}/agent/join", json=body).json()["code"] == "agent_name_taken"
    agent_id = lab.call("GET", "/agents")["items"][0]["id"]
    lab.call("DELETE", f"/agents/{agent_id}", expect=204)
    assert first._send("POST", "/poll", json={}).status_code in (401, 422)
    assert lab.client.post(f"{API}/agent/join", json=body).status_code == 200  # the token was not used up


def test_changes_of_access_are_on_record(lab: Lab) -> None:
    sign_up(lab)
    lab.join("client")
    with lab.units() as unit:
        actions = unit.session.execute(text("SELECT action FROM audit ORDER BY id")).scalars().all()
    assert actions == ["create_token", "set_up", "create_enrolment", "join"]
