"""A campaign carried through all its states by scripted agents over HTTP."""

from __future__ import annotations

import csv
import io

import pytest

from downlink.api.schemas.reports import Report
from downlink.codec.parquet import parquet_to_columns
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import RATE_BYTES_S

pytestmark = pytest.mark.sampled("faults")


def test_a_campaign_runs_to_its_end(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch(timetable={"cycles": 2})
    runs = lab.drive(campaign, [client, server])
    assert [run["state"] for run in runs] == ["complete"] * 4
    assert [run["condition"] for run in runs] == ["on", "off", "on", "off"]
    assert client.orders == server.orders == ["prepare", "go", "upload"] * 4
    assert not client.spool
    assert not server.spool


def test_the_report_says_what_the_traces_hold(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch(timetable={"cycles": 2}, stop={"seconds": 9})
    lab.drive(campaign, [client, server])
    while lab.work():
        pass
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert Report.model_validate(report).is_current
    assert [(group["condition"], group["runs"]) for group in report["groups"]] == [("on", 2), ("off", 2)]
    for group in report["groups"]:
        assert group["series"]["throughput_bps"]["mean"][:8] == pytest.approx([8.0 * RATE_BYTES_S] * 8, rel=1e-3)
        assert group["metrics"]["steady"]["rtt_ms"] == {"mean": 600, "low": 600, "high": 600, "n": 2, "sd": 0}
        assert group["object_times"]["mean_s"][:2] == pytest.approx([0.1, 0.2])
    series = lab.call("GET", f"/runs/{lab.runs(campaign)[0]['id']}/series")["flows"][0]
    assert series["rtt_ms"][0] == 600


def test_exports_hold_every_run_and_agree_with_the_report(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    server.fails_with = {"reason": "cc_unavailable", "detail": "=HYPERLINK() is no control"}
    campaign = lab.launch(conditions=[{"name": "-on"}, {"name": "off"}], stop={"seconds": 9})
    for _ in range(3):
        lab.tick()
        client.act()
        server.act()
    server.fails_with = None
    lab.drive(campaign, [client, server])
    while lab.work():
        pass
    tables = {name: read_csv(lab, campaign, name) for name in ("runs", "series", "metrics", "summary")}
    assert [(row["condition"], row["state"], row["reason"]) for row in tables["runs"]] == [
        ("'-on", "failed", "cc_unavailable"), ("off", "complete", ""),
    ]  # fmt: skip
    for name in ("series", "metrics"):
        assert {row["state"] for row in tables[name]} == {"failed", "complete"}
    assert tables["runs"][1]["started_at"].endswith("Z")
    assert len([row for row in tables["series"] if row["state"] == "complete"]) == 9
    mean = next(row for row in tables["summary"] if (row["phase"], row["metric"]) == ("overall", "throughput_bps"))
    own = next(row for row in tables["metrics"] if (row["phase"], row["state"]) == ("overall", "complete"))
    assert float(mean["mean"]) == float(own["throughput_bps"])
    assert (mean["n"], mean["low"], mean["high"]) == ("1", "", "")


def test_a_trace_leaves_as_it_came(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    run = lab.drive(lab.launch(conditions=[{"name": "on"}]), [client, server])[0]
    headers = {"Authorization": f"Bearer {lab.token}"}
    parquet = lab.client.get(f"{API}/runs/{run['id']}/traces/1/sender.parquet", headers=headers)
    columns = parquet_to_columns(parquet.content)
    assert columns["elapsed_us"].tolist() == list(range(0, 5_000_001, 10_000))
    assert parquet.headers["content-disposition"] == f'attachment; filename="{run["id"]}-1-sender.parquet"'
    text = lab.client.get(f"{API}/runs/{run['id']}/traces/1/sender.csv", headers=headers).text
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [int(line["elapsed_us"]) for line in lines] == columns["elapsed_us"].tolist()
    assert set(lines[0]) == set(columns)


def read_csv(lab: Lab, campaign: str, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/{table}.csv"))))
