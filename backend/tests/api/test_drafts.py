"""Drafts: changed until they are launched, and made of any campaign."""

from __future__ import annotations

import pytest

from downlink.codec.campaign_file import parse_campaign, renamed
from tests.fixtures.lab import Lab

SOURCE = """# Why this is measured.
name: HyStart on and off   # as the paper calls it
links: [geo]
stop: {seconds: 5}
timetable: {cycles: 1}
conditions:
  - {name: on, sender: {tcp_cubic.hystart: 1}}
"""
FOLDED = SOURCE.replace("HyStart on and off   # as the paper calls it", ">-\n  HyStart\n  on")
JSON = (
    '{"links": ["geo"],\t"name": "x", "stop": {"seconds": 5}, '
    '"timetable": {"cycles": 1}, "conditions": [{"name": "a"}]}'
)


@pytest.fixture
def ready(lab: Lab) -> Lab:
    lab.join("client")
    lab.join("server")
    lab.link()
    return lab


def draft(lab: Lab) -> str:
    return str(lab.call("POST", "/campaigns", {"source": SOURCE})["id"])


def test_a_draft_takes_another_file_and_its_plan_follows(ready: Lab) -> None:
    campaign = draft(ready)
    changed = SOURCE.replace("cycles: 1", "cycles: 3").replace("on and off ", "at last ")
    told = ready.call("PUT", f"/campaigns/{campaign}", {"source": changed})
    assert (told["name"], told["source"], told["runs_total"]) == ("HyStart at last", changed, 3)
    ready.call("POST", f"/campaigns/{campaign}/launch")
    assert len(ready.runs(campaign)) == 3


def test_a_file_that_is_wrong_leaves_the_draft_as_it_is(ready: Lab) -> None:
    campaign = draft(ready)
    refused = ready.call("PUT", f"/campaigns/{campaign}", {"source": SOURCE.replace("stop", "stpo")}, expect=422)
    assert {each["place"] for each in refused["details"]["problems"]} >= {"stpo"}
    assert ready.call("GET", f"/campaigns/{campaign}")["source"] == SOURCE


def test_what_was_launched_is_changed_no_more_but_copied(ready: Lab) -> None:
    campaign = draft(ready)
    ready.call("POST", f"/campaigns/{campaign}/launch")
    assert ready.call("PUT", f"/campaigns/{campaign}", {"source": SOURCE}, expect=409)["code"] == "campaign_state"
    ready.call("POST", f"/campaigns/{campaign}/cancel")
    copy = ready.call("POST", f"/campaigns/{campaign}/duplicate", expect=201)
    assert (copy["state"], copy["name"]) == ("draft", "HyStart on and off (copy)")
    assert copy["source"] == SOURCE.replace("HyStart on and off ", '"HyStart on and off (copy)" ')
    named = ready.call("POST", f"/campaigns/{campaign}/duplicate", {"name": "Again"}, expect=201)
    assert named["name"] == "Again"


@pytest.mark.parametrize("name", ["A: b", 'with "quotes"', "ümläut # no comment", "x" * 200])
@pytest.mark.parametrize("text", [SOURCE, FOLDED, JSON])
def test_a_copy_differs_in_its_name_alone(text: str, name: str) -> None:
    before, after = parse_campaign(text).to_dict(), parse_campaign(renamed(text, name)).to_dict()
    assert after == {**before, "name": name}


def test_a_conflict_names_the_key_that_it_is_about(ready: Lab) -> None:
    phases = SOURCE.replace("timetable", "phases: {startup_s: 4, steady_s: 4}\ntimetable").replace(
        "[geo]", "[geo, moon]"
    )
    found = ready.call("POST", "/campaigns/preview", {"source": phases})["conflicts"]
    assert {each["code"]: each["place"] for each in found} == {"unknown_link": "links[1]", "phases_overlap": "phases"}
    ready.wait(600)
    away = ready.call("POST", "/campaigns/preview", {"source": SOURCE})["conflicts"]
    assert [each["place"] for each in away] == ["links", "links"]
