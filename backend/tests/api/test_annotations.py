"""What happened at a time: of a campaign, of a link, in the day strip and in archives."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert

from downlink.actions.campaigns.archive_read import load_archive
from downlink.domain.campaigns.annotation import MOST_OF_CAMPAIGN
from downlink.domain.errors import InvalidError
from downlink.storage.tables import Annotation
from tests.fixtures.lab import API, CAMPAIGN, Lab
from tests.fixtures.recorded import ARCHIVE

pytestmark = pytest.mark.sampled("faults")

LINK = "geo-viasat"


@pytest.fixture
def campaign(lab: Lab) -> str:
    with lab.units() as unit:
        return str(load_archive(unit, ARCHIVE.read_bytes())[0])


def begin(lab: Lab, campaign: str) -> datetime:
    return datetime.fromisoformat(lab.call("GET", f"/campaigns/{campaign}/day")["from_at"])


def note(lab: Lab, **body: Any) -> Any:
    return lab.call("POST", "/annotations", {"text": "rain", "kind": "weather", **body})


def shown(lab: Lab, campaign: str) -> list[str]:
    return [each["text"] for each in lab.call("GET", f"/campaigns/{campaign}/day")["annotations"]]


def make_link(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link(LINK)


def test_a_campaigns_annotation_is_listed_shown_and_deleted(lab: Lab, campaign: str) -> None:
    at = begin(lab, campaign)
    made = note(lab, campaign_id=campaign, from_at=at.isoformat(), to_at=(at + timedelta(minutes=1)).isoformat())
    listed = lab.call("GET", f"/annotations?campaign_id={campaign}")
    assert (listed["total"], listed["items"]) == (1, [made])
    assert (made["kind"], made["text"], made["link"], made["campaign_id"]) == ("weather", "rain", None, campaign)
    assert shown(lab, campaign) == ["rain"]
    lab.call("DELETE", f"/annotations/{made['id']}", expect=204)
    assert shown(lab, campaign) == []
    lab.call("DELETE", f"/annotations/{made['id']}", expect=404)


def test_a_campaigns_annotation_is_listed_whenever_it_was(lab: Lab, campaign: str) -> None:
    """Also before the first run, after the last one, and before there is any."""
    at = begin(lab, campaign)
    for text, days in (("before", -1), ("after", 1)):
        note(lab, campaign_id=campaign, text=text, from_at=(at + timedelta(days=days)).isoformat())
    assert shown(lab, campaign) == ["before", "after"]
    draft = lab.call("POST", "/campaigns", {"campaign": CAMPAIGN})["id"]
    note(lab, campaign_id=draft, text="planned", from_at=at.isoformat())
    assert shown(lab, draft) == ["planned"]


def test_a_links_annotation_stands_in_every_campaign_over_it_while_it_ran(lab: Lab, campaign: str) -> None:
    make_link(lab)
    at = begin(lab, campaign)
    week = timedelta(days=7)
    note(lab, link=LINK, text="dish moved", from_at=(at - week).isoformat(), to_at=(at + week).isoformat())
    note(lab, link=LINK, text="before", from_at=(at - week).isoformat())
    note(lab, link=LINK, text="after", from_at=(at + week).isoformat())
    assert shown(lab, campaign) == ["dish moved"]
    assert lab.call("GET", f"/annotations?link={LINK}")["total"] == 3


def test_another_campaigns_annotations_stay_with_it(lab: Lab, campaign: str) -> None:
    make_link(lab)
    other = lab.launch(links=[LINK])
    at = begin(lab, campaign)
    note(lab, campaign_id=other, from_at=at.isoformat())
    note(lab, campaign_id=other, link=LINK, from_at=at.isoformat())
    assert shown(lab, campaign) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"from_at": "2026-01-02T03:00:00"}, "request_invalid"),
        ({"text": "   "}, "request_invalid"),
        ({"text": "x" * 501}, "request_invalid"),
        ({"text": "\x1b[2J"}, "request_invalid"),
        ({"kind": "lunch"}, "request_invalid"),
        ({"to_at": "2026-01-02T02:59:59Z"}, "annotation_times"),
        ({"to_at": "2028-01-02T02:59:59Z"}, "annotation_times"),
        ({"from_at": "0001-01-01T00:00:00+14:00"}, "annotation_times"),
        ({"from_at": "9999-12-31T23:59:59-14:00"}, "annotation_times"),
        ({"campaign_id": None}, "annotation_subject"),
        ({"link": "moon"}, "annotation_subject"),
    ],
)
def test_what_cannot_be_noted_is_refused(lab: Lab, campaign: str, change: dict[str, Any], code: str) -> None:
    body = {"campaign_id": campaign, "text": "rain", "from_at": "2026-01-02T03:00:00Z", **change}
    assert lab.call("POST", "/annotations", body, expect=422)["code"] == code
    assert lab.call("GET", "/annotations")["total"] == 0


def test_what_is_not_there_is_not_annotated(lab: Lab) -> None:
    moment = {"text": "rain", "from_at": "2026-01-02T03:00:00Z"}
    assert lab.call("POST", "/annotations", {**moment, "link": "moon"}, expect=404)["code"] == "link_not_found"
    nowhere = str(UUID(int=0))
    assert (
        lab.call("POST", "/annotations", {**moment, "campaign_id": nowhere}, expect=404)["code"] == "campaign_not_found"
    )


def test_a_campaign_has_no_more_annotations_than_a_strip_can_hold(lab: Lab, campaign: str) -> None:
    now = lab.now()
    row = {"campaign_id": UUID(campaign), "kind": "note", "text": "n", "from_at": now, "created_at": now}
    with lab.units() as unit:
        unit.session.execute(insert(Annotation), [row] * (MOST_OF_CAMPAIGN - 1))
    note(lab, campaign_id=campaign, from_at=now.isoformat())
    full = lab.call(
        "POST", "/annotations", {"campaign_id": campaign, "text": "n", "from_at": now.isoformat()}, expect=409
    )
    assert full["code"] == "annotations_full"


def test_who_may_only_read_annotates_nothing(lab: Lab, campaign: str) -> None:
    secret = lab.call("POST", "/tokens", {"name": "r", "scopes": ["read"]})["secret"]
    body = {"campaign_id": campaign, "text": "rain", "from_at": "2026-01-02T03:00:00Z"}
    answer = lab.client.post(f"{API}/annotations", json=body, headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


def archive_of(lab: Lab, campaign: str) -> bytes:
    headers = {"Authorization": f"Bearer {lab.token}"}
    return lab.client.get(f"{API}/campaigns/{campaign}/archive.zip", headers=headers).content


def test_an_archive_takes_along_what_was_noted_of_the_campaign_and_of_its_links(lab: Lab, campaign: str) -> None:
    make_link(lab)
    at = (begin(lab, campaign) + timedelta(seconds=1)).isoformat()
    note(lab, campaign_id=campaign, text="own", from_at=at)
    links = note(lab, link=LINK, text="of the link", from_at=at)
    content = archive_of(lab, campaign)
    lab.call("DELETE", f"/campaigns/{campaign}", expect=204)
    assert [each["text"] for each in lab.call("GET", "/annotations")["items"]] == ["of the link"]
    with lab.units() as unit:
        load_archive(unit, content)
    # Here the link says it still: it is shown once.
    assert sorted(shown(lab, campaign)) == ["of the link", "own"]
    lab.call("DELETE", f"/annotations/{links['id']}", expect=204)
    assert sorted(shown(lab, campaign)) == ["of the link", "own"]


def test_an_archive_of_a_campaign_that_came_back_has_the_words_of_its_link_once(lab: Lab, campaign: str) -> None:
    make_link(lab)
    note(lab, link=LINK, text="of the link", from_at=(begin(lab, campaign) + timedelta(seconds=1)).isoformat())
    for _ in range(3):
        content = archive_of(lab, campaign)
        lab.call("DELETE", f"/campaigns/{campaign}", expect=204)
        with lab.units() as unit:
            load_archive(unit, content)
    assert shown(lab, campaign) == ["of the link"]


def test_an_archive_from_before_has_none(lab: Lab, campaign: str) -> None:
    assert lab.call("GET", f"/campaigns/{campaign}/day")["annotations"] == []


def test_a_link_that_no_database_could_name_has_none(lab: Lab) -> None:
    assert lab.call("GET", "/annotations?link=%00") == {"items": [], "total": 0}


@pytest.mark.parametrize(
    "change",
    [
        {"campaign_id": None},
        {"campaign_id": str(UUID(int=1))},
        {"kind": "lunch"},
        {"text": "x" * 501},
        {"from_at": "0001-01-01T00:00:00+14:00"},
    ],
)
def test_an_archive_notes_nothing_that_nobody_could_note_here(lab: Lab, campaign: str, change: dict[str, Any]) -> None:
    note(lab, campaign_id=campaign, text="own", from_at=begin(lab, campaign).isoformat())
    content = changed(archive_of(lab, campaign), change)
    lab.call("DELETE", f"/campaigns/{campaign}", expect=204)
    with pytest.raises(InvalidError), lab.units() as unit:
        load_archive(unit, content)
    assert lab.call("GET", "/annotations")["total"] == 0


def changed(content: bytes, change: dict[str, Any]) -> bytes:
    """The archive with another annotation, and the digest that goes with it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    rows, manifest = json.loads(members["rows.json"]), json.loads(members["manifest.json"])
    rows["annotations"][0].update(change)
    members["rows.json"] = json.dumps(rows).encode()
    manifest["sha256"]["rows.json"] = hashlib.sha256(members["rows.json"]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()
