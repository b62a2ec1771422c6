"""Numbers that a writer took and no reader holds: none gets in any more, and what is there already opens, ends and goes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlalchemy import text

from downlink.domain.fleet.agent import PROTOCOL
from downlink.protocol import events, facts, observations, poll
from downlink.storage.stored_json import MOST, read_json
from tests.api.test_routes import document
from tests.fixtures.lab import API, CAMPAIGN, Lab
from tests.fixtures.scripted_agent import make_host

ODD = ("1" + "0" * 400, "-1" + "0" * 400, "1" + "0" * 30, str(2**63 + 1), str(2**53 + 1), "1e999", "-1e999", "NaN")
STORED = [each for each in ODD if each not in ("1e999", "-1e999", "NaN")]
"""JSONB writes whole numbers out, and has no others."""


def sent(lab: Lab, path: str, body: Any, secret: str, odd: str) -> Any:
    """With the number in the place of "ODD", as only a program of one's own writes it."""
    content = json.dumps(body).replace('"ODD"', odd).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    return lab.client.post(API + path, content=content, headers=headers)


@pytest.mark.parametrize("odd", ODD)
def test_no_free_value_of_the_protocol_takes_it(lab: Lab, odd: str) -> None:
    server, _ = lab.join("server"), lab.join("client")
    lab.link()
    lab.launch()
    lab.tick()
    assert server.poll() is not None
    run = lab.runs(lab.call("GET", "/campaigns")["items"][0]["id"])[0]["id"]
    host = make_host("boot")
    poll = {
        "protocol": PROTOCOL,
        "status": "idle",
        "run_id": None,
        "detail": None,
        "progress": None,
        "spool": [],
        "wait_s": 0,
    }
    for fact in ({"new": "ODD"}, {"new": {"deep": ["ODD"]}}, {"policy": {"utc_offset_s": 0, "new": "ODD"}}):
        answer = sent(lab, "/agent/poll", {**poll, "host": {**host, **fact}}, server.secret, odd)
        assert answer.status_code in (400, 422), (fact, answer.text)
    event = {"attempt": 1, "at": "2026-01-01T00:00:00Z"}
    ready = {"kind": "ready", "data_address": "192.0.2.1:40000", "settings_before": {}, "settings_during": {}}
    restored = {"kind": "restored", "settings_after": {}, "is_restored": True}
    for body in (
        {**event, **ready, "fingerprint": {"new": "ODD"}},
        {**event, **restored, "differences": ["ODD"]},
    ):
        answer = sent(lab, f"/agent/runs/{run}/events", body, server.secret, odd)
        assert answer.status_code in (400, 422), (body, answer.text)
    assert lab.call("GET", "/agents")["total"] == 2


def numbers_without_bounds(schema: Any, place: str = "") -> list[str]:
    """Places of a JSON schema where a number may be as large as it likes."""
    if isinstance(schema, list):
        return [
            found for number, each in enumerate(schema) for found in numbers_without_bounds(each, f"{place}/{number}")
        ]
    if not isinstance(schema, dict):
        return []
    own = []
    if schema.get("type") in ("integer", "number") and not {"enum", "const"} & schema.keys():
        is_bounded = {"minimum", "exclusiveMinimum"} & schema.keys() and {"maximum", "exclusiveMaximum"} & schema.keys()
        own = [] if is_bounded else [place]
    return own + [found for key, each in schema.items() for found in numbers_without_bounds(each, f"{place}/{key}")]


@pytest.mark.parametrize(
    "message",
    [facts.JoinRequest, poll.PollRequest, events.AnyEvent, observations.ObservationsRequest],
    ids=["join", "poll", "event", "observations"],
)
def test_every_number_that_an_agent_sends_has_bounds(message: Any) -> None:
    assert numbers_without_bounds(TypeAdapter(message).json_schema()) == []


def test_every_number_in_a_body_of_the_api_has_bounds() -> None:
    found = document()
    bodies = [
        each["requestBody"]
        for verbs in found["paths"].values()
        for each in verbs.values()
        if isinstance(each, dict) and "requestBody" in each
    ]
    names = {name for name in found["components"]["schemas"] if f'schemas/{name}"' in json.dumps(bodies)}
    while (
        more := {
            name
            for name in found["components"]["schemas"]
            if any(f'schemas/{name}"' in json.dumps(found["components"]["schemas"][each]) for each in names)
        }
        - names
    ):
        names |= more
    assert {
        name: places
        for name in sorted(names)
        if (places := numbers_without_bounds(found["components"]["schemas"][name]))
    } == {}


@pytest.mark.parametrize("stored", STORED[::2], ids=["400 digits", "31 digits", "2^53"])
def test_what_is_stored_already_opens_and_can_be_ended(lab: Lab, stored: str) -> None:
    """In every value that agents fill, of a campaign that has ended and of one under way."""
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    lab.drive(lab.launch(name="Ended"), agents)
    under_way = lab.launch(name="Under way")
    lab.turn(agents)
    with lab.units() as unit:
        odd = f'{{"odd": {stored}, "odds": [{stored}]}}'
        for table, column in (
            ("agents", "host"), ("run_hosts", "fingerprint"), ("run_flows", "sender_outcome"), ("run_flows", "receiver_outcome"),
        ):  # fmt: skip
            unit.session.execute(text(f"UPDATE {table} SET {column} = {column} || CAST(:odd AS jsonb)"), {"odd": odd})  # noqa: S608
        exits = f'{{"hystart_exits": {{"train": {stored}, "delay": {stored}}}}}'
        unit.session.execute(
            text("UPDATE run_flows SET sender_outcome = sender_outcome || CAST(:odd AS jsonb)"), {"odd": exits}
        )
    lab.turn(agents)
    run = lab.runs(under_way)[0]["id"]
    known = {"campaign_id": under_way, "run_id": run, "link_id": lab.call("GET", "/links")["items"][0]["id"]}
    for path, verbs in document()["paths"].items():
        if "get" in verbs and not path.endswith(("/events", "/binaries/{arch}")):
            for campaign in {under_way, lab.call("GET", "/campaigns")["items"][-1]["id"]}:
                each = lab.runs(campaign)[0]["id"]
                names = {**known, "campaign_id": campaign, "run_id": each}
                place = path
                for name, value in names.items():
                    place = place.replace(f"{{{name}}}", value)
                if "{" not in place:
                    answer = lab.client.get(place, headers={"Authorization": f"Bearer {lab.token}"})
                    assert answer.status_code < 500, (place, answer.text)
    lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})
    for campaign in lab.call("GET", "/campaigns")["items"]:
        if campaign["state"] == "running":
            lab.call("POST", f"/campaigns/{campaign['id']}/cancel")
    lab.drive(under_way, agents)
    for agent in lab.call("GET", "/agents")["items"]:
        lab.call("PUT", f"/agents/{agent['id']}/pause", {})
        lab.call("DELETE", f"/agents/{agent['id']}")
    for campaign in lab.call("GET", "/campaigns")["items"]:
        lab.call("DELETE", f"/campaigns/{campaign['id']}")


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("1" + "0" * 400, MOST),
        ("-1" + "0" * 400, -MOST),
        (str(2**63), MOST),
        (str(2**63 - 1), 2**63 - 1),
        (f'{{"a": [{10**30}, 1.5, "{10**30}"]}}', {"a": [MOST, 1.5, str(10**30)]}),
        ("1" + "0" * 400 + ".5", float(MOST)),
        ("0.1234567890123456789012", 0.1234567890123456789012),
    ],
)
def test_a_number_beyond_64_bits_is_read_as_the_greatest(stored: str, value: Any) -> None:
    assert read_json(stored) == value
    assert read_json(stored.encode()) == value
