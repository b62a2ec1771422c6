"""Campaigns are described while they run, and found again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.test_faults import pair
from tests.fixtures.lab import CAMPAIGN, Lab

pytestmark = pytest.mark.sampled("faults", one_of=3)

MADE: list[dict[str, Any]] = [
    {"name": "Buffers over GEO", "notes": "Four windows."},
    {"name": "hystart, by night", "links": ["leo", "geo"]},
    {"name": "Starlink 100%", "links": ["leo"], "conditions": [{"name": "Cubic, large buffers"}]},
    {"name": "A_plan", "notes": "asked for on the 5th"},
]
TAGS = [["Paper 001", "GEO"], ["paper 001"], ["ÜBER Köln"], ["draft", "über köln"]]


@pytest.fixture
def found(lab: Lab) -> Lab:
    for campaign, tags in zip(MADE, TAGS, strict=True):
        made = lab.call("POST", "/campaigns", {"campaign": {**CAMPAIGN, **campaign}})
        lab.call("PATCH", f"/campaigns/{made['id']}", {"tags": tags})
        lab.wait(1)
    return lab


def names(lab: Lab, query: str) -> list[str]:
    answer = lab.call("GET", f"/campaigns?{query}")
    return [campaign["name"] for campaign in answer["items"]]


CASES: list[tuple[str, list[int]]] = [
    ("", [3, 2, 1, 0]),
    ("q=buffers", [2, 0]),
    ("q=BUFFERS+geo", [0]),
    ("q=windows", [0]),
    ("q=001", [1, 0]),
    ("q=leo", [2, 1]),
    ("q=100%25", [2]),
    ("q=a_p", [3]),
    ("q=%5C", []),
    ("q=%00", []),
    ("q=%22", []),
    ("q=%5B", []),
    ("tag=PAPER+001", [1, 0]),
    ("tag=paper+001&tag=geo", [0]),
    ("tag=paper", []),
    ("tag=", []),
    ("tag=%C3%9Cber+K%C3%B6ln", [3, 2]),
    ("q=K%C3%96LN", [3, 2]),
    ("link=geo", [3, 1, 0]),
    ("link=ge", []),
    ("state=draft&link=leo&q=night", [1]),
    ("state=complete", []),
    ("sort=name", [3, 0, 1, 2]),
    ("sort=-name", [2, 1, 0, 3]),
    ("sort=created_at&limit=2", [0, 1]),
    ("sort=created_at&limit=2&offset=3", [3]),
]


def test_campaigns_are_found_by_what_people_know_of_them(found: Lab) -> None:
    seen = {query: names(found, query) for query, _ in CASES}
    assert seen == {query: [MADE[number]["name"] for number in expected] for query, expected in CASES}
    answer = found.call("GET", "/campaigns?tag=paper+001&limit=1&offset=1")
    assert (len(answer["items"]), answer["total"]) == (1, 2), "every page says how many fit"
    found.call("GET", "/campaigns?sort=notes", expect=422)
    choices = found.call("GET", "/campaigns/choices")
    assert choices == {
        "states": {"draft": 4},
        "tags": {"draft": 1, "GEO": 1, "Paper 001": 2, "ÜBER Köln": 2},
        "links": {"geo": 3, "leo": 2},
    }


def test_a_campaign_is_described_while_it_runs_and_runs_on(lab: Lab) -> None:
    agents = pair(lab)
    campaign = lab.launch(notes="as planned")
    path = f"/campaigns/{campaign}"
    before = lab.call("GET", path)
    changed = lab.call("PATCH", path, {"notes": "Rain from 3 UTC on.", "tags": ["rain", "Rain", " paper 001 "]})
    assert (changed["notes"], changed["tags"]) == ("Rain from 3 UTC on.", ["rain", "paper 001"])
    assert {**changed, "notes": "", "tags": []} == {**before, "notes": "", "tags": []}
    assert lab.call("PATCH", path, {"tags": []})["notes"] == "Rain from 3 UTC on.", "what is not named stays"
    assert [run["state"] for run in lab.drive(campaign, list(agents))] == ["complete", "complete"]
    assert lab.call("PATCH", path, {"tags": ["done"]})["state"] == "complete"
    copy = lab.call("POST", f"{path}/duplicate")
    assert (copy["tags"], copy["notes"]) == (["done"], "as planned")


def test_what_is_no_description_changes_nothing(lab: Lab) -> None:
    made = lab.call("POST", "/campaigns", {"campaign": CAMPAIGN})
    path = f"/campaigns/{made['id']}"
    for body in ({"tags": ["a,b"]}, {"notes": "bell \x07"}, {"notes": "x" * 10_001}, {"name": "other"}):
        lab.call("PATCH", path, {"tags": ["kept"], **body} if "tags" not in body else body, expect=422)
    assert lab.call("GET", path)["tags"] == []


def test_notes_beside_a_draft_outlive_a_change_of_its_file_that_does_not_touch_them(lab: Lab) -> None:
    made = lab.call("POST", "/campaigns", {"campaign": {**CAMPAIGN, "notes": "of the file"}})
    path = f"/campaigns/{made['id']}"
    lab.call("PATCH", path, {"notes": "beside it"})
    changed = {**CAMPAIGN, "name": "other", "notes": "of the file"}
    assert lab.call("PUT", path, {"campaign": changed})["notes"] == "beside it"
    assert lab.call("PUT", path, {"campaign": {**changed, "notes": "new"}})["notes"] == "new"
