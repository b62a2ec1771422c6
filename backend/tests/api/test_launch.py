"""What prevents a launch: agents that are away, phases that do not fit; and what does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from downlink.codec.campaign_file import parse_campaign
from downlink.domain.campaigns.plan import plan_campaign
from downlink.domain.links.link import Link, Orbit
from tests.fixtures.lab import CAMPAIGN, Lab

DOCS = Path(__file__).resolve().parents[3] / "docs"
EXAMPLES = [path for name in ("examples", "examples/studies") for path in sorted((DOCS / name).glob("*.yaml"))]


def draft(lab: Lab, **changes: Any) -> str:
    return str(lab.call("POST", "/campaigns", {"campaign": {**CAMPAIGN, **changes}})["id"])


def conflicts(lab: Lab, **changes: Any) -> list[tuple[str, bool, bool]]:
    found = lab.call("POST", "/campaigns/preview", {"campaign": {**CAMPAIGN, **changes}})["conflicts"]
    return [(each["code"], each["is_blocking"], each["is_waivable"]) for each in found]


@pytest.fixture
def offline(lab: Lab) -> Lab:
    """Both agents joined, and have been silent for ten minutes."""
    lab.join("client")
    lab.join("server")
    lab.link()
    lab.wait(600)
    return lab


def test_a_campaign_is_not_launched_against_agents_that_are_offline(offline: Lab) -> None:
    assert conflicts(offline) == [("agent_offline", True, True)] * 2
    refused = offline.call("POST", f"/campaigns/{draft(offline)}/launch", expect=409)
    assert refused["code"] == "plan_blocked"
    assert "client is offline (last heard 20" in refused["message"]
    assert [each["code"] for each in refused["details"]["conflicts"]] == ["agent_offline"] * 2


def test_who_launches_may_say_that_the_agents_will_be_back(offline: Lab) -> None:
    campaign = draft(offline)
    offline.call("POST", f"/campaigns/{campaign}/launch", {"even_if_offline": True})
    assert {run["state"] for run in offline.runs(campaign)} == {"planned"}


def test_an_agent_that_never_joined_prevents_every_launch(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    agent = next(each for each in lab.call("GET", "/agents")["items"] if each["name"] == "server")
    lab.call("DELETE", f"/agents/{agent['id']}", expect=204)
    refused = lab.call("POST", f"/campaigns/{draft(lab)}/launch", {"even_if_offline": True}, expect=409)
    assert [each["code"] for each in refused["details"]["conflicts"]] == ["agent_missing"]


def test_an_agent_that_joined_and_was_never_heard_is_offline(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    with lab.units() as unit:
        unit.session.execute(text("UPDATE agents SET status = 'unknown', last_seen_at = NULL WHERE name = 'server'"))
    refused = lab.call("POST", f"/campaigns/{draft(lab)}/launch", expect=409)
    assert "server is offline (never heard)" in refused["message"]


def test_phases_that_cover_the_whole_run_prevent_a_launch(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    asked = {"stop": {"seconds": 60}, "phases": {"steady_s": 60}}
    assert conflicts(lab, **asked) == [("phases_overlap", True, False)]
    assert lab.call("POST", f"/campaigns/{draft(lab, **asked)}/launch", expect=409)["code"] == "plan_blocked"
    assert conflicts(lab, stop={"seconds": 60}, phases={}) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_can_be_launched(path: Path) -> None:
    campaign = parse_campaign(path.read_text())
    senders = tuple(f"server-{number}" for number in range(1, 9))
    further = tuple(f"receiver-{number}" for number in range(2, 13))
    bare = Link(
        "geo", Orbit.GEO, "", 144_000_000, 600.0, "client", senders, relays=("relay",), further_receivers=further
    )
    links = {name: replace(bare, name=name) for name in campaign.links}
    on_one_machine = dict.fromkeys(("client", *further, *senders), "its kernel")
    assert plan_campaign(campaign, links, hosts=on_one_machine).is_launchable


def test_a_campaign_of_years_is_refused_in_preview_and_launch(ready: Lab) -> None:
    years = {"cycles": 1000, "pause_s": 86_400}
    assert conflicts(ready, timetable=years) == [("plan_too_long", True, False)]
    made = ready.call("POST", "/campaigns", {"campaign": {**CAMPAIGN, "timetable": years}})
    refused = ready.call("POST", f"/campaigns/{made['id']}/launch", {"even_if_offline": True}, expect=409)
    assert [each["code"] for each in refused["details"]["conflicts"]] == ["plan_too_long"]
    assert "shorter pauses" in refused["message"]


def test_a_preview_of_ten_thousand_runs_answers_with_the_first_and_their_number(lab: Lab) -> None:
    long = {**CAMPAIGN, "timetable": {"cycles": 5_000}}
    lab.join("client")
    lab.join("server")
    lab.link()
    found = lab.call("POST", "/campaigns/preview", {"campaign": long})
    assert (len(found["runs"]), found["estimate"]["runs"]) == (500, 10_000)


def test_a_preview_says_of_each_host_what_is_known_of_it(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()

    def answers() -> dict[tuple[str, str], dict[str, Any]]:
        hosts = lab.call("POST", "/campaigns/preview", {"campaign": CAMPAIGN})["hosts"]
        return {(host["agent"], each["check"]): each for host in hosts for each in host["answers"]}

    before = answers()
    assert {before[agent, "clock"]["level"] for agent in ("client", "server")} == {"unknown"}
    assert before["client", "data_port"]["level"] == "unknown"
    runs = lab.drive(lab.launch(), agents)
    after = answers()
    assert after["client", "data_port"]["level"] == "ok"
    assert after["client", "data_port"]["run_id"] in {run["id"] for run in runs}
    assert after["server", "changes"]["sentence"].startswith("As in its last two runs")
    assert {each["level"] for each in after.values()} <= {"ok", "unknown"}


def test_a_setting_that_an_agent_cannot_change_prevents_the_launch(lab: Lab) -> None:
    lab.join("client")
    server = lab.join("server")
    lab.link()
    server.host = {**server.host, "settings_writable": ["net.ipv4.tcp_no_metrics_save"]}
    server.is_new = True
    server.poll()
    assert conflicts(lab) == [("setting_unwritable", True, False)]
    refused = lab.call("POST", f"/campaigns/{draft(lab)}/launch", {"even_if_offline": True}, expect=409)
    assert refused["details"]["conflicts"][0]["place"] == "conditions[1].sender.tcp_cubic.hystart"


@pytest.fixture
def ready(lab: Lab) -> Lab:
    """Both agents idle on a link in Madrid, and the clock at a noon of winter there."""
    lab.stop_clock()
    lab.wait((datetime(2027, 1, 11, 11, tzinfo=UTC) - lab.now()).total_seconds())
    lab.join("client")
    lab.join("server")
    lab.link(time_zone="Europe/Madrid")
    return lab


def test_a_preview_says_when_runs_are_due_by_the_clock_of_their_link(ready: Lab) -> None:
    timetable = {
        "cycles": 1, "start_at": "2027-01-12 10:00 Europe/Berlin", "opening_hours": ["weekdays 18:00-06:00"],
        "repeat": {"every": "week", "until": "2027-01-20"},
    }  # fmt: skip
    found = ready.call("POST", "/campaigns/preview", {"campaign": {**CAMPAIGN, "timetable": timetable}})
    assert found["time_zones"] == {"geo": "Europe/Madrid"}
    assert {each["due_at"][:16] for each in found["runs"] if each["position"] == 1} == {
        "2027-01-12T17:00", "2027-01-19T17:00",
    }  # fmt: skip
    assert found["campaign"]["timetable"]["start_at"] == "2027-01-12 10:00 Europe/Berlin"
    late = {"cycles": 1, "start_at": "2027-01-11 11:59 Europe/Madrid"}
    assert conflicts(ready, timetable=late) == [("start_passed", True, False)]


def test_a_campaign_waits_for_its_opening_and_its_links_zone_stays(ready: Lab) -> None:
    timetable = {"duration_h": 1, "every_s": 60, "opening_hours": ["daily 18:00-19:00"]}
    campaign = draft(ready, timetable=timetable)
    ready.call("POST", f"/campaigns/{campaign}/launch")
    ready.tick()
    first = ready.runs(campaign)[0]
    assert (first["state"], first["due_at"][:16]) == ("planned", "2027-01-11T17:00")
    assert ready.call("GET", f"/campaigns/{campaign}")["next_due_at"][:16] == "2027-01-11T17:00"
    [link] = ready.call("GET", "/links")["items"]
    refused = ready.call("PATCH", f"/links/{link['id']}", {"time_zone": "Asia/Tokyo"}, expect=409)
    assert "opening hours" in refused["message"]
    # A pause over the first half of the opening: the runs that were due in it are pushed on, within the opening hours.
    ready.call("POST", f"/campaigns/{campaign}/pause")
    ready.wait(6.5 * 3600)
    ready.call("POST", f"/campaigns/{campaign}/resume")
    dues = sorted(run["due_at"][8:16] for run in ready.runs(campaign) if run["state"] == "planned")
    assert dues[0] == "11T17:30"
    assert {due[3:5] for due in dues} == {"17"}
    assert dues[-1].startswith("12")
    # The server is away over the rest of it: every run whose time has passed says why it was missed.
    ready.go_away(3600)
    for _ in range(3):
        ready.tick()
    missed = [run for run in ready.runs(campaign) if run["state"] == "missed"]
    assert missed
    assert {(run["reason"], bool(run["detail"])) for run in missed} <= {("internal", True), ("outside_hours", True)}
