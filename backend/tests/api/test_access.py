"""Set-up, sign-in, tokens, and who may do what."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from downlink.actions.people import access
from downlink.domain.errors import DownlinkError
from downlink.domain.fleet.agent import PROTOCOL
from downlink.process.settings import Settings
from downlink.storage.people import access_store
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import make_host

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


@pytest.mark.usefixtures("real_hashes")
def test_a_password_is_kept_as_a_slow_hash_that_opens_with_it_alone(lab: Lab) -> None:
    sign_up(lab)
    with lab.units() as unit:
        kept = unit.session.execute(text("SELECT password_hash FROM users")).scalar_one()
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert (login(lab, "wrong").status_code, login(lab).status_code) == (401, 200)


@pytest.mark.parametrize(
    ("password", "late_s", "status", "code"),
    [
        ("short", 0, 422, "request_invalid"),
        ("aaaaaaaaaaaaaa", 0, 422, "password_weak"),
        ("password1234", 0, 422, "password_weak"),
        ("qwertyuiop12", 0, 422, "password_weak"),
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


def test_a_token_is_replaced_while_the_old_one_is_in_use(lab: Lab) -> None:
    """Both work until the old one is revoked, which changes nothing for the new one."""
    old, new = (lab.call("POST", "/tokens", {"name": "ci", "scopes": ["read"]}) for _ in range(2))

    def status(made: dict[str, Any]) -> int:
        return lab.client.get(f"{API}/session", headers={"Authorization": f"Bearer {made['secret']}"}).status_code

    assert (status(old), status(new)) == (200, 200)
    lab.call("DELETE", f"/tokens/{old['id']}", expect=204)
    assert (status(old), status(new)) == (401, 200)


def test_an_agent_with_a_new_secret_goes_on_under_its_name_and_the_old_secret_is_closed(lab: Lab) -> None:
    """An agent has one secret at a time: the old one is revoked between two runs, and then the host joins again."""
    first, other = lab.join("client"), lab.join("server")
    lab.link()
    lab.drive(lab.launch(), [first, other])
    agent = next(each for each in lab.call("GET", "/agents")["items"] if each["name"] == "client")
    lab.call("DELETE", f"/agents/{agent['id']}", expect=204)
    again = lab.join("client")
    assert again.secret != first.secret
    runs = lab.drive(lab.launch(name="With a new secret"), [again, other])
    assert {run["state"] for run in runs} == {"complete"}
    assert first.put(runs[0]["id"], 1, (1, "receiver", 0), b"what was measured before").status_code == 401
    assert next(each for each in lab.call("GET", "/agents")["items"] if each["name"] == "client")["id"] == agent["id"]


def test_an_expired_token_is_refused(lab: Lab) -> None:
    secret = lab.call("POST", "/tokens", {"name": "ci", "scopes": ["read"], "expires_in_days": 1})["secret"]
    lab.wait(86_401)
    assert lab.client.get(f"{API}/session", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


def test_enrolment_tokens_work_once_and_in_time(lab: Lab) -> None:
    lab.join("first")
    token = lab.call("POST", "/agents/enrolments", {"name": "late", "expires_in_minutes": 5})["token"]
    lab.wait(301)
    answer = lab.client.post(
        f"{API}/agent/join",
        json={"protocol": PROTOCOL, "token": token, "name": "late", "version": "1", "host": lab.join("x").host},
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "enrolment_wrong")


def test_a_name_is_taken_until_its_agent_is_revoked(lab: Lab) -> None:
    first = lab.join("client")
    token = lab.call("POST", "/agents/enrolments", {"name": "free"})["token"]
    body = {"protocol": PROTOCOL, "token": token, "name": "client", "version": "1", "host": first.host}
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


def test_the_record_says_by_id_who_it_was(lab: Lab) -> None:
    """A token may bear any name, the admin's too."""
    sign_up(lab)
    made = lab.call("POST", "/tokens", {"name": "anna", "scopes": ["admin"]})
    lab.call("POST", "/agents/enrolments", {"name": "x"}, headers={"Authorization": f"Bearer {made['secret']}"})
    with lab.units() as unit:
        found = unit.session.execute(text("SELECT actor, actor_kind, actor_id FROM audit ORDER BY id")).all()
    user, token = (row for row in found if row.actor == "anna")
    assert (user.actor_kind, token.actor_kind, token.actor_id) == ("user", "token", UUID(made["id"]))
    assert user.actor_id is not None


def test_guesses_at_once_are_no_more_than_guesses_in_turn(lab: Lab) -> None:
    sign_up(lab)

    def guess(number: int) -> str:
        with pytest.raises(DownlinkError) as refused:
            access.check_password(lab.units, "anna", f"wrong {number}", "192.0.2.7", lab.now())
        return refused.value.code

    with ThreadPoolExecutor(16) as pool:
        codes = Counter(pool.map(guess, range(40)))
    assert 1 <= codes["login_wrong"] <= 10, codes
    # On a busy machine some give up waiting for a place to hash.
    assert codes["login_wrong"] + codes["sign_in_busy"] + codes["too_many_tries"] == 40


def test_a_strangers_guesses_do_not_lock_the_owner_out(lab: Lab) -> None:
    sign_up(lab)
    stranger = TestClient(lab.app, client=("198.51.100.9", 1))
    body = {"username": "anna", "password": "wrong"}
    codes = [stranger.post(f"{API}/login", json=body).json()["code"] for _ in range(12)]
    assert codes == ["login_wrong"] * 10 + ["too_many_tries"] * 2
    elsewhere = TestClient(lab.app, client=("203.0.113.5", 1))
    assert elsewhere.post(f"{API}/login", json={"username": "anna", "password": PASSWORD}).status_code == 200


def test_guesses_from_many_addresses_are_slowed_down_and_never_shut_the_owner_out(lab: Lab) -> None:
    sign_up(lab)
    with lab.units() as unit:
        for _ in range(access.GUESSED_FAILURES):
            access_store.add_tries(unit, ["user:anna"], lab.now(), timedelta(minutes=15))
    new = TestClient(lab.app, client=("203.0.113.5", 1))
    right, wrong = {"username": "anna", "password": PASSWORD}, {"username": "anna", "password": "wrong"}
    assert new.post(f"{API}/login", json=right).status_code == 200
    stranger = TestClient(lab.app, client=("198.51.100.9", 1))
    codes = [stranger.post(f"{API}/login", json=wrong).json()["code"] for _ in range(4)]
    assert codes == ["login_wrong"] * 2 + ["too_many_tries"] * 2
    assert login(lab).status_code == 200  # signed in here before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/login", {"username": "anna", "password": "wrong"}),
        ("/invitations/open", {"secret": "dli_wrong"}),
        ("/setup", {"token": "wrong", "username": "anna", "password": PASSWORD}),
    ],
)
def test_a_host_has_one_count_for_all_addresses_of_its_ipv6_network(lab: Lab, path: str, body: dict[str, Any]) -> None:
    def guess(number: int) -> str:
        client = TestClient(lab.app, client=(f"2001:db8:1:2::{number:x}", 1))
        return str(client.post(f"{API}{path}", json=body).json()["code"])

    assert guess(1) != "too_many_tries"
    assert [guess(number) for number in range(2, 13)][-2:] == ["too_many_tries"] * 2
    neighbour = TestClient(lab.app, client=("2001:db8:1:3::1", 1))
    assert neighbour.post(f"{API}{path}", json=body).json()["code"] != "too_many_tries"


@pytest.mark.parametrize(
    ("path", "body"), [("/setup", {"username": "eve", "password": PASSWORD}), ("/agent/join", None)]
)
def test_guesses_at_set_up_and_joining_are_limited_too(lab: Lab, path: str, body: dict[str, Any] | None) -> None:
    body = body or {"protocol": PROTOCOL, "name": "x", "version": "1", "host": make_host("boot")}
    codes = [lab.client.post(f"{API}{path}", json={**body, "token": "x"}).json()["code"] for _ in range(31)]
    assert codes[-1] == "too_many_tries"
    assert codes[9] != "too_many_tries"


def test_a_token_without_the_scope_admin_neither_makes_nor_sees_tokens_nor_lets_agents_join(lab: Lab) -> None:
    made = lab.call("POST", "/tokens", {"name": "robot", "scopes": ["read", "write"]})
    headers = {"Authorization": f"Bearer {made['secret']}"}
    for verb, path, body in (
        ("POST", "/tokens", {"name": "heir", "scopes": ["read"]}),
        ("GET", "/tokens", None),
        ("DELETE", f"/tokens/{made['id']}", None),
        ("GET", "/sessions", None),
        ("DELETE", f"/sessions/{made['id']}", None),
        ("POST", "/agents/enrolments", {"name": "x"}),
        ("DELETE", f"/agents/{made['id']}", None),
    ):
        refused = lab.call(verb, path, body, expect=403, headers=headers)
        assert (refused["code"], "`admin`" in refused["message"]) == ("scope_missing", True), (verb, path)


def test_a_token_makes_no_token_with_scopes_that_it_lacks(lab: Lab) -> None:
    made = lab.call("POST", "/tokens", {"name": "robot", "scopes": ["admin"]})
    headers = {"Authorization": f"Bearer {made['secret']}"}
    refused = lab.call("POST", "/tokens", {"name": "heir", "scopes": ["write"]}, expect=403, headers=headers)
    assert refused["code"] == "scope_missing"
    lab.call("POST", "/tokens", {"name": "heir", "scopes": ["admin"]}, headers=headers)


def test_a_new_password_ends_every_other_session(lab: Lab) -> None:
    sign_up(lab)
    other = TestClient(lab.app)
    assert other.post(f"{API}/login", json={"username": "anna", "password": PASSWORD}).status_code == 200
    asked = {"current": "wrong", "password": "another walk by the sea"}
    assert lab.client.post(f"{API}/password", json=asked, headers=SAME_ORIGIN).json()["code"] == "login_wrong"
    weak = {"current": PASSWORD, "password": "password1234"}
    assert lab.client.post(f"{API}/password", json=weak, headers=SAME_ORIGIN).json()["code"] == "password_weak"
    done = lab.client.post(f"{API}/password", json={**asked, "current": PASSWORD}, headers=SAME_ORIGIN)
    assert done.status_code == 204, done.text
    assert other.get(f"{API}/session").json()["code"] == "session_ended"
    assert lab.client.get(f"{API}/session").status_code == 200
    assert login(lab).json()["code"] == "login_wrong"
    assert login(lab, asked["password"]).status_code == 200


def test_an_api_token_changes_no_password(lab: Lab) -> None:
    body = {"current": PASSWORD, "password": "another walk by the sea"}
    assert lab.call("POST", "/password", body, expect=403)["code"] == "session_needed"


def test_sessions_are_listed_and_ended_one_by_one(lab: Lab) -> None:
    sign_up(lab)
    other = TestClient(lab.app, client=("203.0.113.5", 1), headers={"User-Agent": "Firefox of the lab"})
    other.post(f"{API}/login", json={"username": "anna", "password": PASSWORD})
    sessions = lab.client.get(f"{API}/sessions").json()["items"]
    assert [(each["address"], each["is_own"]) for each in sessions] == [("203.0.113.5", False), ("testclient", True)]
    assert sessions[0]["browser"] == "Firefox of the lab"
    gone = lab.client.delete(f"{API}/sessions/{sessions[0]['id']}", headers=SAME_ORIGIN)
    assert gone.status_code == 204
    assert other.get(f"{API}/session").json()["code"] == "session_ended"


def test_tokens_of_the_command_line_expire(lab: Lab, settings: Settings) -> None:
    secret = access.create_token(settings, "script", ("read", "write"), 90)
    headers = {"Authorization": f"Bearer {secret}"}
    session = lab.client.get(f"{API}/session", headers=headers).json()
    assert session["scopes"] == ["read", "write"]
    lab.wait(90 * 86_400)
    assert lab.client.get(f"{API}/session", headers=headers).json()["code"] == "token_wrong"
