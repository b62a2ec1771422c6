"""Requests that Schemathesis draws for every route, made by every role, by an agent and by nobody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.api.http.deps import Permission
from downlink.domain.people.permission import Role, is_allowed
from tests.api.test_access import sign_up
from tests.api.test_accounts import account, accounts
from tests.api.test_routes import OPEN, asked
from tests.fixtures.lab import API, CAMPAIGN, Lab
from tests.fixtures.recorded import ARCHIVE, recorded_rows

pytestmark = pytest.mark.sampled("faults")

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
ROLES = (Role.VIEWER, Role.OPERATOR, Role.ADMIN)
FOR_AGENTS = f"{API}/agent/"
REFUSED = (401, 403, 404)
EXAMPLES = 3
"""For each route and caller. Who may not ask is refused whatever is drawn, so that one request says it."""
CHANGES = ("POST", "PUT", "PATCH", "DELETE")
LINK = {
    "name": "roof", "orbit": "LEO", "operator": "Starlink", "nominal_rate_bps": 50_000_000, "base_rtt_ms": 40,
    "receiver": "client", "senders": ["server"],
}  # fmt: skip
CHANNEL = {"name": "a", "kind": "webhook", "target": "https://a.example/"}


class Things:
    """What drawn requests name. Nothing of it belongs to any of the callers, and what one has deleted is rebuilt."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._made: dict[str, str] = {}
        for name in ("client", "server"):
            lab.join(name)
        with lab.units() as unit:
            self._recorded = str(load_archive(unit, ARCHIVE.read_bytes())[0])
        self._run = str(recorded_rows()["runs"][0]["id"])

    def named(self, method: str, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Path parameters that name what there is."""
        return {**drawn, **{name: found for name in drawn if (found := self._find(name, method))}}

    def _find(self, name: str, method: str) -> str:
        if name == "run_id":
            return self._run
        if name == "campaign_id" and method not in CHANGES:
            return self._recorded  # with runs, a report and traces
        made: dict[str, tuple[str, dict[str, Any]]] = {
            "campaign_id": ("campaigns", {"campaign": CAMPAIGN}),
            "link_id": ("links", LINK),
            "channel_id": ("channels", CHANNEL),
            "annotation_id": ("annotations", {"link": "roof", "text": "rain", "from_at": "2026-01-02T03:00:00Z"}),
        }
        if name not in made:
            return {"flow": "1", "point": "sender", "table": "runs"}.get(name, "")
        table, body = made[name]
        if name == "annotation_id":
            self._find("link_id", method)
        if not self._is_there(table, self._made.get(name)):
            self._made[name] = self._lab.call("POST", f"/{table}", body)["id"]
        return self._made[name]

    def _is_there(self, table: str, identity: str | None) -> bool:
        with self._lab.units() as unit:
            query = text(f"SELECT id FROM {table} WHERE id = CAST(:id AS uuid)")  # noqa: S608
            return unit.session.execute(query, {"id": identity}).scalar() is not None


def token_of(lab: Lab, role: Role) -> str:
    """A token with every scope, of a new account with this role."""
    with account(lab, role, f"some-{role}"):
        owner = UUID(accounts(lab)[f"some-{role}"]["id"])
    made = lab.call("POST", "/tokens", {"name": role, "scopes": ["read", "write", "admin"]})
    with lab.units() as unit:
        own = text("UPDATE api_tokens SET user_id = :owner WHERE id = :id")
        unit.session.execute(own, {"owner": owner, "id": made["id"]})
    return str(made["secret"])


@pytest.fixture
def callers(lab: Lab) -> dict[str, str]:
    """Who asks, to the secret that they show. Those who may least come first: what they ask for stays as it is."""
    sign_up(lab)
    agent = lab.join("somebody")
    return {"nobody": "", "agent": agent.secret, **{role.value: token_of(lab, role) for role in ROLES}}


def test_drawn_requests_get_documented_answers_and_roles_no_more_than_theirs(lab: Lab, callers: dict[str, str]) -> None:
    """No answer is a server error, or of a status or shape that the document does not name."""
    things, permissions = Things(lab), asked()
    answered: dict[str, list[int]] = {caller: [] for caller in callers}
    for found in schemathesis.openapi.from_asgi(f"{API}/openapi.json", lab.app).get_all_operations():
        operation = found.ok()
        place = (operation.method.upper(), operation.path)
        closed = {caller for caller in callers if is_refused(caller, place, permissions.get(place, ()))}
        for number, case in enumerate(cases(operation, things)):
            for caller, secret in callers.items():
                # That one is endless by design: tests/jobs/test_processes.py
                if number > 0 if caller in closed else place[1] == f"{API}/events":
                    continue
                status = ask(case, secret)
                answered[caller].append(status)
                assert caller not in closed or status in refusals(place), (caller, place, status)
    assert {200, 201, 401, 403, 404} <= set(answered["operator"])
    assert 204 in answered["admin"]
    assert min(map(len, answered.values())) > 130


def refusals(place: tuple[str, str]) -> tuple[int, ...]:
    """The agents' channel looks at the shape of a message before it looks up who sent it."""
    return (*REFUSED, 422) if place[1].startswith(FOR_AGENTS) else REFUSED


def is_refused(caller: str, place: tuple[str, str], permissions: Iterable[Permission]) -> bool:
    """Whether the table refuses this route for what is not the caller's own."""
    if place in OPEN or place[1] == f"{FOR_AGENTS}join":
        return False
    if place[1].startswith(FOR_AGENTS):
        return caller != "agent"
    if caller not in ROLES:
        return True
    return any(not is_allowed(Role(caller), each.verb, is_owner=each.is_own) for each in permissions)


def cases(operation: Any, things: Things) -> list[Any]:
    """One request that names what there is, and others that name what is drawn; the same ones each time."""
    drawn: list[Any] = []

    @hypothesis_settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(case=operation.as_strategy())
    def draw(case: Any) -> None:
        drawn.append(case)

    draw()
    drawn[0].path_parameters = things.named(operation.method.upper(), drawn[0].path_parameters or {})
    if operation.path == f"{FOR_AGENTS}poll":
        for case in drawn:
            case.body = {**case.body, "wait_s": 0}
    return drawn


def ask(case: Any, secret: str) -> int:
    """The answer's status, after a look at all of it."""
    drawn = {name: value for name, value in (case.headers or {}).items() if name.lower() != "authorization"}
    case.headers, case.cookies = drawn, {}
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    answer = case.call(headers=headers)
    case.validate_response(answer, checks=CHECKS, headers=headers)
    return int(answer.status_code)
