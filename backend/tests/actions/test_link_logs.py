"""An emulated link's seed goes out with the order, and its log comes back as the run's third point."""

from __future__ import annotations

import io
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from downlink.actions.archive import load_archive
from downlink.domain.weather import link_seed
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent, draw_link, make_chunk

import numpy as np  # isort: skip


@pytest.fixture
def agents(lab: Lab) -> list[ScriptedAgent]:
    client, server = lab.join("client"), lab.join("server")
    client.logs_link = True
    return [client, server]


def emulated(lab: Lab, **changes: Any) -> str:
    lab.link(is_emulated=True, profile="geo-viasat")
    return lab.launch(**changes)


def test_all_conditions_and_attempts_of_a_cycle_get_one_seed(lab: Lab, agents: list[ScriptedAgent]) -> None:
    agents[1].fails_with = {"reason": "connect_failed", "detail": "no way"}
    asked: list[tuple[str, int]] = []
    prepare = agents[0]._on_prepare

    def noted(order: dict[str, Any]) -> None:
        asked.append((order["run_id"], order["link_seed"]))
        if len(asked) > 1:  # the first attempt alone
            agents[1].fails_with = None
        prepare(order)

    agents[0]._on_prepare = noted  # type: ignore[method-assign]
    campaign = emulated(lab, timetable={"cycles": 2, "order": "interleaved", "seed": 9})
    runs = lab.drive(campaign, agents)
    assert sorted((run["cycle"], run["attempt"]) for run in runs) == [(1, 1), (1, 1), (1, 2), (2, 1), (2, 1)]
    of_run = {run["id"]: link_seed(9, run["cycle"]) for run in runs}
    assert dict(asked) == {run: of_run[run] for run, _ in asked}
    assert len(set(of_run.values())) == 2
    assert {lab.call("GET", f"/runs/{run['id']}")["link_seed"] for run in runs} == set(of_run.values())


def test_real_links_hear_of_no_seed(lab: Lab, agents: list[ScriptedAgent]) -> None:
    lab.link()
    run = lab.drive(lab.launch(), agents)[0]
    found = lab.call("GET", f"/runs/{run['id']}")
    assert (found["state"], found["link_seed"], found["link_log"]) == ("complete", None, None)
    assert lab.call("GET", f"/runs/{run['id']}/link", expect=404)["code"] == "link_log_not_found"


def test_the_log_is_sealed_shown_and_taken_away(lab: Lab, agents: list[ScriptedAgent]) -> None:
    run = lab.drive(emulated(lab), agents)[0]
    found = lab.call("GET", f"/runs/{run['id']}")
    assert found["state"] == "complete"
    log = found["link_log"]
    assert (log["agent"], log["profile"], log["seed"], log["phase_us"]) == (
        "client",
        "geo-viasat",
        link_seed(1, 1),
        12_345,
    )
    assert (log["trace"]["state"], log["trace"]["samples"], log["trace"]["chunks"]) == ("sealed", 501, 3)
    assert log["lost"] == [{"flow": 1, "way": "down", "cause": "queue_full", "packets": 30}]
    expected = draw_link(np.arange(501, dtype=np.int64) * 10_000)
    answer = lab.client.get(f"/api/v1/runs/{run['id']}/traces/0/link.parquet", headers=token(lab))
    table = pq.read_table(io.BytesIO(answer.content))
    assert {name: table[name].to_pylist() for name in table.column_names} == {
        name: values.tolist() for name, values in expected.items()
    }
    csv = pyarrow.csv.read_csv(io.BytesIO(lab.call("GET", f"/runs/{run['id']}/traces/0/link.csv").encode()))
    assert csv["down_queue_full_bytes"].to_pylist() == expected["down_queue_full_bytes"].tolist()
    drawn = lab.call("GET", f"/runs/{run['id']}/link")
    assert sum(drawn["ways"]["down"]["lost_bytes"]["queue_full"]) == expected["down_queue_full_bytes"][-1]
    assert (len(drawn["time_s"]), drawn["end_s"]) == (500, 5.0)


def test_an_archive_takes_the_log_along(lab: Lab, agents: list[ScriptedAgent]) -> None:
    campaign = emulated(lab)
    run = lab.drive(campaign, agents)[0]
    before = lab.call("GET", f"/runs/{run['id']}"), lab.call("GET", f"/runs/{run['id']}/link")
    archive = lab.client.get(f"/api/v1/campaigns/{campaign}/archive.zip", headers=token(lab)).content
    lab.call("DELETE", f"/campaigns/{campaign}")
    loaded(lab, archive)
    after = lab.call("GET", f"/runs/{run['id']}"), lab.call("GET", f"/runs/{run['id']}/link")
    assert after[0]["link_log"] == before[0]["link_log"]
    assert after[1] == before[1]


def loaded(lab: Lab, archive: bytes) -> None:
    with lab.units() as unit:
        load_archive(unit, archive)


def test_a_log_that_breaks_off_is_said_beside_a_complete_run(lab: Lab, agents: list[ScriptedAgent]) -> None:
    agents[0].finds_of_link = {"detail": "the link's log ends early: connection reset"}
    run = lab.drive(emulated(lab), agents)[0]
    assert (run["state"], run["reason"]) == ("complete", "link_control_failed")
    assert run["detail"] == "Measured in full, but the link's log ends early: connection reset."


def test_rows_that_never_come_make_the_run_incomplete(lab: Lab, agents: list[ScriptedAgent]) -> None:
    agents[0].finds_of_link = {"chunks": 4}
    run = lab.drive(emulated(lab, limits={"attempts": 1}), agents)[0]
    assert (run["state"], run["detail"]) == ("incomplete", "Chunks are missing: the link's log: 3.")


def test_nobody_else_may_send_the_log_and_no_flow_is_without_number(lab: Lab, agents: list[ScriptedAgent]) -> None:
    client, server = agents
    emulated(lab)
    lab.tick()
    for _ in range(30):
        if client.spool and client.status == "restored":
            break
        server.act()
        client.act()
        lab.wait(1)
        lab.tick()
    ((run, attempt), chunks) = next(iter(client.spool.items()))
    place = (0, "link", 0)
    assert client.put(run, attempt, place, chunks[place]).json() == {"stored": True}
    assert server.put(run, attempt, place, chunks[place]).json()["code"] == "not_your_run"
    assert client.post(run, attempt, [((0, "link", 1), chunks[0, "link", 1])]).json()["chunks"][0]["status"] == 200
    content = make_chunk(run, attempt, 1, "receiver", 0, range(10))
    assert client.put(run, attempt, (0, "receiver", 0), content).json()["code"] == "chunk_misplaced"


def token(lab: Lab) -> dict[str, str]:
    return {"Authorization": f"Bearer {lab.token}"}
