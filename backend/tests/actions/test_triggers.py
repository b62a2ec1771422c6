"""A campaign whose runs start when something happens: what it waits for, what it fires, and what it refuses."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from downlink.actions.campaigns.triggers import signature
from downlink.api.http.gate import Gate
from downlink.domain.links.observation import Observation
from downlink.storage.links.observation_store import add_observations
from downlink.storage.tables import Run
from tests.actions.test_faults import ONE, pair
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults", one_of=3)

BLOCKED = {"quantity": "dish.obstruction_ratio", "above": 0.02, "for_s": 30}


def observe(lab: Lab, *values: float, every_s: float = 10) -> None:
    """Values of the dish, the last one now."""
    with lab.units() as unit:
        moments = [lab.now() - timedelta(seconds=every_s * back) for back in range(len(values))][::-1]
        found = [
            Observation("dish.obstruction_ratio", "ratio", "dish", at, value)
            for at, value in zip(moments, values, strict=True)
        ]
        add_observations(unit, "geo", found)


def wait_for(lab: Lab, when: dict[str, Any], **limits: Any) -> str:
    return lab.launch(**ONE, trigger={"when": when, **limits})


def state(lab: Lab, campaign: str) -> dict[str, Any]:
    found: dict[str, Any] = lab.call("GET", f"/campaigns/{campaign}/trigger")
    return found


def finish(lab: Lab, campaign: str, agents: tuple[ScriptedAgent, ...]) -> None:
    """Let its runs end."""
    for _ in range(60):
        lab.turn(agents)
        if all(run["state"] in ("complete", "failed", "missed") for run in lab.runs(campaign)):
            return
    raise AssertionError(lab.runs(campaign))


def test_a_quantity_starts_one_cycle_and_each_run_says_so(lab: Lab) -> None:
    agents = pair(lab)
    campaign = wait_for(lab, BLOCKED, most=2, pause_s=60)
    lab.tick()
    assert lab.runs(campaign) == []
    assert state(lab, campaign)["waits"].startswith("Nobody has said")
    assert lab.call("GET", f"/campaigns/{campaign}")["runs_total"] == 0
    observe(lab, 0.01, 0.03, 0.04)
    lab.tick()
    assert "for 10 s of 30 s" in state(lab, campaign)["waits"]
    lab.wait(45)
    for agent in agents:
        agent.poll()
    observe(lab, 0.03, 0.04, 0.05, 0.06, 0.07)
    lab.tick()
    finish(lab, campaign, agents)
    (run,) = lab.runs(campaign)
    assert run["state"] == "complete"
    cause = run["trigger"]
    assert (cause["name"], cause["value"], cause["source"]) == (
        "dish.obstruction_ratio above 0.02 for 30 s",
        0.07,
        "dish",
    )
    (row,) = csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/runs.csv")))
    assert (row["trigger"], row["trigger_at"], row["trigger_value"]) == (cause["name"], cause["at"], "0.07")
    # It still holds: refused within the pause, fired again after it, and then the campaign is complete.
    lab.tick()
    found = state(lab, campaign)
    assert (found["is_waiting"], found["fired"]) == (True, 1)
    assert "The pause of 60 s" in found["refusal"]
    lab.wait(60)
    for agent in agents:
        agent.poll()
    observe(lab, 0.03, 0.04, 0.05, 0.06)
    lab.tick()
    assert [(run["cycle"], run["attempt"]) for run in lab.runs(campaign)] == [(1, 1), (2, 1)]
    finish(lab, campaign, agents)
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete"
    assert [each["number"] for each in state(lab, campaign)["firings"]] == [2, 1]


def test_a_path_has_a_stretch_for_each_cycle_of_all_firings(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link(is_emulated=True, profile="path")
    wait = {"when": {"slot": {"every_s": 1}}, "most": 2}
    campaign = lab.launch(**{**ONE, "timetable": {"cycles": 2}}, trigger=wait)
    lab.tick()
    with lab.units() as unit:
        windows = unit.session.scalars(select(Run.link_window).where(Run.campaign_id == UUID(campaign))).all()
    assert sorted((window["number"], window["of"]) for window in windows if window) == [(0, 4), (1, 4)]


def test_attempts_keep_what_started_the_first(lab: Lab) -> None:
    client, server = pair(lab)
    server.fails_with = {"reason": "host_busy", "detail": "another agent"}
    campaign = wait_for(lab, {"slot": {"every_s": 1}}, most=1)
    lab.tick()
    for _ in range(4):
        for agent in (client, server):
            agent.act()
        lab.tick()
    first, second = lab.runs(campaign)[:2]
    assert second["attempt"] == 2
    assert first["trigger"] == second["trigger"]
    assert first["trigger"]["name"] == "slot of 1 s from second 0"


def test_a_firing_that_cannot_be_carried_out_is_refused_with_the_reason(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, {"slot": {"every_s": 1}}, most=9, pause_s=1)
    lab.wait(400)  # the agents have gone
    lab.tick()
    assert "is offline" in state(lab, campaign)["refusal"]
    assert lab.runs(campaign) == []


def test_its_budget_holds_before_it_fires(lab: Lab) -> None:
    agents = pair(lab)
    trigger = {"when": {"slot": {"every_s": 1}}, "most": 9, "pause_s": 1}
    campaign = lab.launch(**ONE, trigger=trigger, limits={"bytes": 100_000_000})
    lab.tick()
    finish(lab, campaign, agents)
    lab.wait(2)
    for agent in agents:
        agent.poll()
    lab.tick()
    if (used := lab.call("GET", f"/campaigns/{campaign}/now")["used_bytes"]) > 10_000_000:
        assert "left of the campaign's limit" in state(lab, campaign)["refusal"], used
        assert len(lab.runs(campaign)) == 1
    else:
        raise AssertionError(f"the run carried {used} bytes alone")


def test_a_paused_campaign_does_not_fire_and_a_cancelled_one_never(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, {"slot": {"every_s": 1}}, most=9, pause_s=1)
    lab.call("POST", f"/campaigns/{campaign}/pause")
    lab.tick()
    assert lab.runs(campaign) == []
    lab.call("POST", f"/campaigns/{campaign}/resume")
    lab.tick()
    assert len(lab.runs(campaign)) == 1
    lab.call("POST", f"/campaigns/{campaign}/cancel")
    lab.wait(5)
    lab.tick()
    assert len(lab.runs(campaign)) == 1


def test_a_campaign_whose_last_day_has_passed_ends_without_a_run(lab: Lab) -> None:
    pair(lab)
    until = (lab.now() + timedelta(days=1)).date().isoformat()
    campaign = wait_for(lab, BLOCKED, until=until)
    lab.tick()
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "running"
    lab.wait(2 * 86_400)
    lab.tick()
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete"


def test_opening_hours_hold_for_firings(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link(time_zone="UTC")
    now = lab.now()
    later = f"{now + timedelta(hours=2):%H}:00-{now + timedelta(hours=4):%H}:00"
    trigger = {"when": {"slot": {"every_s": 1}}, "most": 9}
    campaign = lab.launch(**ONE, trigger=trigger, timetable={"cycles": 1, "opening_hours": [f"daily {later}"]})
    lab.tick()
    assert state(lab, campaign)["refusal"] == "The opening hours leave no time for its runs now."


# -- signed calls


def call(
    lab: Lab,
    campaign: str,
    secret: str,
    *,
    stamp: int | None = None,
    body: bytes = b"",
    signed: str | bytes | None = None,
) -> Any:
    said = str(int(lab.now().timestamp()) if stamp is None else stamp)
    headers = {
        "Downlink-Timestamp": said,
        "Downlink-Signature": signature(secret, said, body) if signed is None else signed,
    }
    return lab.client.post(f"{API}/campaigns/{campaign}/trigger/call", content=body, headers=headers)


def test_a_signed_call_fires_once(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, {"call": True}, pause_s=1)
    secret = lab.call("POST", f"/campaigns/{campaign}/trigger/secret")["secret"]
    assert (
        secret
        not in lab.client.get(
            f"{API}/campaigns/{campaign}/trigger", headers={"Authorization": f"Bearer {lab.token}"}
        ).text
    )
    stamp = int(lab.now().timestamp())
    answer = call(lab, campaign, secret, stamp=stamp, body=b'{"value": 0.5}')
    assert (answer.status_code, answer.json()) == (200, {"is_fired": True, "number": 1, "reason": None})
    (run,) = lab.runs(campaign)
    assert (run["trigger"]["name"], run["trigger"]["value"], run["trigger"]["source"]) == ("signed call", 0.5, "call")
    again = call(lab, campaign, secret, stamp=stamp, body=b'{"value": 0.5}')
    assert (again.status_code, again.json()["code"]) == (403, "call_repeated")
    assert call(lab, campaign, secret, stamp=stamp - 1).status_code == 403
    lab.wait(2)
    refused = call(lab, campaign, secret)
    assert refused.json() == {"is_fired": False, "number": None, "reason": "Runs of the last firing have not ended."}
    assert len(lab.runs(campaign)) == 1


def test_a_new_secret_forgets_a_call_of_a_clock_that_is_ahead(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, {"call": True}, pause_s=1)
    old = lab.call("POST", f"/campaigns/{campaign}/trigger/secret")["secret"]
    ahead = int(lab.now().timestamp()) + 200
    assert call(lab, campaign, old, stamp=ahead).status_code == 200
    assert call(lab, campaign, old).json()["code"] == "call_repeated"
    secret = lab.call("POST", f"/campaigns/{campaign}/trigger/secret")["secret"]
    assert call(lab, campaign, secret).status_code == 200
    assert call(lab, campaign, old, stamp=ahead + 1).status_code == 401


def test_who_does_not_know_the_secret_starts_nothing(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, {"call": True})
    assert call(lab, campaign, "dlc_" + "a" * 43).status_code == 401, "no secret was made yet"
    old = lab.call("POST", f"/campaigns/{campaign}/trigger/secret")["secret"]
    secret = lab.call("POST", f"/campaigns/{campaign}/trigger/secret")["secret"]
    stamp = int(lab.now().timestamp())
    other_body = signature(secret, str(stamp), b"{}")
    for answer in (
        call(lab, campaign, old),
        call(lab, campaign, secret, stamp=stamp, signed=other_body),
        call(lab, campaign, secret, signed=""),
        call(lab, campaign, secret, signed=b"\xc3\xa9"),
        call(lab, "00000000-0000-0000-0000-000000000000", secret),
        call(lab, campaign, secret, stamp=999_999_999_999),  # after the year 9999
        lab.client.post(f"{API}/campaigns/{campaign}/trigger/call"),
    ):
        assert answer.status_code == 401, answer.text
    for off in (320, -320):
        late = call(lab, campaign, secret, stamp=stamp + off)
        assert (late.status_code, late.json()["code"]) == (403, "call_out_of_time")
    assert call(lab, campaign, secret, body=b"{" * 5000).status_code in (413, 422)
    assert call(lab, campaign, secret, body=b"[]").json()["code"] == "call_invalid"
    assert lab.runs(campaign) == []


def test_calls_of_one_address_are_limited_before_anything_is_looked_up(lab: Lab) -> None:
    lab.app.state.gate = Gate(burst=2, per_s=0.001)
    answers = [call(lab, "00000000-0000-0000-0000-000000000000", "x").status_code for _ in range(3)]
    assert answers == [401, 401, 429]


def test_only_a_campaign_that_waits_for_calls_has_a_secret(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, {"slot": {"every_s": 15}})
    assert lab.call("POST", f"/campaigns/{campaign}/trigger/secret", expect=409)["code"] == "trigger_takes_no_calls"
    file = {"name": "a", "links": ["geo"], "stop": {"seconds": 5}, "timetable": {"cycles": 1}, **ONE}
    plain = lab.call("POST", "/campaigns", {"campaign": file})
    assert lab.call("GET", f"/campaigns/{plain['id']}/trigger", expect=404)["code"] == "trigger_not_found"


@pytest.mark.parametrize("quantity", ["dish.obstruction_ratio", "weather.rain_mm_per_h"])
def test_a_preview_says_when_nobody_has_said_the_quantity(lab: Lab, quantity: str) -> None:
    pair(lab)
    observe(lab, 0.5)
    file = {"name": "a", "links": ["geo"], "stop": {"seconds": 5}, "timetable": {"cycles": 2}, **ONE}
    made = lab.call(
        "POST", "/campaigns/preview", {"campaign": {**file, "trigger": {"when": {"quantity": quantity, "above": 1}}}}
    )
    assert ("quantity_unknown" in [each["code"] for each in made["conflicts"]]) is (
        quantity != "dish.obstruction_ratio"
    )
    assert made["estimate"]["runs"] == 2


@pytest.mark.parametrize(
    ("every_s", "for_s", "words"),
    [
        (900, 600, None),
        (901, 600, "never hold for 600 s"),
        (3600, 600, "comes every 60 minutes from dish, and a value counts for 15 minutes"),
        (3600, 0, "between two values the campaign waits"),
    ],
)
def test_a_preview_says_when_a_quantity_comes_too_rarely_to_fire(
    lab: Lab, every_s: float, for_s: float, words: str | None
) -> None:
    pair(lab)
    when = {"quantity": "dish.obstruction_ratio", "above": 0.02, "for_s": for_s}
    file = {"name": "a", "links": ["geo"], "stop": {"seconds": 5}, "timetable": {"cycles": 1}, **ONE}
    asked = {"campaign": {**file, "trigger": {"when": when}}}

    def said() -> list[str]:
        found = lab.call("POST", "/campaigns/preview", asked)["conflicts"]
        return [each["message"] for each in found if each["code"] == "quantity_rare"]

    observe(lab, 0.5)
    assert said() == [], "one value does not say how often they come"
    observe(lab, 0.5, 0.5, 0.5, every_s=every_s)
    assert len(said()) == (words is not None)
    if words is not None:
        assert words in said()[0]
        assert "DOWNLINK_WEATHER_EVERY_MIN" in said()[0]
