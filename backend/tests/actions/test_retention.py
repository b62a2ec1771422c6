"""Data goes as its rule says, some runs at a time, whatever is killed meanwhile; what was computed of it stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from downlink.actions.campaigns import retention
from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.results.reanalysis import analyse_again
from downlink.domain.errors import ConflictError
from downlink.process.settings import Settings
from downlink.storage.unit import UnitFactory
from tests.actions.test_archive import archive_of
from tests.actions.test_faults import ONE, pair
from tests.fixtures.lab import CAMPAIGN, Lab
from tests.fixtures.s3_server import S3Server

pytestmark = pytest.mark.sampled("faults")

DAY_S = 86_400
FIVE = {**ONE, "timetable": {"cycles": 5, "order": "interleaved"}}


def count(lab: Lab, what: str) -> int:
    with lab.units() as unit:
        return int(unit.session.execute(text(f"SELECT count(*) FROM {what}")).scalar_one())  # noqa: S608


def measured(lab: Lab, campaign: dict[str, Any] = ONE) -> str:
    """A complete campaign."""
    agents = list(pair(lab))
    made = lab.launch(**campaign)
    lab.drive(made, agents)
    return made


def settle(lab: Lab) -> list[str]:
    """Ticks and jobs until nothing is left to do; the jobs' names."""
    done: list[str] = []
    for _ in range(50):
        lab.tick()
        names = lab.work()
        done += names
        if not names:
            return done
    raise AssertionError(f"never done: {done}")


def ask(lab: Lab, campaign: str) -> dict[str, Any]:
    found: dict[str, Any] = lab.call("GET", f"/campaigns/{campaign}/retention")
    return found


def numbers(lab: Lab, campaign: str) -> Any:
    """What was computed, as every reader gets it."""
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    return report, lab.call("GET", f"/campaigns/{campaign}/exits")


def test_sizes_say_what_would_go_and_a_preview_changes_nothing(lab: Lab) -> None:
    campaign = measured(lab)
    found = ask(lab, campaign)
    with lab.units() as unit:
        stored = unit.session.execute(text("SELECT sum(octet_length(parquet)) FROM chunks")).scalar_one()
        series = unit.session.execute(text("SELECT sum(octet_length(packed)) FROM flow_series")).scalar_one()
    assert found["size"] == {
        "traces_bytes": stored,
        "traces_runs": 1,
        "unsized_parts": 0,
        "series_bytes": series,
        "series_runs": 1,
    }
    assert [(part["part"], part["bytes"], part["due_at"]) for part in found["parts"]] == [
        ("traces", stored, None),
        ("series", stored + series, None),
        ("all", stored + series, None),
    ]
    rule = {"traces_days": 30, "series_days": 60}
    shown = lab.call("POST", f"/campaigns/{campaign}/retention/preview", rule)
    assert shown["parts"][0]["due_at"] < shown["parts"][1]["due_at"]
    assert shown["parts"][2]["due_at"] is None
    assert ask(lab, campaign) == found


def test_a_rule_removes_raw_traces_when_their_time_has_come_and_the_numbers_stay(lab: Lab) -> None:
    campaign = measured(lab)
    before = numbers(lab, campaign)
    lab.call("PUT", f"/campaigns/{campaign}/retention", {"traces_days": 30})
    lab.wait(30 * DAY_S - 600)
    assert retention.JOB not in settle(lab)
    lab.wait(600)
    assert retention.JOB in settle(lab)
    assert (count(lab, "chunks"), count(lab, "flow_series")) == (0, 1)
    assert numbers(lab, campaign) == before
    found = ask(lab, campaign)
    assert (found["going"], found["removed"]["traces_runs"], found["size"]["traces_bytes"]) == (None, 1, 0)
    (run,) = lab.runs(campaign)
    shown = lab.call("GET", f"/runs/{run['id']}")
    assert shown["traces_removed_at"]
    assert shown["flows"][0]["traces"]["sender"]["state"] == "removed"
    for path in ("traces/1/sender.csv", "traces/1/sender.parquet", "traces/1/sender/samples?columns=cwnd_segments"):
        answer = lab.call("GET", f"/runs/{run['id']}/{path}", expect=404)
        assert answer["code"] == "traces_removed", path
        assert "were removed at" in answer["message"]
    for path in ("", "/series", "/exits", "/limits", "/moments"):
        lab.call("GET", f"/runs/{run['id']}{path}")
    lab.wait(DAY_S)
    assert retention.JOB not in settle(lab), "it is done once"


def test_what_needs_raw_traces_is_refused_with_the_reason(lab: Lab) -> None:
    campaign = measured(lab)
    lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"})
    answer = lab.call("POST", f"/campaigns/{campaign}/reanalysis", expect=409)
    assert (answer["code"], "just being removed" in answer["message"]) == ("traces_removed", True)
    settle(lab)
    answer = lab.call("POST", f"/campaigns/{campaign}/reanalysis", expect=409)
    assert answer["code"] == "traces_removed"
    assert "cannot be computed again" in answer["message"]
    sweep = {"detector": "search", "version": "3.1", "grid": {"bins": [10]}}
    assert lab.call("POST", f"/campaigns/{campaign}/sweeps", sweep, expect=409)["code"] == "traces_removed"
    with pytest.raises(ConflictError, match="cannot be computed again"), lab.units() as unit:
        analyse_again(unit, UUID(campaign), lab.now())
    answer = lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"}, expect=409)
    assert answer["code"] == "nothing_to_remove"


def test_series_go_with_what_they_were_made_of_and_every_page_still_answers(lab: Lab) -> None:
    campaign = measured(lab)
    report, _ = numbers(lab, campaign)
    lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "series"})
    settle(lab)
    assert (count(lab, "chunks"), count(lab, "flow_series"), count(lab, "metrics") > 0) == (0, 0, True)
    assert numbers(lab, campaign)[0] == report, "the campaign's curves stay"
    (run,) = lab.runs(campaign)
    for path in ("", "/series", "/exits", "/limits", "/moments"):
        lab.call("GET", f"/runs/{run['id']}{path}")
    for path in ("series.csv", "metrics.csv", "limits.csv", "exits.csv", "summary.csv", "statistics.csv", "runs.csv"):
        lab.call("GET", f"/campaigns/{campaign}/{path}")
    assert lab.call("GET", f"/runs/{run['id']}")["series_removed_at"]


def test_all_of_it_takes_the_campaign_along(lab: Lab) -> None:
    campaign = measured(lab)
    lab.call("PUT", f"/campaigns/{campaign}/retention", {"all_days": 1})
    lab.wait(DAY_S + 60)
    settle(lab)
    lab.call("GET", f"/campaigns/{campaign}", expect=404)
    assert [count(lab, table) for table in ("chunks", "runs", "retentions", "campaigns")] == [0, 0, 0, 0]
    (entry,) = [each for each in lab.call("GET", "/audit")["items"] if each["action"] == "remove_data"]
    assert (entry["actor_kind"], entry["subject_id"]) == ("server", campaign)


def test_a_campaign_of_many_runs_is_deleted_in_parts_and_says_how_far_it_is(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "DELETED_AT_ONCE", 4)
    monkeypatch.setattr(retention, "RUNS_A_JOB", 2)
    campaign = measured(lab, FIVE)
    answer = lab.call("DELETE", f"/campaigns/{campaign}", expect=202)
    assert answer == {"campaign_id": campaign, "runs_left": 5}
    assert lab.call("DELETE", f"/campaigns/{campaign}", expect=202) == answer, "twice is once"
    lab.tick()
    assert lab.work() == [retention.JOB]
    found = lab.call("GET", f"/campaigns/{campaign}")
    assert (found["being_removed"], sum(found["counts"].values())) == ("all", 3)
    assert [row["being_removed"] for row in lab.call("GET", "/campaigns")["items"]] == ["all"]
    answer = lab.call("POST", f"/campaigns/{campaign}/rerun", expect=409)
    assert answer["code"] == "campaign_being_deleted"
    settle(lab)
    lab.call("GET", f"/campaigns/{campaign}", expect=404)
    assert [count(lab, table) for table in ("chunks", "runs", "retentions", "campaigns")] == [0, 0, 0, 0]


def test_a_pin_keeps_everything_and_stops_what_is_under_way(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "RUNS_A_JOB", 2)
    campaign = measured(lab, FIVE)
    chunks = count(lab, "chunks")
    lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"})
    lab.tick()
    assert lab.work() == [retention.JOB]
    assert 0 < count(lab, "chunks") < chunks
    left = count(lab, "chunks")
    lab.call("PUT", f"/campaigns/{campaign}/retention", {"traces_days": 1, "is_pinned": True})
    lab.wait(400 * DAY_S)
    settle(lab)
    assert count(lab, "chunks") == left
    assert ask(lab, campaign)["parts"][0]["due_at"] is None
    answer = lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"}, expect=409)
    assert answer["code"] == "campaign_pinned"
    lab.call("PUT", f"/campaigns/{campaign}/retention", {"traces_days": 1})
    lab.wait(120)
    settle(lab)
    assert count(lab, "chunks") == 0


def killed_before_its_commit(lab: Lab, campaign: str) -> None:
    with lab.units() as unit:
        retention.remove_some(unit, UUID(campaign), lab.now())
        raise KeyboardInterrupt


def test_a_killed_worker_leaves_rows_that_say_what_is_still_to_go(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "RUNS_A_JOB", 2)
    campaign = measured(lab, FIVE)
    lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"})
    lab.tick()
    with pytest.raises(KeyboardInterrupt):
        killed_before_its_commit(lab, campaign)
    assert count(lab, "runs WHERE traces_removed_at IS NOT NULL") == 0
    lab.work(lost=retention.JOB)  # the queue was emptied
    lab.tick()
    assert retention.JOB not in lab.work(), "it may still be at work"
    lab.wait(8 * 60)
    settle(lab)
    assert (count(lab, "chunks"), ask(lab, campaign)["removed"]["traces_runs"]) == (0, 5)


def test_what_is_under_way_or_being_judged_is_refused_and_waited_for(lab: Lab) -> None:
    agents = list(pair(lab))
    campaign = lab.launch(**ONE)
    answer = lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"}, expect=409)
    assert answer["code"] == "campaign_under_way"
    lab.call("PUT", f"/campaigns/{campaign}/retention", {"traces_days": 1})
    lab.drive(campaign, agents)
    lab.call("POST", f"/campaigns/{campaign}/reanalysis")
    lab.wait(2 * DAY_S)
    lab.tick()
    assert count(lab, "retentions WHERE going IS NOT NULL") == 0, "runs wait to be judged"
    settle(lab)
    lab.wait(120)
    settle(lab)
    assert count(lab, "chunks") == 0


def test_late_samples_of_a_removed_run_are_not_taken(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    lab.drive(campaign, [client, server])
    (run,) = lab.runs(campaign)
    lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"})
    settle(lab)
    with lab.units() as unit:
        unit.session.execute(text("UPDATE run_hosts SET phase = 'lost'"))
    answer = lab.client.post(
        f"/api/v1/agent/runs/{run['id']}/events",
        json={"kind": "uploaded", "attempt": 1, "at": lab.now().isoformat()},
        headers={"Authorization": f"Bearer {server.secret}"},
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "run_over")
    assert lab.runs(campaign)[0]["state"] == "complete"


def test_an_archive_of_a_campaign_without_traces_is_loaded_as_it_is(lab: Lab) -> None:
    campaign = measured(lab)
    lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "series"})
    settle(lab)
    before = numbers(lab, campaign)
    content = archive_of(lab, campaign)
    lab.call("DELETE", f"/campaigns/{campaign}")
    with lab.units() as unit:
        load_archive(unit, content)
    assert numbers(lab, campaign) == before
    assert ask(lab, campaign)["removed"]["series_runs"] == 1


def test_only_the_owner_and_admins_remove(lab: Lab) -> None:
    campaign = measured(lab)
    reader = lab.call("POST", "/tokens", {"name": "r", "scopes": ["read"]})["secret"]
    headers = {"Authorization": f"Bearer {reader}"}
    path = f"/api/v1/campaigns/{campaign}"
    assert lab.client.get(f"{path}/retention", headers=headers).status_code == 200
    assert lab.client.post(f"{path}/retention/preview", json={"traces_days": 1}, headers=headers).status_code == 200
    assert lab.client.put(f"{path}/retention", json={}, headers=headers).status_code == 403
    assert lab.client.post(f"{path}/removal", json={"part": "all"}, headers=headers).status_code == 403


def test_the_list_says_what_takes_most_and_what_goes_next(lab: Lab) -> None:
    campaign = measured(lab)
    lab.call("POST", "/campaigns", {"campaign": {**CAMPAIGN, "name": "a draft"}})
    lab.call("PUT", f"/campaigns/{campaign}/retention", {"series_days": 2, "traces_days": 1})
    found = lab.call("GET", "/retention")
    (item,) = found["items"]
    assert (item["campaign_id"], item["next"]["part"], item["size"]["traces_runs"]) == (campaign, "traces", 1)
    assert found["traces_bytes"] == item["size"]["traces_bytes"] == item["next"]["bytes"]
    assert found["database_bytes"] > found["traces_bytes"]


@pytest.fixture
def s3_lab(units: UnitFactory, settings: Settings, s3: S3Server) -> Iterator[Lab]:
    with Lab(s3.settings(settings), units) as opened:
        yield opened


def test_objects_of_a_trace_store_go_after_no_row_names_them(s3_lab: Lab, s3: S3Server) -> None:
    campaign = measured(s3_lab)
    found = ask(s3_lab, campaign)["size"]
    assert found["traces_bytes"] == sum(path.stat().st_size for path in s3.objects())
    assert found["unsized_parts"] == 0
    s3_lab.call("POST", f"/campaigns/{campaign}/removal", {"part": "traces"})
    s3_lab.tick()
    s3_lab.work(lost="remove_folder")
    assert count(s3_lab, "chunks") == 0
    assert s3.objects(), "rows first, objects after"
    s3_lab.wait(61)
    settle(s3_lab)
    assert s3.objects() == []
    assert count(s3_lab, "trace_folders") == 0
