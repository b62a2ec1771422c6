"""Every route: who may use it, which headers it answers with, how it says no; and the document that describes it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest
from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import SecretStr, TypeAdapter
from sqlalchemy import event
from starlette.routing import Route

from downlink.api.app import PARTS, create_app, openapi_document
from downlink.api.http import health
from downlink.api.http.deps import AccountPermission, Permission
from downlink.api.http.examples import EXAMPLES
from downlink.domain.errors import UnavailableError
from downlink.domain.fleet.agent import PROTOCOL
from downlink.domain.people.permission import SCOPES, TABLE, Scope, Verb
from downlink.process.settings import Settings
from downlink.protocol.events import AnyEvent
from downlink.protocol.poll import PollRequest
from tests.fixtures.lab import API, Lab

pytestmark = pytest.mark.sampled("faults", one_of=3)

OPEN = {
    ("POST", f"{API}/setup"), ("GET", f"{API}/setup"), ("POST", f"{API}/login"),
    ("POST", f"{API}/shares/open"), ("POST", f"{API}/invitations/open"), ("POST", f"{API}/invitations/accept"),
    ("GET", f"{API}/provider"), ("GET", f"{API}/provider/start"), ("GET", f"{API}/provider/callback"),
    # signed with a campaign's own secret
    ("POST", f"{API}/campaigns/{{campaign_id}}/trigger/call"),
    # for hosts that are not known yet
    ("GET", f"{API}/agents/binaries"), ("GET", f"{API}/agents/binaries/{{arch}}"),
    ("GET", f"{API}/agents/binaries/{{arch}}.sha256"), ("GET", f"{API}/agents/unit"),
}  # fmt: skip
NOWHERE = "00000000-0000-0000-0000-000000000000"
BODIES: dict[str, Any] = {
    "PATCH": {},
    "PUT": {"source": "name: a"},
    "shares": {"name": "a"},
    "pause": {},
    "decision": {"keeps": True, "why": "a"},
    "removal": {"part": "traces"},
    "retention": {},
    "preview": {"traces_days": 1},
    "{account_id}": {"role": "viewer"},
    "invitations": {"name": "a"},
    "channels": {"name": "a", "kind": "webhook", "target": "https://a.example/"},
    "import": {"text": "time\n"},
    "paths": {"ready": "bent-pipe", "hours": 0.02},
    "sweeps": {"detector": "search", "version": "3.1", "grid": {"bins": [10]}},
}
PROBLEM = {"code", "message", "details"}
document = cache(openapi_document)
"""The contract of this version; a second to make."""


def routes(*, for_agents: bool) -> list[tuple[str, str]]:
    return [
        (verb.upper(), path)
        for path, verbs in document()["paths"].items()
        for verb in verbs
        if path.startswith(f"{API}/agent/") is for_agents and (verb.upper(), path) not in OPEN
    ]


def fill(path: str) -> str:
    values = {"flow": "1", "point": "sender", "sequence": "0", "table": "runs"}
    for name in (
        "campaign_id",
        "run_id",
        "link_id",
        "agent_id",
        "token_id",
        "session_id",
        "sweep_id",
        "annotation_id",
        "share_id",
        "account_id",
        "invitation_id",
        "channel_id",
        "path_id",
        *values,
    ):
        path = path.replace("{" + name + "}", values.get(name, NOWHERE))
    return path


def test_there_are_routes_to_test() -> None:
    assert len(routes(for_agents=False)) > 30
    assert len(routes(for_agents=True)) == 7


def test_strangers_read_nothing_and_readers_change_nothing(lab: Lab) -> None:
    reader = {"Authorization": f"Bearer {lab.call('POST', '/tokens', {'name': 'r', 'scopes': ['read']})['secret']}"}
    for verb, path in routes(for_agents=False):
        refused = lab.client.request(verb, fill(path), json={})
        assert (refused.status_code, set(refused.json())) == (401, PROBLEM), (verb, path)
        assert refused.headers["www-authenticate"] == "Bearer"
        if verb != "GET" and not path.endswith(("/preview", "/logout")):
            answer = lab.client.request(verb, fill(path), json={}, headers=reader)
            assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), (verb, path)


def permissions(dependant: Dependant) -> list[Permission]:
    """What a route asks of its caller, wherever in its dependencies that is declared."""
    found = [dependant.call] if isinstance(dependant.call, Permission) else []
    return [*found, *(each for inner in dependant.dependencies for each in permissions(inner))]


@cache
def asked() -> dict[tuple[str, str], set[Permission]]:
    """What each route of people asks for, by method and path."""
    placed = [(API + route.path, route) for part in PARTS for route in part.router.routes]
    placed += [(route.path, route) for route in health.router.routes]
    return {
        (verb, path): set(permissions(route.dependant))
        for path, route in placed
        if isinstance(route, APIRoute) and route.include_in_schema and path.startswith(f"{API}/")
        for verb in route.methods
        if not path.startswith(f"{API}/agent/") and (verb, path) not in OPEN
    }


def test_every_route_asks_for_a_permission_by_its_verb() -> None:
    found = asked()
    assert set(found) == set(routes(for_agents=False))
    for place, permissions_asked in found.items():
        verbs = {permission.verb for permission in permissions_asked}
        assert verbs, place
        assert len(verbs - {Verb.READ}) <= 1, place
        assert not {Verb.READ, Verb.READ_CAMPAIGN} <= verbs, place
        assert {permission for permission in permissions_asked if permission.is_own} <= {
            AccountPermission(Verb.CHANGE_ACCOUNT, is_own=True),
            AccountPermission(Verb.MANAGE_TOKENS, is_own=True),
            AccountPermission(Verb.MANAGE_CHANNELS, is_own=True),
        }
        if place[0] == "GET":
            reading = {Verb.READ, Verb.READ_CAMPAIGN, Verb.MANAGE_ACCESS, Verb.MANAGE_TOKENS, Verb.SHARE_CAMPAIGN}
            reading |= {Verb.MANAGE_CHANNELS}
            assert verbs <= reading, place
    assert {permission.verb for all_asked in found.values() for permission in all_asked} == set(Verb)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_opens_the_routes_of_its_verbs_and_no_other(lab: Lab, scope: Scope) -> None:
    token = lab.call("POST", "/tokens", {"name": scope, "scopes": [scope]})["secret"]
    for (verb, path), permissions_asked in asked().items():
        if path.endswith(("/events", "/logout")):  # one is held open, the other would sign out
            continue
        answer = lab.client.request(verb, fill(path), json={}, headers={"Authorization": f"Bearer {token}"})
        is_refused = answer.status_code == 403 and answer.json()["code"] == "scope_missing"
        assert is_refused is any(TABLE[permission.verb].scope != scope for permission in permissions_asked), (
            verb,
            path,
        )


def test_api_tokens_do_not_open_the_agents_channel(lab: Lab) -> None:
    poll = {"status": "idle", "run_id": None, "detail": None, "progress": None, "spool": [], "host": None, "wait_s": 0}
    event = {"kind": "uploaded", "attempt": 1, "at": "2026-01-01T00:00:00Z"}
    headers = {"Authorization": f"Bearer {lab.token}", "X-Content-SHA256": "0" * 64, "X-Attempt": "1"}
    for verb, path in routes(for_agents=True):
        if not path.endswith("/join"):  # that one needs an enrolment token
            body = {"events": event, "observations": {"observations": []}}.get(path.rsplit("/", 1)[-1], poll)
            answer = lab.client.request(verb, fill(path), headers=headers, json=body)
            assert (answer.status_code, answer.json()["code"]) == (401, "agent_unknown"), path


def test_what_is_not_there_is_a_problem_with_a_sentence(lab: Lab) -> None:
    for verb, path in routes(for_agents=False):
        if "{" in path:
            body = BODIES.get(path.rsplit("/", 1)[-1], BODIES.get(verb))
            answer = lab.client.request(verb, fill(path), headers={"Authorization": f"Bearer {lab.token}"}, json=body)
            assert answer.status_code == 404, (verb, path, answer.text)
            assert set(answer.json()) == PROBLEM
            assert answer.json()["message"].endswith(".")


@pytest.mark.parametrize(
    ("verb", "path", "options", "status", "code"),
    [
        ("GET", f"{API}/nothing", {}, 404, "not_found"),
        ("PUT", f"{API}/links", {}, 405, "method_not_allowed"),
        (
            "POST",
            f"{API}/links",
            {"content": b"{", "headers": {"Content-Type": "application/json"}},
            400,
            "request_unreadable",
        ),
        ("POST", f"{API}/links", {"json": {"nmae": "x"}}, 422, "request_invalid"),
        ("GET", f"{API}/runs/not-a-uuid", {}, 422, "request_invalid"),
        ("GET", f"{API}/links?limit=0", {}, 422, "request_invalid"),
        ("POST", f"{API}/campaigns/preview", {"json": {}}, 422, "request_invalid"),
        ("POST", f"{API}/campaigns/preview", {"json": {"source": "name: ["}}, 422, "campaign_invalid"),
    ],
)
def test_every_error_has_one_shape(
    lab: Lab, verb: str, path: str, options: dict[str, Any], status: int, code: str
) -> None:
    headers = {"Authorization": f"Bearer {lab.token}", **options.pop("headers", {})}
    answer = lab.client.request(verb, path, headers=headers, **options)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert set(answer.json()) == PROBLEM


@pytest.mark.parametrize("path", ["/", "/campaigns/1", f"{API}/session", f"{API}/docs", "/healthz", f"{API}/nothing"])
def test_security_headers_are_on_every_answer(lab: Lab, path: str) -> None:
    headers = lab.client.get(path).headers
    assert "script-src 'self';" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "strict-transport-security" not in headers  # plain http here


def test_an_unexpected_error_is_answered_like_any_other(lab: Lab) -> None:
    def break_down(_request: Request) -> Response:
        raise ZeroDivisionError

    lab.app.router.routes.insert(0, Route("/api/v1/broken", break_down))
    answer = lab.client.get(f"{API}/broken")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "script-src 'self';" in answer.headers["content-security-policy"]


def test_the_dashboard_answers_its_own_pages_and_nothing_else(lab: Lab) -> None:
    for page in ("/", "/campaigns", "/campaigns/1"):
        assert "<title>Downlink</title>" in lab.client.get(page).text
    assert "immutable" in lab.client.get("/assets/app-1a2b.js").headers["cache-control"]
    assert lab.client.get("/").headers["cache-control"] == "no-cache"
    for path in ("/assets/gone-1.js", "/assets/x", "/favicon.svg", f"{API}/gone"):
        assert lab.client.get(path).json()["code"] == "not_found"
    assert lab.client.get("/..%2f..%2fetc/passwd").status_code in (200, 404)
    assert "root:" not in lab.client.get("/..%2f..%2fetc/passwd").text


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip;q=1.0, br;q=0.5", "br"),
        ("gzip, br;q=0", "gzip"),
        ("identity, gzip ; q=0.1", "gzip"),
        ("br;q=0.0, identity", None),
        ("identity", None),
    ],
)
def test_a_hashed_file_is_sent_as_the_build_has_packed_it(lab: Lab, accepted: str, encoding: str | None) -> None:
    folder = lab.app.state.settings.dashboard_dir / "assets"
    script = b"export const a = 1;\n" * 100
    (folder / "packed-1.js").write_bytes(script)
    (folder / "packed-1.js.gz").write_bytes(gzip.compress(script, mtime=0))
    (folder / "packed-1.js.br").write_bytes(b"as brotli has it")
    request = lab.client.build_request("GET", "/assets/packed-1.js", headers={"Accept-Encoding": accepted})
    answer = lab.client.send(request, stream=True)
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert (answer.headers["vary"], "immutable" in answer.headers["cache-control"]) == ("Accept-Encoding", True)
    body = b"".join(answer.iter_raw())
    assert body == {"br": b"as brotli has it", "gzip": gzip.compress(script, mtime=0), None: script}[encoding]
    again = {"Accept-Encoding": accepted, "If-None-Match": answer.headers["etag"]}
    assert lab.client.get("/assets/packed-1.js", headers=again).status_code == 304


def test_a_file_that_the_build_has_not_packed_is_packed_on_its_way(lab: Lab) -> None:
    folder = lab.app.state.settings.dashboard_dir / "assets"
    (folder / "plain-1.js").write_bytes(b"export const a = 1;\n" * 100)
    answer = lab.client.get("/assets/plain-1.js", headers={"Accept-Encoding": "br, gzip"})
    assert (answer.headers["content-encoding"], answer.text.count("\n")) == ("gzip", 100)


def test_ready_needs_database_and_queue(lab: Lab, settings: Settings) -> None:
    lab.tick()
    assert lab.client.get("/readyz").json() == {"status": "ready"}
    lab.app.state.settings = settings.model_copy(update={"redis_url": SecretStr("redis://127.0.0.1:1/0")})
    answer = lab.client.get("/readyz")
    assert (answer.status_code, answer.json()["details"]) == (503, {"away": ["queue"]})


@contextmanager
def read_only(lab: Lab) -> Iterator[None]:
    """A database that takes no changes, as these two see it: all connections of the server and of its conductor."""
    engines = {lab.units.engine, lab.app.state.units.engine}

    def forbid(connection: Any, _record: Any) -> None:
        connection.execute("SET default_transaction_read_only = on")
        connection.commit()

    for engine in engines:
        event.listen(engine, "connect", forbid)
        engine.dispose()
    yield
    for engine in engines:
        event.remove(engine, "connect", forbid)
        engine.dispose()


def test_a_database_that_takes_no_changes_is_named_and_nothing_is_an_internal_error(lab: Lab) -> None:
    """A managed database whose disk is full does so, and a standby after a wrong failover."""
    agent = lab.join("client")
    lab.tick()
    with read_only(lab):
        assert lab.client.get("/readyz").json()["details"] == {"away": ["database"]}
        with pytest.raises(AssertionError, match="database_read_only"):
            agent.poll()
        refused = lab.call("POST", "/agents/enrolments", {"name": "new"}, expect=503)
        assert (refused["code"], refused["message"]) == (
            "database_read_only",
            "The database takes no changes at present; try again once it does.",
        )
        with pytest.raises(UnavailableError) as skipped:
            lab.tick()
        assert skipped.value.code == "database_read_only"
    lab.tick()
    assert lab.client.get("/readyz").status_code == 200
    agent.poll()


def test_a_named_contact_is_served_as_security_txt_to_anybody(lab: Lab, settings: Settings) -> None:
    path = "/.well-known/security.txt"
    assert lab.client.get(path).json()["code"] == "not_found"
    lab.app.state.settings = settings.model_copy(update={"security_contact": "mailto:security@lab.example"})
    answer = lab.client.get(path)
    assert answer.headers["content-type"].startswith("text/plain")
    said = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert said["Contact"] == "mailto:security@lab.example"
    assert said["Canonical"] == f"{settings.public_url}{path}"
    left = datetime.fromisoformat(said["Expires"]) - lab.now()
    assert timedelta(days=80) < left < timedelta(days=366)


def test_ready_needs_a_conductor_that_ticks(lab: Lab) -> None:
    assert lab.client.get("/readyz").json()["details"] == {"away": ["conductor"]}
    lab.tick()
    assert lab.client.get("/readyz").status_code == 200
    assert lab.call("GET", "/service")["is_conducting"]
    lab.go_away(11)
    answer = lab.client.get("/readyz")
    assert (answer.status_code, answer.json()["details"]) == (503, {"away": ["conductor"]})
    assert "more than 10 s" in answer.json()["message"]
    said = lab.call("GET", "/service")
    assert not said["is_conducting"]
    assert said["ticked_at"]


def test_the_page_of_the_api_names_every_route(lab: Lab) -> None:
    page = lab.client.get(f"{API}/docs").text
    assert all(path in page for path in document()["paths"])


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (verb.upper(), path, operation)
        for path, verbs in document()["paths"].items()
        for verb, operation in verbs.items()
    ]


def test_the_document_says_of_every_route_who_may_call_it() -> None:
    assert document()["servers"] == [{"url": "/", "description": "The server that hands out this document"}]
    person, agent = [{"token": []}, {"session": []}], [{"agent": []}]
    for verb, path, operation in operations():
        if (verb, path) in OPEN or path == f"{API}/agent/join":
            assert operation["security"] == [], path
        else:
            visited = {permission.verb for permission in asked().get((verb, path), ())} & {Verb.READ_CAMPAIGN}
            people = [*person, {"share": []}] if visited else person
            assert operation["security"] == (agent if path.startswith(f"{API}/agent/") else people), path
        assert {name for each in operation["security"] for name in each} <= set(
            document()["components"]["securitySchemes"]
        )


def test_every_body_but_raw_bytes_has_an_example() -> None:
    seen = {
        operation["operationId"]
        for _, _, operation in operations()
        for kind, media in operation.get("requestBody", {}).get("content", {}).items()
        if kind != "application/octet-stream" and media["example"]
    }
    assert seen == set(EXAMPLES)


def test_every_example_is_taken(lab: Lab) -> None:
    """A server without links and campaigns finds nothing to do with them, and nothing wrong with their shape."""
    agents = {"poll": TypeAdapter(PollRequest), "accept_event": TypeAdapter(AnyEvent)}
    for verb, path, operation in operations():
        name = operation["operationId"]
        if name in agents:
            agents[name].validate_python(EXAMPLES[name])
        elif name in EXAMPLES and name != "import_files":
            headers = {"Authorization": f"Bearer {lab.token}"}
            answer = lab.client.request(verb, fill(path), json=EXAMPLES[name], headers=headers)
            said = answer.json() if answer.content else {}
            assert said.get("code") not in ("request_invalid", "request_unreadable", "campaign_invalid"), (name, said)
    assert EXAMPLES["join"]["protocol"] == EXAMPLES["poll"]["protocol"] == PROTOCOL


def test_the_page_of_the_api_shows_parameters_bodies_and_answers_without_a_script(lab: Lab) -> None:
    page = lab.client.get(f"{API}/docs").text
    assert "<script" not in page
    assert 'name="viewport"' in page
    for name in ("campaign_id", "even_if_offline", "seed", "from_s"):
        assert f"<code>{name}</code>" in page, name
    assert "&quot;tcp_cubic.hystart&quot;: 1" in page
    links, places = set(re.findall(r'href="#([^"]+)"', page)), re.findall(r' id="([^"]+)"', page)
    assert links <= set(places)
    assert len(places) == len(set(places))


def test_a_settings_object_names_no_secret(settings: Settings) -> None:
    shown = repr(settings.model_copy(update={"database_url": SecretStr("postgresql://u:hunter2@h/d")}))
    assert "hunter2" not in shown
    assert create_app(settings).title == "Downlink"
