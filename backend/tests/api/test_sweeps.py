"""Sweeps from a request to cells: the tick sends, workers compute, nothing is lost and nothing counts twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from pydantic import TypeAdapter

from downlink.actions.results import sweep_parts, sweeps
from downlink.analysis.exits.flow import flow_trace
from downlink.analysis.exits.outcomes import Timing
from downlink.analysis.exits.search import Search31
from downlink.analysis.exits.sweep import rates, sweep
from downlink.codec.parquet import parquet_to_columns
from downlink.storage.tables import Chunk, Event, SweepPart
from downlink.views.results.sweeps import Sweep
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import draw_slow_start

pytestmark = pytest.mark.sampled("faults")

GRID = {"window_factor": [2.5, 3.5], "threshold_percent": [20, 35, 90]}


@pytest.fixture
def campaign(lab: Lab) -> str:
    """Two cycles of a slow start over a GEO link that ends with a loss."""
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    server.draws = draw_slow_start
    launched = lab.launch(timetable={"cycles": 2}, stop={"seconds": 9}, conditions=[{"name": "on"}])
    lab.drive(launched, [client, server])
    return launched


def ask(lab: Lab, campaign: str, *, expect: int = 202, **changes: Any) -> dict[str, Any]:
    body = {"detector": "search", "version": "3.1", "grid": GRID, **changes}
    answer: dict[str, Any] = lab.call("POST", f"/campaigns/{campaign}/sweeps", body, expect=expect)
    return answer


def finish(lab: Lab, asked: dict[str, Any]) -> dict[str, Any]:
    lab.tick()
    while lab.work():
        pass
    shown: dict[str, Any] = lab.call("GET", f"/sweeps/{asked['id']}")
    assert TypeAdapter(Sweep).validate_python(shown)
    return shown


def sweep_events(lab: Lab) -> list[dict[str, Any]]:
    with lab.units() as unit:
        return [row.data for row in unit.session.query(Event).filter_by(kind="sweep").order_by(Event.id)]


def test_cells_are_what_the_detector_says_of_every_trace(lab: Lab, campaign: str) -> None:
    asked = ask(lab, campaign)
    assert (asked["state"], asked["done"], asked["total"], asked["cells"]) == ("queued", 0, 2, None)
    shown = finish(lab, asked)
    assert (shown["state"], shown["done"], shown["total"], shown["reason"]) == ("complete", 2, 2, None)
    headers = {"Authorization": f"Bearer {lab.token}"}
    runs = [run["id"] for run in lab.runs(campaign)]
    files = [lab.client.get(f"{API}/runs/{run}/traces/1/sender.parquet", headers=headers).content for run in runs]
    traces = [flow_trace(parquet_to_columns(file), "cubic") for file in files]
    assert len(shown["cells"]) == 6
    for cell in shown["cells"]:
        factor, threshold = cell["parameters"]["window_factor"], cell["parameters"]["threshold_percent"]
        own = Search31(window_factor=round(10 * factor), threshold_percent=threshold)
        expected = rates([sweep(trace, [own])[0] for trace in traces])
        assert cell["n"] == expected.n == 2
        for kind in Timing:
            assert cell["shares"][kind.value]["value"] == expected.shares[kind].value
        assert cell["headroom_s"] == expected.hr_s
    assert {cell["shares"]["good"]["value"] for cell in shown["cells"]} == {0.0, 1.0}


def test_progress_is_told_from_the_first_trace_to_the_last(lab: Lab, campaign: str) -> None:
    asked = ask(lab, campaign)
    finish(lab, asked)
    told = sweep_events(lab)
    assert [each["state"] for each in told] == ["queued", "running", "complete"]  # all within a second
    last = {"campaign_id": campaign, "sweep_id": asked["id"], "state": "complete", "done": 2, "total": 2}
    assert told[-1] == last


def test_a_lost_job_is_sent_again_and_one_that_runs_twice_counts_once(
    lab: Lab, campaign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_parts, "LANES", 1)
    asked = ask(lab, campaign)
    lab.tick()
    assert lab.work(lost=sweep_parts.JOB) == []
    lab.tick()
    assert lab.work() == []  # it may still be under way
    lab.wait(61)
    lab.tick()
    assert lab.work() == [sweep_parts.JOB]
    with lab.units() as unit:
        done = unit.session.query(SweepPart).filter(SweepPart.timings.is_not(None)).one()
        before = (done.timings, done.headrooms_us)
    with lab.units() as unit:
        sweeps.sweep_part(unit, done.id, lab.now())
        assert not unit.jobs
    shown = finish(lab, asked)
    assert (shown["state"], shown["done"]) == ("complete", 2)
    with lab.units() as unit:
        again = unit.session.get_one(SweepPart, done.id)
        assert (again.timings, again.headrooms_us) == before


def test_workers_that_end_at_once_leave_the_result_to_the_last(lab: Lab, campaign: str) -> None:
    asked = ask(lab, campaign)
    lab.tick()
    with lab.units() as unit:
        parts = [part.id for part in unit.session.query(SweepPart)]

    def work(part: UUID) -> None:
        with lab.units() as unit:
            sweeps.sweep_part(unit, part, lab.now())

    with ThreadPoolExecutor(len(parts)) as workers:
        list(workers.map(work, parts))
    shown = lab.call("GET", f"/sweeps/{asked['id']}")
    assert (shown["state"], shown["done"], len(shown["cells"])) == ("complete", 2, 6)
    assert [each["state"] for each in sweep_events(lab)].count("complete") == 1


def test_a_job_that_is_lost_again_and_again_ends_the_sweep_with_a_reason(lab: Lab, campaign: str) -> None:
    asked = ask(lab, campaign)
    for _ in range(sweep_parts.MAX_TRIES + 1):
        lab.tick()
        lab.work(lost=sweep_parts.JOB)
        lab.wait(61)
    shown = lab.call("GET", f"/sweeps/{asked['id']}")
    assert shown["state"] == "failed"
    assert "5 tries" in shown["reason"]
    assert sweep_events(lab)[-1]["state"] == "failed"


def test_a_trace_that_is_gone_ends_the_sweep_and_names_the_run(lab: Lab, campaign: str) -> None:
    asked = ask(lab, campaign)
    with lab.units() as unit:
        unit.session.query(Chunk).delete()
    shown = finish(lab, asked)
    assert shown["state"] == "failed"
    assert any(f"Flow 1 of run {run['id']}" in shown["reason"] for run in lab.runs(campaign))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"version": "9"}, "no detector search 9"),
    ({"grid": {"speed": [1]}}, "no parameter speed"),
    ({"grid": {"window_factor": [0]}}, "from 1 to 10 RTT"),
    ({"grid": {"window_factor": [2.55]}}, "multiple of 0.1 RTT"),
    ({"grid": {"bins": [10, 10]}}, "a value twice"),
    ({"grid": {"bins": list(range(2, 41)), "threshold_percent": list(range(1, 101))}}, "3,900 parameter sets"),
]


def test_a_grid_that_cannot_be_is_refused_in_a_sentence(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    campaign = lab.launch()
    for changes, said in REFUSED:
        refused = ask(lab, campaign, expect=422, **changes)
        assert refused["code"] == "sweep_invalid"
        assert said in refused["message"]


def test_where_no_trace_can_decide_nothing_is_begun(lab: Lab, campaign: str) -> None:
    refused = ask(lab, campaign, expect=409, detector="hystart", version="6.x", grid={"low_window": [8]})
    assert refused["code"] == "nothing_decidable"
    assert "per_ack" in refused["message"]
    assert lab.call("GET", f"/campaigns/{campaign}/sweeps") == {"items": [], "total": 0}


def test_sweeps_are_listed_newest_first_and_deleted_also_under_way(lab: Lab, campaign: str) -> None:
    first = ask(lab, campaign)
    lab.wait(1)
    second = ask(lab, campaign, grid={"bins": [10]})
    listed = lab.call("GET", f"/campaigns/{campaign}/sweeps")
    assert ([each["id"] for each in listed["items"]], listed["total"]) == ([second["id"], first["id"]], 2)
    lab.tick()
    lab.call("DELETE", f"/sweeps/{first['id']}", expect=204)
    lab.call("GET", f"/sweeps/{first['id']}", expect=404)
    lab.work(lost=sweep_parts.JOB)
    lab.wait(61)
    assert finish(lab, second)["state"] == "complete"


def test_the_form_learns_defaults_and_ranges_from_the_detectors(lab: Lab) -> None:
    found = {(each["detector"], each["version"]): each["parameters"] for each in lab.call("GET", "/sweeps/parameters")}
    assert set(found) == {("search", "1.0"), ("search", "3.1"), ("search", "4.0"), ("mean_sd", "Peters 2021")} | {
        ("hystart", version) for version in ("6.x", "5.10", "<=5.4")
    }
    defaults = {each["name"]: (each["default"], each["unit"]) for each in found["search", "3.1"]}
    assert defaults == {
        "window_factor": (3.5, "RTT"), "bins": (10, "bins"), "threshold_percent": (35, "%"), "alpha": (2, "RTT"),
    }  # fmt: skip
    assert all(each["low"] <= each["default"] <= each["high"] for parameters in found.values() for each in parameters)
