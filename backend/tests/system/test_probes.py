"""Probe flows through the whole stack: alone on a link whose round-trip time is known, and beside a download."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from downlink.main import app
from tests.system.conftest import System

pytestmark = pytest.mark.verify("stack")

SOURCE = """
name: Latency under load
links: [terrestrial]
stop: {seconds: 5}
phases: {startup_s: 1, steady_s: 3}
timetable: {cycles: 1}
primary_metrics: [steady.rtt_ms]
conditions:
  - {name: Idle, flows: [{probe: {every_ms: 50}}]}
  - {name: Beside Cubic, flows: [{probe: {every_ms: 50}}, {cc: cubic}]}
  - {name: Cubic}
"""
PROBES = 5000 // 50


@pytest.fixture(scope="module")
def campaign(system: System) -> str:
    campaign = system.launch(SOURCE)
    system.wait_complete(campaign)
    return campaign


def by_condition(system: System, campaign: str) -> dict[str, str]:
    return {run["condition"]: run["id"] for run in system.runs_in_time(campaign)}


def trace(system: System, run: str, point: str) -> dict[str, list[int]]:
    out = io.BytesIO()
    system.client.download(f"/runs/{run}/traces/1/{point}.parquet", out)
    columns: dict[str, list[int]] = pq.read_table(io.BytesIO(out.getvalue())).to_pydict()
    return columns


def metrics(system: System, campaign: str) -> list[dict[str, str]]:
    out = io.BytesIO()
    system.client.download(f"/campaigns/{campaign}/metrics.csv", out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode())))


def steady(system: System, campaign: str, condition: str, flow: int) -> dict[str, Any]:
    (row,) = (
        each
        for each in metrics(system, campaign)
        if (each["condition"], each["flow"], each["phase"]) == (condition, str(flow), "steady")
    )
    names = ("rtt_ms", "throughput_bps", "probe_loss_percent", "probe_rtt_p95_ms")
    return {name: float(row[name]) if row[name] else None for name in names}


@pytest.mark.verify("stack", measures=True)
def test_probes_on_an_idle_link_take_its_round_trip_time(system: System, campaign: str) -> None:
    run = by_condition(system, campaign)["Idle"]
    sent, came = trace(system, run, "sender"), trace(system, run, "receiver")
    assert len(sent["probe_number"]) == pytest.approx(PROBES, abs=5)
    assert sent["probe_number"] == came["probe_number"], "nothing is lost on an idle link"
    (base_ms,) = (link["base_rtt_ms"] for link in system.client.items("/links") if link["name"] == "terrestrial")
    rtts_ms = sorted(each / 1000 for each in sent["probe_rtt_us"])
    assert rtts_ms[0] > base_ms - 1
    assert rtts_ms[len(rtts_ms) // 2] == pytest.approx(base_ms, abs=5)


@pytest.mark.verify("stack", measures=True)
def test_probes_beside_data_wait_in_its_queue(system: System, campaign: str) -> None:
    idle, probed, data = (
        steady(system, campaign, *place) for place in (("Idle", 1), ("Beside Cubic", 1), ("Beside Cubic", 2))
    )
    assert probed["rtt_ms"] > idle["rtt_ms"] + 1
    assert probed["probe_rtt_p95_ms"] >= probed["rtt_ms"]
    assert probed["probe_loss_percent"] is not None
    assert probed["throughput_bps"] is None
    assert data["probe_loss_percent"] is None


@pytest.mark.verify("stack", measures=True)
def test_a_flow_of_data_is_judged_beside_probes_as_alone(system: System, campaign: str) -> None:
    exits = system.client.get(f"/runs/{by_condition(system, campaign)['Beside Cubic']}/exits")["flows"]
    assert [flow["flow"] for flow in exits] == [2]
    report = system.client.get(f"/campaigns/{campaign}/report")
    levels = {(group["condition"], group["flow"]): group["level_basis"] for group in report["groups"]}
    assert levels["Beside Cubic", 2] == levels["Cubic", 1] == "nominal", "the flow has the link to itself"
    assert report["fairness"] == [], "probes share nothing"
    alone, beside = steady(system, campaign, "Cubic", 1), steady(system, campaign, "Beside Cubic", 2)
    assert beside["throughput_bps"] == pytest.approx(alone["throughput_bps"], rel=0.1)


def test_probes_are_in_the_csv_files(system: System, campaign: str) -> None:
    rows = [row for row in metrics(system, campaign) if row["condition"] == "Idle"]
    assert {row["phase"] for row in rows} == {"startup", "steady", "overall"}
    assert all(float(row["probe_loss_percent"]) == 0 and float(row["probe_rtt_p95_ms"]) > 0 for row in rows)


@pytest.mark.verify("stack", measures=True)
def test_a_profile_is_fitted_to_the_idle_link_and_polled_flows_are_refused_in_a_sentence(
    system: System, campaign: str, tmp_path: Path
) -> None:
    file = tmp_path / "my-link.yaml"
    runs = by_condition(system, campaign)
    access = {"DOWNLINK_SERVER": system.stack.address, "DOWNLINK_TOKEN": system.stack.token}
    wanted = ["links", "fit", runs["Idle"], runs["Cubic"], "--into", str(file)]
    done = CliRunner().invoke(app, wanted, env=access, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert f"Run {runs['Cubic']}, flow 1 takes no part: it was sampled now and then" in done.output
    profile = yaml.safe_load(file.read_text())
    (link,) = (link for link in system.client.items("/links") if link["name"] == "terrestrial")
    rtt_ms = profile["down"]["delay"]["base_ms"] + profile["up"]["delay"]["base_ms"]
    assert rtt_ms == pytest.approx(link["base_rtt_ms"], abs=2)
    assert profile["down"]["rate"]["constant_bps"] == link["nominal_rate_bps"], "no flow said the rate"
    assert "idle RTT, least" in done.output, "what the profile makes of the same probes is beside them"
    refused = CliRunner().invoke(app, ["links", "fit", runs["Cubic"], "--into", str(file)], env=access)
    assert "A fit needs runs with probe flows alone" in str(refused.exception)
