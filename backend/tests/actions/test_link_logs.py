"""An emulated link's seed goes out with the order, and its log comes back as the run's third point."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from downlink.actions.campaigns.archive_read import load_archive
from downlink.api.schemas.reports import Report
from downlink.domain.links.weather import link_seed
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent, draw_link, make_chunk

import numpy as np  # isort: skip

pytestmark = pytest.mark.sampled("faults")


@pytest.fixture
def agents(lab: Lab) -> list[ScriptedAgent]:
    client, server = lab.join("client"), lab.join("server")
    client.logs_link = True
    return [client, server]


def emulated(lab: Lab, further_receivers: tuple[str, ...] = (), **changes: Any) -> str:
    lab.link(is_emulated=True, profile="geo-viasat", further_receivers=list(further_receivers))
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


def test_a_logged_link_is_judged_by_phase_and_flow(lab: Lab, agents: list[ScriptedAgent]) -> None:
    """Of `draw_link` everything is known: a queue that grows to 2 MB in 2 s at 160 Mb/s, and then loses a tenth of what it carries."""
    campaign = emulated(lab, windows=[{"name": "filling", "from_s": 0, "to_s": 2}])
    run = lab.drive(campaign, agents)[0]
    course = lab.call("GET", f"/runs/{run['id']}/link")
    assert set(course["phases"]) == {"startup", "steady", "overall", "filling"}
    overall, filling = course["phases"]["overall"], course["phases"]["filling"]
    assert (overall["queue_full_bytes"], overall["congestion_loss_percent"]) == (3e6, pytest.approx(6.0))
    assert (overall["link_loss_percent"], overall["outage_s"]) == (0.0, pytest.approx(0.06))
    assert (overall["waiting_most_bytes"], overall["queueing_most_ms"]) == (2e6, pytest.approx(100.0))
    assert overall["served_ratio"] == pytest.approx(45 / 100)
    assert overall["offered_bytes"] == pytest.approx(3e6 / 0.06)
    assert (filling["congestion_loss_percent"], filling["outage_s"]) == (0.0, pytest.approx(0.02))
    assert filling["queueing_ms"] == pytest.approx(50.0, abs=0.5)
    assert filling["queueing_p95_ms"] == pytest.approx(95.0, abs=0.5)
    assert course["flows"] == [
        {"flow": 1, "lost_packets": 30.0, "congestion_share_percent": 100.0, "queue_full_packets": 30.0,
         "early_drop_packets": 0.0, "random_loss_packets": 0.0, "outage_packets": 0.0, "handover_packets": 0.0},
    ]  # fmt: skip


def table(lab: Lab, campaign: str, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/{name}.csv"))))


def test_links_are_in_tables_reports_comparisons_and_beside_published_values(
    lab: Lab, agents: list[ScriptedAgent]
) -> None:
    published = {
        "name": "lost",
        "metric": "congestion_loss_percent",
        "condition": "alone",
        "published": 6,
        "tolerance": 1,
    }
    of_flow = {"name": "share", "metric": "congestion_share_percent", "condition": "alone", "least": 50}
    campaign = emulated(
        lab,
        conditions=[{"name": "alone", "flows": [{}]}, {"name": "again", "flows": [{}]}],
        timetable={"cycles": 2, "pause_s": 0},
        primary_metrics=["overall.queueing_ms"],
        reproduces=[{"paper": "none", "figure": "1", "values": [published, of_flow]}],
    )
    runs = lab.drive(campaign, agents)
    lines = table(lab, campaign, "link")
    assert [(line["run_id"], line["flow"], line["phase"]) for line in lines] == [
        (run["id"], flow, phase)
        for run in runs
        for flow, phase in (("", "overall"), ("", "startup"), ("", "steady"), ("1", "overall"))
    ]
    assert {line["is_logged"] for line in lines} == {"true"}
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    Report.model_validate(report)
    alone, again = report["links"]
    assert (alone["condition"], again["condition"], alone["runs"], alone["without_log"]) == ("alone", "again", 2, 0)
    assert alone["metrics"]["overall"]["congestion_loss_percent"]["mean"] == pytest.approx(6.0)
    assert alone["flows"][0]["congestion_share_percent"] == {"mean": 100, "low": 100, "high": 100, "n": 2, "sd": 0}
    (tested,) = [each for each in report["comparisons"] if each["is_primary"]]
    assert (tested["flow"], tested["phase"], tested["metric"], tested["difference"]["mean"]) == (
        0,
        "overall",
        "queueing_ms",
        0,
    )
    summary = {(line["flow"], line["phase"], line["metric"]): line for line in table(lab, campaign, "summary")}
    assert float(summary["", "overall", "queue_full_bytes"]["mean"]) == 3e6
    assert float(summary["1", "overall", "lost_packets"]["mean"]) == 30
    compared = [line for line in table(lab, campaign, "statistics") if line["metric"] == "served_ratio"]
    assert {(line["flow"], line["phase"]) for line in compared} == {
        ("0", phase) for phase in ("startup", "steady", "overall")
    }
    (figure,) = lab.call("GET", f"/campaigns/{campaign}/reproduction")["figures"]
    assert [(value["name"], value["reading"], value["n"]) for value in figure["values"]] == [
        ("lost", "inside", 2),
        ("share", "inside", 2),
    ]


def test_runs_without_a_log_say_so_and_have_no_zeros(lab: Lab, agents: list[ScriptedAgent]) -> None:
    lab.link()
    campaign = lab.launch()
    lab.drive(campaign, agents)
    lines = table(lab, campaign, "link")
    assert len(lines) == 2
    told = ("is_logged", "phase", "congestion_loss_percent", "lost_packets")
    assert {tuple(line[name] for name in told) for line in lines} == {("false", "", "", "")}
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert (report["links"], [each for each in report["comparisons"] if each["flow"] == 0]) == ([], [])


def test_what_a_log_that_broke_off_counted_is_not_shown_as_all(lab: Lab, agents: list[ScriptedAgent]) -> None:
    agents[0].finds_of_link = {"detail": "the link's log ends early: connection reset"}
    run = lab.drive(emulated(lab), agents)[0]
    assert lab.call("GET", f"/runs/{run['id']}/link")["flows"] == []


@pytest.mark.parametrize("said", [{"counted_flows": [1]}, {}])
def test_what_is_not_counted_of_a_further_receivers_flow_is_not_shown_as_none(
    lab: Lab, agents: list[ScriptedAgent], said: dict[str, Any]
) -> None:
    agents[0].finds_of_link = said
    agents.append(lab.join("second"))
    flows = [{"cc": "cubic"}, {"cc": "cubic", "receiver": 2}]
    campaign = emulated(lab, further_receivers=["second"], conditions=[{"name": "both", "flows": flows}])
    (run,) = lab.drive(campaign, agents)
    first, second = lab.call("GET", f"/runs/{run['id']}/link")["flows"]
    assert (first["lost_packets"], set(second.values())) == (30.0, {2, None})
    lines = {line["flow"]: line for line in table(lab, campaign, "link")}
    assert [lines[flow]["lost_packets"] for flow in ("1", "2")] == ["30.0", ""]
    (link,) = lab.call("GET", f"/campaigns/{campaign}/report")["links"]
    means = [(flow["lost_packets"]["mean"], flow["lost_packets"]["n"]) for flow in link["flows"]]
    assert means == [(30, 1), (None, 0)]


def test_an_archive_takes_the_log_along(lab: Lab, agents: list[ScriptedAgent]) -> None:
    campaign = emulated(lab)
    run = lab.drive(campaign, agents)[0]
    before = lab.call("GET", f"/runs/{run['id']}"), lab.call("GET", f"/runs/{run['id']}/link")
    judged = table(lab, campaign, "link")
    archive = lab.client.get(f"/api/v1/campaigns/{campaign}/archive.zip", headers=token(lab)).content
    lab.call("DELETE", f"/campaigns/{campaign}")
    loaded(lab, archive)
    after = lab.call("GET", f"/runs/{run['id']}"), lab.call("GET", f"/runs/{run['id']}/link")
    assert after[0]["link_log"] == before[0]["link_log"]
    assert after[1] == before[1]
    assert table(lab, campaign, "link") == judged


def test_an_archive_from_before_links_were_judged_is_judged_when_it_is_loaded(
    lab: Lab, agents: list[ScriptedAgent]
) -> None:
    campaign = emulated(lab)
    lab.drive(campaign, agents)
    judged = table(lab, campaign, "link")
    archive = lab.client.get(f"/api/v1/campaigns/{campaign}/archive.zip", headers=token(lab)).content
    lab.call("DELETE", f"/campaigns/{campaign}")
    loaded(lab, before_links(archive))
    assert table(lab, campaign, "link") == judged
    assert len(judged) == 8


def before_links(archive: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as now, zipfile.ZipFile(out, "w") as older:
        content = {name: now.read(name) for name in now.namelist()}
        rows, manifest = json.loads(content["rows.json"]), json.loads(content["manifest.json"])
        assert rows.pop("link")
        assert rows.pop("flow_losses")
        content["rows.json"] = json.dumps(rows).encode()
        manifest["sha256"]["rows.json"] = hashlib.sha256(content["rows.json"]).hexdigest()
        content["manifest.json"] = json.dumps(manifest).encode()
        for name, body in content.items():
            older.writestr(name, body)
    return out.getvalue()


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
    assert (run["state"], run["reason"]) == ("incomplete", "samples_lost")
    assert run["detail"] == "Chunks are missing: the link's log: 3 (removed from the disk of client by somebody)."


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
