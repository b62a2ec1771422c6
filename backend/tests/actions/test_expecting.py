"""Numbers outside of what a campaign expects: noted with the run, logged once, and reported once for each row of such runs."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.results.reanalysis import analyse_again
from downlink.cli.client import Access, Client
from downlink.cli.runs import show_run
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.expectation import Check
from downlink.domain.notices.notification import Departure, Topic, departed
from downlink.storage.notices import notification_store
from downlink.storage.tables import Campaign, Event
from tests.actions.test_faults import ONE, pair
from tests.actions.test_notifications import deliver, kinds, make, stored
from tests.fixtures.lab import API, Lab
from tests.fixtures.receivers import WebReceiver
from tests.fixtures.scripted_agent import RttOfRuns, ScriptedAgent

pytestmark = pytest.mark.sampled("faults")

NEAR, FAR = 600, 900
SHORT = {"stop": {"seconds": 3}, "phases": {"startup_s": 1, "steady_s": 1}, "limits": {"attempts": 1}}
EXPECT: list[dict[str, Any]] = [{"metric": "overall.rtt_ms", "below": 700}]
FAR_CHECK = Check(1, "overall.rtt_ms", 1, float(FAR), None, 700.0)
SAID = "RTT of flow 1, overall: 900 ms, expected below 700."


def asked(cycles: int, expect: list[dict[str, Any]] | None = None, **changes: Any) -> dict[str, Any]:
    timetable = {"cycles": cycles, "order": "interleaved"}
    return {**SHORT, **ONE, "timetable": timetable, "expect": EXPECT if expect is None else expect, **changes}


def measured(lab: Lab, rtts_ms: list[int], **changes: Any) -> tuple[str, list[dict[str, Any]]]:
    """A campaign whose nth run has the nth RTT: its id and its runs."""
    client, server = pair(lab)
    server.draws = RttOfRuns(rtts_ms)
    campaign = lab.launch(**asked(len(rtts_ms), **changes))
    return campaign, lab.drive(campaign, [client, server])


def logged(lab: Lab) -> list[Event]:
    with lab.units() as unit:
        return list(unit.session.scalars(select(Event).where(Event.kind == "unexpected").order_by(Event.id)))


def drive_and_deliver(lab: Lab, campaign: str, agents: tuple[ScriptedAgent, ...]) -> None:
    """As conductor and workers do: what happens in one turn is reported before the next one."""
    for _ in range(200):
        lab.turn(agents)
        deliver(lab)
        if lab.call("GET", f"/campaigns/{campaign}")["state"] == CampaignState.COMPLETE:
            return
    raise AssertionError(lab.runs(campaign))


def test_a_run_outside_says_so_everywhere(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, (inside, outside) = measured(lab, [NEAR, FAR])
    assert (inside["state"], outside["state"]) == ("complete", "complete")
    assert "unexpected" not in inside
    found = {"expectation": 1, "metric": "overall.rtt_ms", "flow": 1, "above": None, "below": 700.0, "detail": SAID}
    assert outside["unexpected"] == [{**found, "value": pytest.approx(FAR)}]
    whole = lab.call("GET", f"/runs/{outside['id']}")
    assert whole["unexpected"] == outside["unexpected"]
    assert [(each["kind"], each["detail"]) for each in whole["events"]][-1] == ("unexpected", SAID)
    assert "unexpected" not in lab.call("GET", f"/runs/{inside['id']}")
    rows = csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/runs.csv")))
    assert {row["run_id"]: row["unexpected"] for row in rows} == {inside["id"]: "", outside["id"]: SAID}
    client = Client(Access("http://testserver", lab.token), lab.client._transport)
    monkeypatch.setattr("downlink.cli.runs.connect", lambda: client)
    show_run(outside["id"])
    assert f"Outside its expected range. {SAID}" in capsys.readouterr().out
    show_run(inside["id"])
    assert "Outside its expected range" not in capsys.readouterr().out


def test_it_is_logged_once_however_often_the_run_is_analysed(lab: Lab) -> None:
    campaign, (first, second) = measured(lab, [FAR, NEAR])
    assert [event.run_id for event in logged(lab)] == [UUID(first["id"])]
    change = text("UPDATE campaigns SET spec = jsonb_set(spec, '{expect,0,below}', to_jsonb(CAST(:below AS float)))")
    for below, outside, events in ((700, [1], 1), (1000, [], 1), (500, [1, 2], 2), (500, [1, 2], 2)):
        with lab.units() as unit:
            unit.session.execute(change, {"below": below})
        with lab.units() as unit:
            analyse_again(unit, UUID(campaign), lab.now())
        assert [run["cycle"] for run in lab.runs(campaign) if run.get("unexpected")] == outside
        assert len(logged(lab)) == events
    assert [event.run_id for event in logged(lab)] == [UUID(first["id"]), UUID(second["id"])]


def test_each_expectation_is_about_its_own_runs(lab: Lab) -> None:
    expect = [
        {"metric": "overall.rtt_ms", "above": 1, "condition": "off"},
        {"metric": "steady.rtt_ms", "below": 700, "condition": "off"},
        {"metric": "overall.rtt_ms", "below": 700, "flow": 1, "link": "geo"},
        {"metric": "overall.waiting_bytes", "below": 1},
    ]
    both = [*ONE["conditions"], {"name": "off", "sender": {"tcp_cubic.hystart": 0}}]
    client, server = pair(lab)
    server.draws = RttOfRuns([FAR, FAR])
    runs = lab.drive(lab.launch(**asked(1, expect, conditions=both)), [client, server])
    found = {run["condition"]: [each["expectation"] for each in run["unexpected"]] for run in runs}
    assert found == {"on": [3], "off": [2, 3]}, "nobody logged the link"


def test_a_run_that_is_not_complete_is_not_judged(lab: Lab) -> None:
    client, server = pair(lab)
    server.ends_with = "link_lost"
    server.draws = RttOfRuns([FAR])
    (run,) = lab.drive(lab.launch(**asked(1)), [client, server])
    assert run["state"] == "failed"
    assert "unexpected" not in run
    assert logged(lab) == []


def test_one_notification_for_each_row_of_runs_outside(lab: Lab) -> None:
    client, server = pair(lab)
    server.draws = RttOfRuns([FAR, FAR, FAR, NEAR, NEAR, FAR, FAR])
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.UNEXPECTED,))
        make(lab, receiver.url(), topics=(Topic.CAMPAIGN_ENDED,))
        campaign = lab.launch(**asked(7))
        drive_and_deliver(lab, campaign, (client, server))
        for _ in range(2):
            deliver(lab)
        assert len(logged(lab)) == 5
        told = [row for row in stored(lab) if row.topic == Topic.UNEXPECTED]
        runs = {run["cycle"]: run for run in lab.runs(campaign)}
        assert [row.body["data"]["cycle"] for row in told] == [1, 6]
        assert [row.body["path"] for row in told] == [f"/runs/{runs[cycle]['id']}" for cycle in (1, 6)]
        assert told[0].body["text"] == f"on, cycle 1, of HyStart on and off on geo: {SAID}"
        assert kinds(receiver).count("run.unexpected") == 2
        bodies = [json.loads(got.body) for got in receiver.got]
        (first, _) = [body["data"] for body in bodies if body["type"] == "run.unexpected"]
        assert first["outside"][0]["below"] == 700
        assert first["url"].endswith(f"/runs/{runs[1]['id']}")


def test_runs_that_end_together_are_one_row(lab: Lab) -> None:
    """A worker that was away judges many at once; the channel hears of the row once, and later runs of it add nothing."""
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.UNEXPECTED,))
        measured(lab, [FAR, FAR, FAR])
        deliver(lab)
        assert [row.body["data"]["cycle"] for row in stored(lab)] == [1]
        again = text("UPDATE channels SET seen_xact = 0, seen_id = 0")
        with lab.units() as unit:
            unit.session.execute(again)
        deliver(lab)
        assert len(stored(lab)) == 1


def test_a_channel_that_is_made_within_a_row_hears_of_its_next_run(lab: Lab) -> None:
    client, server = pair(lab)
    server.draws = RttOfRuns([FAR, FAR, FAR])
    campaign = lab.launch(**asked(3))
    while not logged(lab):
        lab.turn([client, server])
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.UNEXPECTED,))
        drive_and_deliver(lab, campaign, (client, server))
        deliver(lab)
        assert [row.body["data"]["cycle"] for row in stored(lab)] == [2]


def test_what_lies_inside_by_the_time_of_telling_is_not_told(lab: Lab) -> None:
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.UNEXPECTED,))
        measured(lab, [FAR])
        with lab.units() as unit:
            unit.session.execute(text("UPDATE runs SET checks = jsonb_set(checks, '{0,value}', '1')"))
        deliver(lab)
        assert stored(lab) == []


def test_file_and_numbers_survive_a_copy_and_an_archive(lab: Lab) -> None:
    campaign, runs = measured(lab, [FAR])
    packed = lab.client.get(
        f"{API}/campaigns/{campaign}/archive.zip", headers={"Authorization": f"Bearer {lab.token}"}
    ).content
    kept = lab.call("GET", f"/campaigns/{campaign}")
    assert kept["spec"]["expect"] == EXPECT
    copied = lab.call("POST", "/campaigns", {"campaign": {**json.loads(kept["source"]), "name": "copy"}})
    assert lab.call("GET", f"/campaigns/{copied['id']}")["spec"]["expect"] == EXPECT
    with lab.units() as unit:
        unit.session.delete(unit.session.get(Campaign, UUID(campaign)))
    with lab.units() as unit:
        load_archive(unit, packed)
    assert lab.call("GET", f"/campaigns/{campaign}")["spec"]["expect"] == EXPECT
    (run,) = lab.runs(campaign)
    assert run["unexpected"] == runs[0]["unexpected"]
    assert [event["detail"] for event in lab.call("GET", f"/runs/{run['id']}")["events"]][-1] == SAID
    with lab.units() as unit:
        analyse_again(unit, UUID(campaign), lab.now())
    assert len(logged(lab)) == 1


def test_a_campaign_that_expects_nothing_keeps_no_checks(lab: Lab) -> None:
    _, runs = measured(lab, [FAR], expect=[])
    assert runs[0]["state"] == "complete"
    with lab.units() as unit:
        assert unit.session.scalars(text("SELECT checks FROM runs")).all() == [None]


def test_the_preview_says_what_no_run_would_have(lab: Lab) -> None:
    pair(lab)
    body = {"campaign": {"name": "a", "links": ["geo"], **asked(1, [{**EXPECT[0], "link": "leo"}])}}
    refused = lab.call("POST", "/campaigns/preview", body, expect=422)
    assert refused["details"]["problems"][0]["place"] == "expect[0].link"


def test_a_channel_is_asked_for_more_keys_than_a_query_has_parameters(lab: Lab) -> None:
    channel = make(lab, "http://127.0.0.1:1/").id
    notice = departed(
        Departure(UUID(int=5), UUID(int=1), "c", None, "geo", "on", 1, lab.now(), 1, [FAR_CHECK], [UUID(int=5)])
    )
    with lab.units() as unit:
        assert len(notification_store.add(unit, channel, [notice, notice], lab.now())) == 1
        assert notification_store.add(unit, channel, [notice], lab.now()) == []
        keys = [f"run:{UUID(int=number)}:unexpected:1" for number in range(70_000)]
        assert notification_store.known(unit, channel, keys) == {notice.key}
        assert notification_store.known(unit, channel, keys[:5]) == set()
