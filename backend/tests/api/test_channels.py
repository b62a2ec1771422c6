"""Channels of notifications over the API: whose they are, what is shown of them, and what the test says."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from downlink.process.settings import Settings
from tests.api.test_access import sign_up
from tests.api.test_accounts import account
from tests.fixtures.lab import API, Lab
from tests.fixtures.receivers import Answer, MailReceiver, WebReceiver

WEBHOOK = {"name": "ops", "kind": "webhook", "target": "https://hooks.example/in/s3cret-part"}


def set_up(lab: Lab, **changes: object) -> None:
    settings: Settings = lab.app.state.settings
    lab.app.state.settings = settings.model_copy(update=changes)


@pytest.fixture
def olga(lab: Lab) -> TestClient:
    sign_up(lab)
    return account(lab, "operator", "olga")


def test_the_secret_is_shown_once_and_the_targets_path_never(lab: Lab) -> None:
    made = lab.call("POST", "/channels", WEBHOOK)
    assert made["secret"].startswith("whsec_")
    assert made["target"] == "https://hooks.example/…"
    (listed,) = lab.call("GET", "/channels")["items"]
    changed = lab.call("PATCH", f"/channels/{made['id']}", {"name": "nights", "topics": ["volume", "volume"]})
    assert (changed["name"], changed["topics"], changed["failures_in_row"]) == ("nights", ["volume"], 3)
    for answer in (listed, changed, lab.call("GET", "/audit")):
        assert "whsec_" not in str(answer)
        assert "s3cret-part" not in str(answer)


def test_operators_have_their_own_and_admins_see_all(lab: Lab, olga: TestClient) -> None:
    lab.call("POST", "/channels", WEBHOOK)
    mine = olga.post(f"{API}/channels", json={**WEBHOOK, "name": "mine", "is_own_only": True}).json()
    assert (mine["owner"], mine["is_own_only"]) == ("olga", True)
    assert [each["name"] for each in olga.get(f"{API}/channels").json()["items"]] == ["mine"]
    assert [each["name"] for each in lab.call("GET", "/channels")["items"]] == ["mine", "ops"]


def test_nobody_reaches_the_channel_of_another(lab: Lab, olga: TestClient) -> None:
    other = lab.call("POST", "/channels", WEBHOOK)["id"]
    for method, path in (("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/notifications")):
        body = {"name": "x"} if method == "PATCH" else None
        refused = olga.request(method, f"{API}/channels/{other}{path}", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "role_denied"), (method, path)


def test_viewers_have_none(lab: Lab) -> None:
    sign_up(lab)
    vera = account(lab, "viewer", "vera")
    assert vera.get(f"{API}/channels").json()["code"] == "role_denied"
    assert vera.post(f"{API}/channels", json=WEBHOOK).json()["code"] == "role_denied"


def test_a_channel_ends_with_its_account(lab: Lab, olga: TestClient) -> None:
    olga.post(f"{API}/channels", json=WEBHOOK)
    (account_id,) = [each["id"] for each in lab.call("GET", "/accounts")["items"] if each["username"] == "olga"]
    lab.call("DELETE", f"/accounts/{account_id}")
    assert lab.call("GET", "/channels")["items"] == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"target": "ftp://a.example"}, "target_invalid"),
        ({"kind": "chat", "target": "nobody@a.example"}, "target_invalid"),
        ({"kind": "pigeon"}, "request_invalid"),
        ({"topics": []}, "request_invalid"),
        ({"topics": ["weather"]}, "request_invalid"),
        ({"failures_in_row": 0}, "request_invalid"),
        ({"secret": "x"}, "request_invalid"),
    ],
)
def test_what_is_wrong_is_said(lab: Lab, changes: dict[str, object], code: str) -> None:
    assert lab.call("POST", "/channels", {**WEBHOOK, **changes}, expect=422)["code"] == code


def test_mail_needs_a_mail_server(lab: Lab) -> None:
    mail = {"name": "a", "kind": "email", "target": "noc@lab.example"}
    assert lab.call("POST", "/channels", mail, expect=409)["code"] == "mail_not_set_up"
    assert lab.call("GET", "/channels")["has_mail"] is False
    with MailReceiver() as receiver:
        set_up(lab, smtp_host="127.0.0.1", smtp_port=receiver.port, smtp_security="none", mail_from="d@lab.example")
        assert lab.call("GET", "/channels")["has_mail"] is True
        made = lab.call("POST", "/channels", mail)
        assert (made["target"], made["secret"]) == ("noc@lab.example", None)
        assert lab.call("POST", f"/channels/{made['id']}/test")["is_sent"] is True
    assert len(receiver.mails) == 1


def test_the_test_says_what_happened(lab: Lab) -> None:
    with WebReceiver([Answer(500)]) as receiver:
        here = {**WEBHOOK, "target": receiver.url()}
        assert "DOWNLINK_NOTIFY_ALLOW" in lab.call("POST", "/channels", here, expect=422)["message"]
        set_up(lab, notify_allow="127.0.0.0/8")
        made = lab.call("POST", "/channels", here)
        set_up(lab, notify_allow="")
        changed = lab.call("PATCH", f"/channels/{made['id']}", {"target": "https://10.0.0.1/"}, expect=422)
        assert changed["code"] == "target_invalid"
        refused = lab.call("POST", f"/channels/{made['id']}/test")
        assert refused["is_sent"] is False
        assert "DOWNLINK_NOTIFY_ALLOW" in refused["detail"]
        assert receiver.got == []
        assert lab.call("POST", f"/channels/{made['id']}/test", expect=409)["code"] == "test_too_soon"
        set_up(lab, notify_allow="127.0.0.0/8")
        outcomes = []
        for _ in range(2):
            lab.wait(6)
            outcomes.append(lab.call("POST", f"/channels/{made['id']}/test"))
    assert outcomes == [{"is_sent": False, "detail": "Answered 500."}, {"is_sent": True, "detail": "Answered 200."}]
    found = lab.call("GET", f"/channels/{made['id']}/notifications")
    assert [each["state"] for each in found["items"]] == ["sent", "gave_up", "gave_up"]
    assert {each["due_at"] for each in found["items"]} == {None}
    assert lab.call("GET", "/channels")["items"][0]["last"]["state"] == "sent"


def test_removed_with_its_record(lab: Lab) -> None:
    made = lab.call("POST", "/channels", WEBHOOK)
    lab.call("DELETE", f"/channels/{made['id']}")
    assert lab.call("GET", f"/channels/{made['id']}/notifications", expect=404)["code"] == "channel_not_found"
    actions = [each["action"] for each in lab.call("GET", "/audit")["items"]]
    assert actions[:2] == ["remove_channel", "create_channel"]
