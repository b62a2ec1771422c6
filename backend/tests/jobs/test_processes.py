"""The real processes, api, conductor and worker, killed and starved at any moment: PostgreSQL says what is due, and it gets done."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from redis import Redis
from sqlalchemy import text

from downlink.actions.people import access
from downlink.domain.people.access import COMMAND_LINE
from downlink.domain.watch import API as API_PULSE
from downlink.domain.watch import CONDUCTOR
from downlink.process.settings import Settings
from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.servers import free_port
from downlink.storage.heartbeats import find_pulse
from downlink.storage.notices.events import add_event
from downlink.storage.unit import UnitFactory
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import ScriptedAgent, make_host

pytestmark = [pytest.mark.verify("faults"), pytest.mark.timeout(120)]
COMMANDS = {"worker": ("worker", "--concurrency", "1"), "standby": ("conductor",)}
START_S = 90
ONE = {"conditions": [{"name": "on"}]}


class Processes:
    """Starts and kills the server's processes on the test's own database and queue."""

    def __init__(self, supervisor: Supervisor, settings: Settings) -> None:
        self._supervisor = supervisor
        self._env = {
            "DOWNLINK_DATABASE_URL": settings.database_url.get_secret_value(),
            "DOWNLINK_REDIS_URL": settings.redis_url.get_secret_value(),
        }
        self.port = free_port()

    def start(self, *names: str) -> None:
        for name in names:
            env = {**self._env, "DOWNLINK_PORT": str(self.port)}
            command = [sys.executable, "-m", "downlink.main", *COMMANDS.get(name, (name,))]
            self._supervisor.start(Program(name, command, env=env))

    def kill(self, name: str) -> None:
        """SIGKILL, helpers and all."""
        os.kill(self._supervisor.pid(name), signal.SIGKILL)
        self._supervisor.stop(name)

    def stop_gently(self, name: str) -> None:
        os.kill(self._supervisor.pid(name), signal.SIGTERM)

    def has_ended(self, name: str) -> bool:
        return name in self._supervisor.ended()

    def become_ready(self) -> bool:
        """Wait for as long as a start takes here, and no longer once a process has ended."""
        url = f"http://127.0.0.1:{self.port}/readyz"
        return wait_until(lambda: _answers(url) or bool(self._supervisor.ended()), START_S) and _answers(url)

    def log(self, name: str) -> str:
        return self._supervisor.log_path(name).read_text()


@pytest.fixture
def processes(tmp_path: Path, settings: Settings) -> Iterator[Processes]:
    with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
        redis.flushall()
    with Supervisor(tmp_path / "processes") as supervisor:
        yield Processes(supervisor, settings)


def carry(lab: Lab, campaign: str, agents: list[ScriptedAgent], timeout_s: float = 60) -> None:
    """Agents act in real time, tick and jobs are the processes', until the campaign has ended with its report."""

    def has_ended() -> bool:
        act(lab, agents)
        return bool(lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete")

    assert wait_until(has_ended, timeout_s, step_s=0.1), lab.runs(campaign)


def pair(lab: Lab) -> list[ScriptedAgent]:
    agents = [lab.join("client"), lab.join("server")]
    lab.link(base_rtt_ms=20)
    return agents


def assert_exactly_once(lab: Lab, campaign: str, runs: int) -> None:
    assert [run["state"] for run in lab.runs(campaign)] == ["complete"] * runs
    with lab.units() as unit:
        double = unit.session.execute(text("SELECT run_id, flow, bins FROM flow_series WHERE bins <> 5")).all()
        assert double == []  # five seconds each, once
        assert unit.session.execute(text("SELECT count(*) FROM leases")).scalar_one() == 0


def test_a_flushed_queue_loses_nothing(lab: Lab, processes: Processes, settings: Settings) -> None:
    agents = pair(lab)
    processes.start("worker", "conductor")
    campaign = lab.launch()
    with Redis.from_url(settings.redis_url.get_secret_value()) as redis, _with_every_order(agents, redis.flushall):
        carry(lab, campaign, agents, 90)
    assert_exactly_once(lab, campaign, 2)
    assert f'"subject": "{lab.runs(campaign)[0]["id"]}"' in processes.log("worker")


def test_killed_workers_and_conductors_lose_nothing(lab: Lab, processes: Processes) -> None:
    agents = pair(lab)
    processes.start("worker", "conductor")
    campaign = lab.launch()
    assert wait_until(lambda: _step(lab, campaign, agents) == "uploading", 30, step_s=0.1)
    processes.kill("worker")
    processes.kill("conductor")
    for _ in range(10):
        act(lab, agents)
    processes.start("worker", "conductor")
    carry(lab, campaign, agents, 90)
    assert_exactly_once(lab, campaign, 2)


def test_runs_go_on_while_every_job_waits(lab: Lab, processes: Processes) -> None:
    """The tick does not stand behind analyses: here these wait until both runs are measured."""
    agents = pair(lab)
    processes.start("conductor")
    campaign = lab.launch()

    def are_measured() -> bool:
        _step(lab, campaign, agents)
        return [run["state"] for run in lab.runs(campaign)] == ["uploading"] * 2

    assert wait_until(are_measured, 60, step_s=0.1), lab.runs(campaign)
    processes.start("worker")
    carry(lab, campaign, agents)
    assert_exactly_once(lab, campaign, 2)


def pulse(lab: Lab) -> datetime:
    """When the conductor ticked last; a moment long ago where it never has."""
    with lab.units() as unit:
        found = find_pulse(unit, CONDUCTOR)
    return found.at if found else datetime.min.replace(tzinfo=UTC)


def act(lab: Lab, agents: list[ScriptedAgent]) -> None:
    """Each agent does one thing, by an api that is there."""
    lab.mark(API_PULSE)
    for agent in agents:
        agent.act()


def _step(lab: Lab, campaign: str, agents: list[ScriptedAgent]) -> str:
    act(lab, agents)
    return str(lab.runs(campaign)[0]["state"])


@contextmanager
def _with_every_order(agents: list[ScriptedAgent], disturb: Callable[[], object]) -> Iterator[None]:
    """Disturb after every order that the first agent is given."""
    own = agents[0].act

    def act() -> dict[str, object] | None:
        order = own()
        if order:
            disturb()
        return order

    agents[0].act = act  # type: ignore[method-assign]
    yield
    agents[0].act = own  # type: ignore[method-assign]


@pytest.mark.verify("faults", measures=True)
def test_a_killed_api_is_only_a_pause_and_a_stopped_one_lets_go_at_once(
    units: UnitFactory, processes: Processes
) -> None:
    base = f"http://127.0.0.1:{processes.port}"
    with units() as unit:
        _, token = access.make_token(unit, "t", ["read", "write", "admin"], datetime.now(UTC), None, actor=COMMAND_LINE)
    processes.start("api", "conductor")
    assert processes.become_ready()
    with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=30) as client:
        with client.stream("GET", f"{API}/events") as stream:
            lines = stream.iter_lines()
            first = _next_event(lines)
            assert first["event"] == "hello"
            _join(client)
            assert _next_event(lines)["event"] == "agent"
            processes.kill("api")
        processes.start("api")
        assert processes.become_ready()
        with client.stream("GET", f"{API}/events", headers={"Last-Event-ID": first["id"]}) as stream:
            lines = stream.iter_lines()
            assert [_next_event(lines)["event"] for _ in range(2)] == ["hello", "agent"]  # nothing was lost between
        with units() as unit:
            for _ in range(200):
                add_event(unit, datetime.now(UTC), "agent", {})
        with client.stream("GET", f"{API}/events", headers={"Last-Event-ID": first["id"]}) as stream:
            lines = stream.iter_lines()
            # More than is handed on piece by piece: the reader is told to fetch again.
            kinds = (_next_event(lines)["event"] for _ in range(10))
            assert next(kind for kind in kinds if kind not in ("hello", "agent")) == "refetch"
            processes.stop_gently("api")
            assert wait_until(lambda: processes.has_ended("api"), 4), "a browser's stream held the server up"
    assert token not in processes.log("api")


def test_open_pages_hear_of_a_conductor_that_stops_and_is_back(units: UnitFactory, processes: Processes) -> None:
    base = f"http://127.0.0.1:{processes.port}"
    with units() as unit:
        _, token = access.make_token(unit, "t", ["read", "write"], datetime.now(UTC), None, actor=COMMAND_LINE)
    processes.start("api", "conductor")
    assert processes.become_ready()
    with (
        httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=30) as client,
        client.stream("GET", f"{API}/events") as stream,
    ):
        lines = stream.iter_lines()
        assert _next_event(lines)["event"] == "hello"
        processes.kill("conductor")
        assert _next_event(lines)["data"] == '{"is_conducting":false}'
        assert not _answers(f"{base}/readyz")
        processes.start("conductor")
        assert _next_event(lines)["data"] == '{"is_conducting":true}'
        assert _answers(f"{base}/readyz")


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.TransportError:
        return False


def _next_event(lines: Iterator[str]) -> dict[str, str]:
    """The next event's fields; comments (pings) are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line and fields:
            return fields
        name, _, value = line.partition(": ")
        if name:
            fields[name] = value
    raise AssertionError("the stream has ended")


def _join(client: httpx.Client) -> None:
    token = client.post(f"{API}/agents/enrolments", json={"name": "client"}).json()["token"]
    ScriptedAgent(client, "client", lambda: datetime.now(UTC), make_host("boot")).join(token)
