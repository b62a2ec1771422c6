"""Inputs that no form makes: each is refused with the one problem shape, never with a fault of the server."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from downlink.domain.fleet.agent import PROTOCOL
from tests.fixtures.lab import API, CAMPAIGN, Lab
from tests.fixtures.scripted_agent import make_host

NOWHERE = "00000000-0000-0000-0000-000000000000"
LINK = {
    "name": "geo", "orbit": "GEO", "operator": "", "nominal_rate_bps": 1, "base_rtt_ms": 1,
    "receiver": "client", "senders": ["server"],
}  # fmt: skip
HALF = "\ud800"
OUTCOME_AT = "/agent/runs/" + NOWHERE + "/events"


def campaign(**changes: Any) -> dict[str, Any]:
    return {"campaign": {**CAMPAIGN, **changes}}


def source(text: str) -> dict[str, str]:
    return {"source": text}


def refused(lab: Lab, verb: str, path: str, body: Any, headers: dict[str, str] | None = None) -> None:
    """Sent as bytes, since the client would not encode a half of a surrogate pair."""
    answer = lab.client.request(
        verb,
        API + path,
        content=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {lab.token}", **(headers or {})},
    )
    assert 400 <= answer.status_code < 500, (path, body, answer.status_code, answer.text)
    assert set(answer.json()) == {"code", "message", "details"}


@pytest.mark.parametrize("text", ["a\x00b", f"a{HALF}b"], ids=["zero character", "half of a pair"])
@pytest.mark.parametrize(
    ("path", "key", "body"),
    [
        ("/login", "username", {"username": "anna", "password": "x"}),
        ("/login", "password", {"username": "anna", "password": "x"}),
        ("/setup", "token", {"token": "x", "username": "anna", "password": "a long walk by the sea"}),
        ("/setup", "username", {"token": "x", "username": "anna", "password": "a long walk by the sea"}),
        ("/setup", "password", {"token": "x", "username": "anna", "password": "a long walk by the sea"}),
        ("/password", "current", {"current": "x", "password": "a long walk by the sea"}),
        ("/tokens", "name", {"name": "x", "scopes": ["read"]}),
        ("/links", "operator", LINK),
        ("/links", "name", LINK),
        (
            "/agent/join",
            "token",
            {"protocol": PROTOCOL, "token": "x", "name": "x", "version": "1", "host": make_host("boot")},
        ),
        (
            "/agent/join",
            "version",
            {"protocol": PROTOCOL, "token": "x", "name": "x", "version": "1", "host": make_host("boot")},
        ),
        ("/campaigns/preview", "source", source("name: x")),
    ],
)
def test_a_text_that_no_database_takes_is_refused(
    lab: Lab, path: str, key: str, body: dict[str, Any], text: str
) -> None:
    refused(lab, "POST", path, {**body, key: f"{body[key]}{text}"})


@pytest.mark.parametrize("path", ["/login", "/links", "/campaigns/preview"])
def test_a_key_that_is_no_text_of_its_own_is_refused(lab: Lab, path: str) -> None:
    refused(lab, "POST", path, {HALF: 1})


def test_facts_of_a_host_are_texts_that_can_be_stored(lab: Lab) -> None:
    for fact in ({"kernel": HALF}, {"new": {"deep": HALF}}, {HALF: "x"}):
        body = {"protocol": PROTOCOL, "token": "x", "name": "x", "version": "1", "host": {**make_host("boot"), **fact}}
        refused(lab, "POST", "/agent/join", body)


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00"], ids=str
)
def test_a_moment_that_utc_does_not_hold_is_refused(lab: Lab, at: str) -> None:
    agent = lab.join("client")
    body = {"kind": "uploaded", "attempt": 1, "at": at}
    refused(lab, "POST", OUTCOME_AT, body, {"Authorization": f"Bearer {agent.secret}"})


@pytest.mark.parametrize("at", ["0001-01-01T00:00+05:00", "9999-12-31T23:59-05:00"])
def test_a_moment_of_people_that_utc_does_not_hold_is_refused(lab: Lab, at: str) -> None:
    lab.join("client"), lab.join("server")
    link = lab.link()["id"]
    usual = "2026-01-02T12:00:00Z"
    for times in ({"from_at": at}, {"from_at": usual, "to_at": at}, {"from_at": at, "to_at": usual}):
        refused(lab, "POST", "/annotations", {"link": "geo", "text": "rain", **times})
        refused(lab, "GET", f"/links/{link}/observations?{urlencode(times)}", None)
    refused(lab, "GET", f"/links/{link}/observations?{urlencode({'to_at': at})}", None)
    text = f"time,weather.rain_mm_per_h\n{at},1\n"
    refused(lab, "POST", f"/links/{link}/observations/import", {"text": text})


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "0001-01-02T12:00:00Z", "9999-12-31T23:59:59Z"])
def test_observations_at_the_ends_of_the_calendar_are_none_or_refused(lab: Lab, at: str) -> None:
    lab.join("client"), lab.join("server")
    path = f"{API}/links/{lab.link()['id']}/observations"
    for asked in ({"to_at": at}, {"from_at": at}, {"from_at": "0001-01-01T00:00:00Z", "to_at": at}):
        answer = lab.client.get(path, params=asked, headers={"Authorization": f"Bearer {lab.token}"})
        assert answer.status_code in (200, 422), (asked, answer.text)


@pytest.mark.parametrize("flow", [0, 1001, 2**63, 10**30])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_flow_number_beyond_all_flows_is_refused(lab: Lab, flow: int, kind: str) -> None:
    refused(lab, "GET", f"/runs/{NOWHERE}/traces/{flow}/sender.{kind}", None)


@pytest.mark.parametrize(
    "value",
    ["!!bool maybe", '!!int ""', '!!float ""', "!!timestamp foo", "!!set {a}", "!!binary x", "!own x", "1" * 5000],
)
def test_a_campaign_file_says_plain_values(lab: Lab, value: str) -> None:
    refused(lab, "POST", "/campaigns/preview", source(f"name: {value}\nlinks: [geo]"))


@pytest.mark.parametrize(
    "changes",
    [
        {"stop": {"seconds": 10**400}},
        {"timetable": {"cycles": 10**400}},
        {"name": HALF},
        {"conditions": [{"name": "x", "flows": [{"options": {"a": HALF}}]}]},
        {"conditions": [{"name": "x", "flows": [{"options": {"a": 2**64}}]}]},
        {"conditions": [{"name": "x", "sender": {HALF: 1}}]},
        {HALF: 1},
    ],
    ids=["seconds", "cycles", "name", "option", "large option", "setting", "key"],
)
def test_a_campaign_holds_numbers_and_texts_that_can_be_stored(lab: Lab, changes: dict[str, Any]) -> None:
    refused(lab, "POST", "/campaigns/preview", campaign(**changes))
