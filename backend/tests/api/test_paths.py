"""Paths over satellites from a request to a file: the tick sends, a worker makes, a reader checks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from pydantic import TypeAdapter

from downlink.actions.links import path_jobs
from downlink.actions.links.paths import MOST_PATHS, RESEND
from downlink.codec.path import decode_path, header_document
from downlink.codec.path_csv import path_csv
from downlink.constellation.summary import summarise
from downlink.constellation.window import PathWindow
from downlink.domain.errors import NotFoundError
from downlink.storage.tables import SatellitePath
from tests.fixtures.lab import API, Lab


def order(lab: Lab, *, expect: int = 202, **changes: Any) -> dict[str, Any]:
    answer: dict[str, Any] = lab.call("POST", "/paths", {"ready": "bent-pipe", "hours": 0.05, **changes}, expect=expect)
    return answer


def shown(lab: Lab, path: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = lab.call("GET", f"/paths/{path['id']}")
    return answer


def test_a_ready_made_path_becomes_a_file_that_a_reader_accepts(lab: Lab) -> None:
    made = order(lab)
    assert (made["state"], made["done_us"], made["header"], made["summary"]) == ("queued", 0, None, None)
    for file in ("/file", ".csv"):
        assert lab.call("GET", f"/paths/{made['id']}{file}", expect=409)["code"] == "path_not_ready"
    lab.tick()
    assert shown(lab, made)["state"] == "making"
    assert lab.work() == ["path"]
    ready = shown(lab, made)
    assert (ready["state"], ready["done_us"], ready["reason"]) == ("ready", 180_000_000, None)
    answer = lab.client.get(f"{API}/paths/{made['id']}/file", headers={"Authorization": f"Bearer {lab.token}"})
    assert answer.headers["content-disposition"] == 'attachment; filename="bent-pipe.dlpath"'
    assert len(answer.content) == ready["size_bytes"]
    header, columns = decode_path(answer.content)
    assert ready["header"] == header_document(header)
    assert header.asked == {"name": "bent-pipe", "hours": 0.05}
    found = summarise(header, columns)
    assert found.delay_ms is not None
    assert ready["summary"]["delay_ms"]["median"] == found.delay_ms.median
    assert ready["summary"]["unreachable_s"] == found.unreachable_s
    assert lab.call("GET", "/paths") == {"items": [ready], "total": 1}
    table = lab.client.get(f"{API}/paths/{made['id']}.csv", headers={"Authorization": f"Bearer {lab.token}"})
    assert table.headers["content-disposition"] == 'attachment; filename="bent-pipe.csv"'
    assert table.text == "".join(path_csv(header, columns))
    assert table.text.splitlines()[0].startswith("start_s,end_s,path,hop,receiver,delay_ms,")


def test_a_window_says_delay_changes_and_where_everything_is(lab: Lab) -> None:
    made = order(lab, ready="london-new-york")
    lab.tick()
    lab.work()
    summary = shown(lab, made)["summary"]
    window = lab.call("GET", f"/paths/{made['id']}/window?from_us=60000000&to_us=180000000&at_us=90000000&points=121")
    assert TypeAdapter(PathWindow).validate_python(window)
    assert [point["at_us"] for point in window["points"]] == list(range(60_000_000, 180_000_001, 1_000_000))
    for point in window["points"]:
        assert summary["delay_ms"]["least"] - 0.1 < point["delay_ms"] < summary["delay_ms"]["most"] + 0.1
    stays = window["stays"]
    assert all(one["to_us"] == other["from_us"] for one, other in pairwise(stays))
    assert stays[0]["from_us"] <= 60_000_000 < stays[0]["to_us"]
    assert stays[-1]["to_us"] == 180_000_000
    [held] = [each for each in stays if each["from_us"] <= 90_000_000 < each["to_us"]]
    places = window["places"]
    assert (places[0]["name"], places[-1]["name"], len(places)) == ("london", "new-york", held["hops"] + 1)
    for each in places[1:-1]:
        assert abs(each["height_km"] - 1150) < 30
        assert -80 < each["longitude_deg"] < 10  # over the Atlantic
        assert 35 < each["latitude_deg"] < 60
    assert lab.call("GET", f"/paths/{made['id']}/window?from_us=200000000", expect=422)["code"] == "path_invalid"


def test_what_cannot_be_is_refused_before_the_work(lab: Lab) -> None:
    assert order(lab, ready="moon", expect=422)["code"] == "path_invalid"
    for hours in (0, 25):
        order(lab, hours=hours, expect=422)
    for _ in range(MOST_PATHS):
        order(lab)
    assert order(lab, expect=409)["code"] == "paths_full"
    assert len(lab.call("GET", "/paths/ready")) == 6


def test_one_path_at_a_time_is_made_and_a_lost_one_is_sent_again_then_given_up(lab: Lab) -> None:
    first, second = order(lab), order(lab)
    for _ in range(2):
        lab.tick()
        assert lab.work(lost="path") == []
        lab.wait(RESEND.total_seconds() + 1)
    lab.tick()
    assert (shown(lab, first)["state"], shown(lab, second)["state"]) == ("failed", "making")
    assert "2 tries" in shown(lab, first)["reason"]
    assert lab.work() == ["path"]
    assert shown(lab, second)["state"] == "ready"


def test_a_deleted_path_is_not_finished(lab: Lab) -> None:
    made = order(lab)
    lab.tick()
    moments = iter(range(1, 10_000))

    def clock() -> Any:
        if next(moments) == 2:
            lab.call("DELETE", f"/paths/{made['id']}", expect=204)
        lab.wait(1)
        return lab.now()

    with pytest.raises(NotFoundError):
        path_jobs.make(lab.units, UUID(made["id"]), clock)
    with lab.units() as unit:
        assert unit.session.query(SatellitePath).count() == 0
