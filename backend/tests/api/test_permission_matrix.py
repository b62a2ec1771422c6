"""Every route about something that belongs to an account, by every role, for its owner and for others, with every scope."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from downlink.api.http.deps import OwnedPermission
from downlink.domain.people.permission import SCOPES, TABLE, Role, is_allowed
from tests.api.test_access import sign_up
from tests.api.test_accounts import ROLES, account, accounts
from tests.api.test_routes import asked, fill
from tests.fixtures.lab import API, CAMPAIGN, Lab

pytestmark = pytest.mark.sampled("faults", one_of=3)

Place = tuple[str, str]
CHANNEL = {"name": "a", "kind": "webhook", "target": "https://a.example/"}
LINK = {
    "name": "roof", "orbit": "LEO", "operator": "Starlink", "nominal_rate_bps": 50_000_000, "base_rtt_ms": 40,
    "receiver": "client", "senders": ["server"],
}  # fmt: skip


def owned_routes() -> dict[Place, OwnedPermission]:
    found = {}
    for place, permissions in asked().items():
        for permission in permissions:
            if isinstance(permission, OwnedPermission):
                found[place] = permission
    return found


class Things:
    """One of each thing that may be owned; what a test has deleted is rebuilt."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._ids: dict[str, str] = {}
        self._run = ""
        for name in ("client", "server"):
            lab.join(name)

    def place(self, path: str) -> str:
        """The route's address for these things."""
        for name in ("campaign_id", "link_id", "channel_id"):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", self._get(name))
        if "{run_id}" in path:
            path = path.replace("{run_id}", self._a_run())
        return fill(path)

    def belong_to(self, owner: UUID | None) -> None:
        with self._lab.units() as unit:
            for table in ("campaigns", "links", "channels"):
                unit.session.execute(text(f"UPDATE {table} SET owner_id = :owner"), {"owner": owner})  # noqa: S608

    def _get(self, name: str) -> str:
        kind = {"campaign_id": "campaigns", "link_id": "links", "channel_id": "channels"}[name]
        with self._lab.units() as unit:
            query = text(f"SELECT id FROM {kind} WHERE id = :id")  # noqa: S608
            if name not in self._ids or not unit.session.execute(query, {"id": self._ids[name]}).scalar():
                self._ids[name] = ""
        if not self._ids[name]:
            body: dict[str, Any] = {"campaigns": {"campaign": CAMPAIGN}, "links": LINK, "channels": CHANNEL}[kind]
            self._ids[name] = self._lab.call("POST", f"/{kind}", body)["id"]
        return self._ids[name]

    def _a_run(self) -> str:
        if not self._run:
            self._lab.link()
            self._run = self._lab.runs(self._lab.launch())[0]["id"]
        return self._run


@pytest.fixture
def things(lab: Lab) -> Things:
    sign_up(lab)
    return Things(lab)


def is_refused(answer: Any) -> bool:
    return answer.status_code == 403 and answer.json()["code"] in ("role_denied", "scope_missing")


@pytest.mark.parametrize("role", ROLES)
def test_every_owned_route_is_open_to_whom_the_table_says_with_every_scope(lab: Lab, things: Things, role: str) -> None:
    tried = 0
    with account(lab, role, "somebody") as client:
        own_id = UUID(accounts(lab)["somebody"]["id"])
        other_id = UUID(accounts(lab)["anna"]["id"])
        tokens = {scope: token_of(lab, own_id, scope) for scope in SCOPES}
        for (method, path), permission in owned_routes().items():
            for owner in (own_id, other_id, None):
                for scope in (None, *SCOPES):
                    place = things.place(path)
                    things.belong_to(owner)
                    answer = ask(lab, client, method, place, tokens.get(scope) if scope else None)
                    may = is_allowed(Role(role), permission.verb, is_owner=owner == own_id)
                    may = may and (scope is None or TABLE[permission.verb].scope == scope)
                    assert is_refused(answer) is not may, (method, path, role, owner == own_id, scope, answer.text)
                    assert answer.status_code < 500, (method, path, answer.text)
                    tried += 1
    assert tried == len(owned_routes()) * 3 * 4
    assert len(owned_routes()) >= 20


def ask(lab: Lab, client: TestClient, method: str, place: str, token: str | None) -> Any:
    """By session, or by a token of the same account; with a body that changes nothing where that is possible."""
    if token is None:
        return client.request(method, place, json={"no_such_key": 1})
    headers = {"Authorization": f"Bearer {token}"}
    return lab.client.request(method, place, json={"no_such_key": 1}, headers=headers)


def token_of(lab: Lab, account_id: UUID, scope: str) -> str:
    """A token of an account; viewers may make those with `read` themselves, here all are made alike."""
    made = lab.call("POST", "/tokens", {"name": scope, "scopes": [scope]})
    with lab.units() as unit:
        own = text("UPDATE api_tokens SET user_id = :owner WHERE id = :id")
        unit.session.execute(own, {"owner": account_id, "id": made["id"]})
    return str(made["secret"])


def test_paths_are_under_the_api() -> None:
    assert all(path.startswith(API) for _, path in owned_routes())
