"""Runs of a cycle meet the same weather on an emulated link, whatever they carry; those of another cycle meet other weather."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from downlink.analysis.linklog import CAUSES
from downlink.domain.links.weather import link_seed
from downlink.domain.traces.sample import WAYS
from downlink.stack.rig import Host, Rig, wait_online
from tests.system.conftest import AGENT, System

pytestmark = pytest.mark.verify("stack", measures=True)

PROFILE = """
name: stormy
description: every kind of chance, in times that a short run sees
orbit: LEO
seed: 1
down:
  rate:
    steps: {period_s: 1, low_bps: 10000000, high_bps: 30000000}
    varies: {step_ms: 50, correlation_s: 1, sd_ratio: 0.2, low_ratio: 0.5, high_ratio: 1.5}
  queue: {limit_bytes: 150000}
  gap: {every_s: 1.5, length_ms: 60}
  loss: {outages: {mean_length_ms: 4, mean_spacing_s: 0.5}}
  delay: {base_ms: 15, variations: [{hold_ms: 100, uniform: {low_ms: 0, high_ms: 10}}]}
up:
  rate: {constant_bps: 10000000}
  queue: {limit_bytes: 100000}
  frames: {length_ms: 10, base_bytes: 2000, grant_delay_frames: 2, hold_s: 0, most_bytes: 20000}
  delay: {base_ms: 15}
facts: {source: chosen, nominal_rate_bps: 30000000, base_rtt_ms: 40}
"""
RECEIVER, SENDER = Host("receiver", "stormy-receiver", "receiver"), Host("sender-1", "stormy-sender", "sender")
SOURCE = """
name: Weather
links: [stormy]
stop: {seconds: 4}
phases: {startup_s: 1, steady_s: 2}
timetable: {cycles: 2, pause_s: 0, seed: 4}
limits: {attempts: 10}
conditions:
  - {name: alone, flows: [{}]}
  - {name: slow, flows: [{pacing_rate_bps: 2000000}]}
"""
WEATHER = ("rate_bps", "delay_us", "gap_us", "outage_us")
Log = dict[str, NDArray[np.int64]]


@pytest.fixture(scope="module")
def stormy(system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Another link on the same stack, full of chances."""
    profile: Path = tmp_path_factory.mktemp("profile") / "stormy.yaml"
    profile.write_text(PROFILE)
    rig = Rig(system.stack.supervisor, AGENT, f"stormy-{os.getpid()}")
    facts = rig.link_up(str(profile), senders=1, control=system.stack.address.removeprefix("http://"))
    for host in (RECEIVER, SENDER):
        rig.join(host, system.client.post("/agents/enrolments", {"name": host.agent})["token"])
        rig.start_agent(host)
    wait_online(lambda: system.client.items("/agents"), (RECEIVER, SENDER), system.stack.supervisor.check)
    own = {
        "name": "stormy",
        "receiver": RECEIVER.agent,
        "senders": [SENDER.agent],
        "is_emulated": True,
        "profile": "stormy",
    }
    system.client.post("/links", {**own, **{key: facts[key] for key in ("orbit", "nominal_rate_bps", "base_rtt_ms")}})
    yield system
    for program in (RECEIVER.agent, SENDER.agent, f"link-{rig.name}"):
        system.stack.supervisor.stop(program)


def launched(system: System) -> list[dict[str, Any]]:
    campaign = system.launch(SOURCE)
    system.wait_complete(campaign)
    runs = system.runs_in_time(campaign)
    assert {run["state"] for run in runs} == {"complete"}, runs
    return [system.client.get(f"/runs/{run['id']}") for run in runs]


def log(system: System, run: dict[str, Any]) -> Log:
    out = io.BytesIO()
    system.client.download(f"/runs/{run['id']}/traces/0/link.parquet", out)
    read = pq.read_table(io.BytesIO(out.getvalue()))
    return {name: read.column(name).to_numpy() for name in read.column_names}


def weather(found: Log, rows: int) -> list[list[int]]:
    return [found[f"{way}_{name}"][:rows].tolist() for way in WAYS for name in WEATHER]


def test_a_campaign_and_its_repeat_meet_the_same_weather_in_each_cycle(stormy: System) -> None:
    first, again = launched(stormy), launched(stormy)
    assert len(first + again) == 8
    for run in first + again:
        assert run["link_log"]["seed"] == link_seed(4, run["cycle"])
        assert (run["link_log"]["detail"], run["link_log"]["dropped_samples"]) == (None, 0)
    logs = {run["id"]: log(stormy, run) for run in first + again}
    rows = min(len(found["elapsed_us"]) for found in logs.values())
    assert rows >= 395
    for cycle in (1, 2):
        seen = [weather(logs[run["id"]], rows) for run in first + again if run["cycle"] == cycle]
        assert len(seen) == 4
        assert all(each == seen[0] for each in seen[1:]), "conditions, and the repeat, at the same times of their runs"
        phases = {run["link_log"]["phase_us"] for run in first + again if run["cycle"] == cycle}
        assert len(phases) == 1
    one, two = (weather(logs[next(run["id"] for run in first if run["cycle"] == cycle)], rows) for cycle in (1, 2))
    differ = {
        name: a != b for name, a, b in zip([f"{way}_{name}" for way in WAYS for name in WEATHER], one, two, strict=True)
    }
    assert all(differ[f"down_{name}"] for name in WEATHER), differ
    for run in first:
        found = logs[run["id"]]
        fast = run["condition"] == "alone"
        assert bool(found["down_received_bytes"][-1] > 3e6) is fast, "their loads are not the same at all"
        assert found["down_outage_us"][-1] > 0
    check_sums(stormy, first, logs)
    check_phases(stormy, first, logs)


def check_sums(stormy: System, runs: list[dict[str, Any]], logs: dict[str, Log]) -> None:
    """Of every run each byte is somewhere, and each loss has a cause and a flow."""
    for run in runs:
        found = logs[run["id"]]
        for way in WAYS:
            parts = [found[f"{way}_{name}_bytes"] for name in ("delivered", "queued", *CAUSES)]
            assert np.array_equal(found[f"{way}_received_bytes"], sum(parts)), way
        lost = {(each["flow"], each["way"], each["cause"]): each["packets"] for each in run["link_log"]["lost"]}
        if run["condition"] == "alone":
            for cause in CAUSES:  # that the queue was full is not sure: a busy machine sends less
                assert ((1, "down", cause) in lost) is bool(found[f"down_{cause}_bytes"][-1] > 0), cause
            sent = sum(n for (flow, way, _), n in lost.items() if (flow, way) == (1, "down"))
            lost_bytes = sum(int(found[f"down_{cause}_bytes"][-1]) for cause in CAUSES)
            assert 0.95 < 1500 * sent / lost_bytes < 1.1, "packets of a full link are nearly all full"


def check_phases(system: System, runs: list[dict[str, Any]], logs: dict[str, Log]) -> None:
    """What is judged of the link adds up to its log."""
    for run in runs:
        found, course = logs[run["id"]], system.client.get(f"/runs/{run['id']}/link")
        overall = course["phases"]["overall"]
        most = {
            cause: int(found[f"down_{cause}_bytes"][-1]) for cause in CAUSES if cause not in ("thinned", "path_change")
        }
        assert all(0 <= overall[f"{cause}_bytes"] <= most[cause] for cause in most), overall
        assert 0 < overall["outage_s"] <= found["down_outage_us"][-1] / 1e6
        (flow,) = course["flows"]
        lost = sum(each["packets"] for each in run["link_log"]["lost"] if (each["flow"], each["way"]) == (1, "down"))
        assert flow["lost_packets"] == lost
        if run["condition"] == "alone":
            assert 0.5 < overall["served_ratio"] <= 1.01
            assert 0 < overall["queueing_ms"] < overall["queueing_most_ms"]
            assert overall["waiting_most_bytes"] <= found["down_waiting_bytes"].max()
