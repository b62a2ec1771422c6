"""What a monitoring system reads: true at each step of a campaign, and there when parts are away."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import func, select
from starlette.datastructures import State

from downlink.api.http.disk_room import Room
from downlink.api.http.figures import ServerCollector
from downlink.process.settings import Settings
from downlink.stack.servers import free_port
from downlink.storage.tables import Agent, RunHost
from downlink.storage.unit import open_units
from tests.fixtures.lab import Lab

MONITORING = Path(__file__).resolve().parents[3] / "docs" / "monitoring"
NAME = re.compile(r"\b(?:downlink|process)_[a-z_]+")
Figures = dict[tuple[str, ...], float]


def read(registry: CollectorRegistry) -> Figures:
    """Every sample by its name and the values of its labels, in the order of their names."""
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (one.name, *(value for _, value in sorted(one.labels.items()))): one.value
        for family in families
        for one in family.samples
    }


def figures(lab: Lab) -> Figures:
    return read(lab.app.state.figures.registry)


def test_figures_follow_a_campaign(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    client.poll()
    server.poll()
    before = figures(lab)
    assert before["downlink_database_up",] == 1
    assert before["downlink_runs_unfinished", "planned"] == 0
    assert (before["downlink_agents", "online"], before["downlink_agents", "offline"]) == (2, 0)
    assert before["downlink_agent_online", "server"] == 1

    campaign = lab.launch()
    lab.tick()
    begun = figures(lab)
    runs = lab.runs(campaign)
    assert begun["downlink_runs_unfinished", "leased"] + begun["downlink_runs_unfinished", "preparing"] == 1
    assert begun["downlink_runs_unfinished", "planned"] == len(runs) - 1
    assert begun["downlink_tick_age_seconds",] < 5
    assert begun["downlink_campaigns", "running"] == 1

    lab.drive(campaign, [client, server])
    after = figures(lab)
    assert after["downlink_runs_unfinished", "planned"] == 0
    assert after["downlink_runs_ended_last_hour", "", "complete"] == len(runs)
    assert after["downlink_runs_ended_last_hour", "", "failed"] == 0
    with lab.units() as unit:
        stored = unit.session.scalar(select(func.sum(RunHost.stored_bytes)))
    assert after["downlink_chunk_bytes_stored_total",] == stored
    assert after["downlink_chunks_stored_total",] > len(runs)

    lab.go_away(3700)
    later = figures(lab)
    assert later["downlink_runs_ended_last_hour", "", "complete"] == 0
    assert later["downlink_tick_age_seconds",] > 3600
    assert (later["downlink_agents", "offline"], later["downlink_agent_online", "server"]) == (2, 0)


def test_why_runs_failed_and_what_waits_on_disks(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch(limits={"attempts": 1}, timetable={"cycles": 1})
    while lab.runs(campaign)[0]["state"] != "running":
        lab.tick()
        client.act()
        server.act()
    for _ in range(2):  # silent in the run, then silent when it should be put back
        lab.wait(600)
        lab.tick()
    lost = [run for run in lab.runs(campaign) if run["reason"] == "agent_lost"]
    found = figures(lab)
    assert found["downlink_runs_ended_last_hour", "agent_lost", "failed"] == len(lost)
    with lab.units() as unit:
        row = unit.session.scalars(select(Agent).where(Agent.name == "server")).one()
        row.spool = [{"run_id": lost[0]["id"], "attempt": attempt, "chunks": 7} for attempt in (1, 2)]
        row.host = {**row.host, "spool_free_bytes": 123_000_000_000}
        row.status, row.last_seen_at = "blocked", lab.now()
    waiting = figures(lab)
    assert waiting["downlink_agents", "blocked"] == 1
    assert waiting["downlink_agent_waiting_chunks", "server"] == 14
    assert waiting["downlink_agent_spool_free_bytes", "server"] == 123_000_000_000
    lab.go_away(100)
    assert figures(lab)["downlink_agents", "blocked"] == 0, "nobody knows what an agent that is away would take"


def test_figures_are_given_while_database_and_queue_are_away(lab: Lab) -> None:
    away = f"127.0.0.1:{free_port()}"
    units = open_units(f"postgresql+psycopg://nobody@{away}/none", 1)
    registry = CollectorRegistry()
    room = Room(Settings(database_most_gib=1), units)
    registry.register(ServerCollector(State({"units": units, "clock": lab.now, "room": room}), f"redis://{away}/0"))
    assert read(registry) == {("downlink_database_up",): 0, ("downlink_queue_up",): 0, ("downlink_accepting",): 1}
    units.close()


@pytest.mark.parametrize("name", ["alerts.yaml", "grafana.json", "../monitoring.md"])
def test_what_is_watched_exists(lab: Lab, name: str) -> None:
    lab.join("client")
    families = text_string_to_metric_families(generate_latest(lab.app.state.figures.registry).decode())
    given = {family.name for family in families} | {"downlink_queue_jobs", "process"}  # tests have no queue
    named = {re.sub("_(total|bucket)?$", "", name) for name in NAME.findall((MONITORING / name).read_text())}
    assert named
    assert sorted(named - given) == []


def test_each_alert_links_to_its_section_of_the_runbooks() -> None:
    (group,) = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    page = (MONITORING.parent / "operations.md").read_text()
    assert [rule["alert"] for rule in group["rules"]] == re.findall(r"^### (Downlink\w+)$", page, re.MULTILINE)
    for rule in group["rules"]:
        assert rule["annotations"]["runbook_url"] == f"docs/operations.md#{rule['alert'].lower()}"
    board = json.loads((MONITORING / "grafana.json").read_text())
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) > 10
