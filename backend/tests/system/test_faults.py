"""Kill anything at any moment: the host is put back, no run is lost, run twice or counted twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest
import redis
from sqlalchemy import create_engine, text

from downlink.stack.launcher import start_service
from downlink.stack.process import wait_until
from downlink.stack.servers import start_postgres
from tests.system.conftest import SENDER, System

pytestmark = pytest.mark.verify("faults")

HYSTART = Path("/sys/module/tcp_cubic/parameters/hystart")


def campaign_file(name: str, seconds: float = 4, cycles: int = 1) -> str:
    return f"""
name: {name}
links: [terrestrial]
stop: {{seconds: {seconds}}}
phases: {{startup_s: 1, steady_s: 1}}
timetable: {{cycles: {cycles}, pause_s: 0}}
limits: {{attempts: 3}}
conditions:
  - {{name: "HyStart off", sender: {{tcp_cubic.hystart: {1 - int(HYSTART.read_text())}}}}}
"""


def places(system: System, campaign: str) -> list[tuple[int, int]]:
    """(cycle, position) of the complete runs."""
    return sorted((run["cycle"], run["position"]) for run in system.runs(campaign) if run["state"] == "complete")


def traces_are_whole(system: System, campaign: str) -> bool:
    for run in system.runs(campaign):
        if run["state"] == "complete":
            for flow in system.client.get(f"/runs/{run['id']}")["flows"]:
                for trace in flow["traces"].values():
                    if trace["state"] != "sealed" or trace["missing_chunks"] or not trace["samples"]:
                        return False
    return True


def kill(system: System, name: str) -> None:
    """SIGKILL a program of the stack, helpers and all."""
    os.kill(system.stack.supervisor.pid(name), signal.SIGKILL)
    system.stack.supervisor.stop(name)


def restart(system: System, name: str) -> None:
    kill(system, name)
    start_service(system.stack.supervisor, system.stack.env, name)


def test_a_killed_sender_puts_its_host_back_and_the_run_is_tried_again(system: System) -> None:
    before = HYSTART.read_text()
    campaign = system.launch(campaign_file("Sender killed", seconds=8))
    first = system.wait_for_data(campaign)
    assert HYSTART.read_text() != before
    kill(system, SENDER.agent)
    assert HYSTART.read_text() != before, "nobody can have put it back yet"
    system.rig.start_agent(SENDER)
    assert wait_until(lambda: HYSTART.read_text() == before, timeout_s=10)

    done = system.wait_complete(campaign)
    runs = {run["id"]: run for run in system.runs_in_time(campaign)}
    failed = runs.pop(first["id"])
    assert (failed["state"], failed["reason"]) == ("failed", "agent_restarted")
    assert failed["detail"]
    (again,) = runs.values()
    assert again["state"] == "complete"
    assert again["attempt"] >= 2
    assert done["counts"]["complete"] == done["runs_total"] == 1
    assert HYSTART.read_text() == before


def test_a_campaign_outlives_a_killed_api(system: System) -> None:
    """Once data flows, the run needs no server. Before, the end of the server may leave one end without its start."""
    campaign = system.launch(campaign_file("Api killed", seconds=8, cycles=2))
    system.wait_for_data(campaign)
    restart(system, "api")
    assert wait_until(lambda: is_answering(system), timeout_s=90)
    system.wait_complete(campaign)
    assert places(system, campaign) == [(1, 1), (2, 1)]
    endings = [(run["state"], run["reason"], run["detail"]) for run in system.runs_in_time(campaign)]
    assert endings == [("complete", None, None)] * 2
    assert traces_are_whole(system, campaign)


def test_a_campaign_outlives_killed_workers_and_conductor(system: System) -> None:
    campaign = system.launch(campaign_file("Worker killed", seconds=3, cycles=3))
    for state in ("running", "uploading"):
        system.wait_for_run(campaign, state)
        restart(system, "worker")
        restart(system, "conductor")
    system.wait_complete(campaign)
    assert places(system, campaign) == [(1, 1), (2, 1), (3, 1)]
    assert len(system.runs_in_time(campaign)) == 3
    assert traces_are_whole(system, campaign)


def test_a_campaign_outlives_a_restarted_database(system: System) -> None:
    """While it is away every answer asks to try again later, and none says that something is wrong with the request."""
    supervisor = system.stack.supervisor
    campaign = system.launch(campaign_file("Database restarted", seconds=3, cycles=2))
    system.wait_for_run(campaign, "running")
    supervisor.stop("postgres")
    away = httpx.get(
        f"{system.stack.address}/api/v1/session", headers={"Authorization": f"Bearer {system.stack.token}"}
    )
    assert (away.status_code, away.json()["code"]) == (503, "database_away")
    assert int(away.headers["retry-after"]) > 0
    start_postgres(supervisor, system.stack.home / "postgres")
    system.wait_complete(campaign)
    assert len(places(system, campaign)) == 2
    assert traces_are_whole(system, campaign)


def test_the_queue_may_be_emptied_at_any_moment(system: System) -> None:
    queue = redis.Redis.from_url(system.stack.env["DOWNLINK_REDIS_URL"])
    campaign = system.launch(campaign_file("Queue emptied", seconds=2, cycles=3))
    for state in ("leased", "running", "uploading", "complete"):
        if state != "leased":  # a lease may pass faster than one can look
            system.wait_for_run(campaign, state)
        queue.flushall()
    system.wait_complete(campaign)
    assert places(system, campaign) == [(1, 1), (2, 1), (3, 1)]
    assert len(system.runs_in_time(campaign)) == 3
    assert traces_are_whole(system, campaign)


def test_no_run_ever_shared_its_link(system: System) -> None:
    """Over all that this session ran: the database has no two runs that held the link at once (imported ones held none)."""
    campaign = system.launch(campaign_file("One after the other", seconds=2, cycles=2))
    system.wait_complete(campaign)
    overlaps = text(
        """
        SELECT count(*) FROM runs a JOIN runs b ON a.link = b.link AND a.id < b.id
        WHERE a.import_source IS NULL AND b.import_source IS NULL
          AND a.start_at < a.released_at AND b.start_at < b.released_at
          AND tstzrange(a.start_at, a.released_at) && tstzrange(b.start_at, b.released_at)
        """
    )
    engine = create_engine(system.stack.env["DOWNLINK_DATABASE_URL"])
    with engine.connect() as connection:
        assert (
            connection.scalar(text("SELECT count(*) FROM runs WHERE import_source IS NULL AND start_at < released_at"))
            > 1
        )
        assert connection.scalar(overlaps) == 0
    engine.dispose()


def is_answering(system: System) -> bool:
    try:
        system.client.get("/session")
    except Exception:  # any failure means: not yet
        return False
    return True
