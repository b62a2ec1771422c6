"""Two api processes, two conductors, two workers and a trace store, killed in turn under 50 agents: nothing is lost or doubled.

DOWNLINK_CHAOS_S lets it go on for longer; `make chaos` does.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis
from sqlalchemy import text

from downlink.actions.people import access
from downlink.domain.people.access import COMMAND_LINE
from downlink.process.settings import Settings
from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.servers import free_port, is_listening
from downlink.storage.unit import UnitFactory
from tests.fixtures.fleet import FleetAgent
from tests.fixtures.lab import API
from tests.fixtures.s3_server import S3Server
from tests.fixtures.scripted_agent import make_host

CHAOS_S = float(os.environ.get("DOWNLINK_CHAOS_S", "0"))
PAIRS, CONDITIONS = 25, ("on",)
CYCLES = 1 if not CHAOS_S else max(2, round(CHAOS_S / 30))
SERVERS = ("api-1", "api-2", "conductor-1", "conductor-2", "worker-1", "worker-2")
DRIVERS, PAUSE_S, FAILOVER_S = 10, 0.5, 60.0
SECONDS, SAMPLES = 5, 501
pytestmark = [pytest.mark.verify("faults"), pytest.mark.timeout(CHAOS_S * 3 + 300)]
NOT_WHOLE = f"""
    SELECT run_id, flow, point, traces.samples, missing, count(*), sum(chunks.samples) FROM traces
    JOIN chunks USING (run_id, flow, point) JOIN runs ON runs.id = run_id WHERE state = 'complete'
    GROUP BY run_id, flow, point
    HAVING traces.samples <> {SAMPLES} OR missing <> '{{}}' OR sum(chunks.samples) <> {SAMPLES} OR count(packed) > 0
"""  # noqa: S608
WRONG_SECONDS = f"SELECT run_id FROM flow_series WHERE bins <> {SECONDS}"  # noqa: S608
COMPLETE = """
    SELECT link, condition, cycle, count(*) FILTER (WHERE state = 'complete'), count(*) FROM runs GROUP BY link, condition, cycle
"""


class Servers:
    """The processes, each under its own name."""

    def __init__(self, supervisor: Supervisor, env: dict[str, str]) -> None:
        self.ports = {name: free_port() for name in SERVERS if name.startswith("api")}
        self.kills = dict.fromkeys(SERVERS, 0)
        self._supervisor, self._env = supervisor, env

    def start(self, name: str) -> None:
        command = [sys.executable, "-m", "downlink.main", name.partition("-")[0]]
        env = {**self._env, "DOWNLINK_PORT": str(self.ports.get(name, 0))}
        self._supervisor.start(Program(name, command, env=env))

    def kill(self, name: str) -> None:
        """SIGKILL, helpers and all, and no time to say anything."""
        os.kill(self._supervisor.pid(name), signal.SIGKILL)
        self._supervisor.stop(name)
        self.kills[name] += 1

    def are_listening(self) -> bool:
        return all(is_listening(port) for port in self.ports.values())


class EitherApi(httpx.Client):
    """Asks one api process and, when it is away, the other, as behind a proxy; until one of them answers."""

    def __init__(self, ports: list[int]) -> None:
        super().__init__(trust_env=False, verify=False, timeout=40)
        self._ports = itertools.cycle(ports)
        self._port = next(self._ports)

    def request(self, method: str, url: Any, **content: Any) -> httpx.Response:  # type: ignore[override]
        ends = time.monotonic() + FAILOVER_S
        while True:
            try:
                answer = super().request(method, f"http://127.0.0.1:{self._port}{url}", **content)
                if not answer.is_server_error:
                    return answer
            except httpx.TransportError:
                pass
            assert time.monotonic() < ends, f"no api process answers {url}"
            self._port = next(self._ports)
            time.sleep(0.1)


class Campaign:
    """Fifty agents in pairs, each pair on its own link, and one campaign over all links."""

    def __init__(self, units: UnitFactory, ports: list[int]) -> None:
        with units() as unit:
            names = ["read", "write", "admin"]
            _, token = access.make_token(unit, "t", names, datetime.now(UTC), None, actor=COMMAND_LINE)
        self.client = EitherApi(ports)
        self.client.headers["Authorization"] = f"Bearer {token}"
        self.agents = [self._join(number, ports) for number in range(2 * PAIRS)]
        for number in range(PAIRS):
            ends = {"receiver": f"a{2 * number}", "senders": [f"a{2 * number + 1}"]}
            link = {"orbit": "terrestrial", "nominal_rate_bps": 10**8, "base_rtt_ms": 20}
            self.call("POST", "/links", {"name": f"l{number}", **link, **ends})
        campaign = {
            "name": "chaos", "links": [f"l{number}" for number in range(PAIRS)], "stop": {"seconds": SECONDS},
            "phases": {"startup_s": 2, "steady_s": 2}, "timetable": {"cycles": CYCLES}, "limits": {"attempts": 3},
            "conditions": [{"name": name} for name in CONDITIONS],
        }  # fmt: skip
        self.id = self.call("POST", "/campaigns", {"campaign": campaign})["id"]
        self.call("POST", f"/campaigns/{self.id}/launch")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.client.request(method, API + path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def _join(self, number: int, ports: list[int]) -> FleetAgent:
        token = self.call("POST", "/agents/enrolments", {"name": f"a{number}"})["token"]
        own = ports[number % len(ports) :] + ports[: number % len(ports)]
        agent = FleetAgent(EitherApi(own), f"a{number}", lambda: datetime.now(UTC), make_host(f"b{number}"))
        agent.join(token)
        assert agent.poll() is None, "from now on it is there"
        return agent

    def has_ended(self) -> bool:
        return bool(self.call("GET", f"/campaigns/{self.id}")["state"] == "complete")

    def drive(self, agents: list[FleetAgent], stop: threading.Event) -> None:
        """These agents act until the end."""
        while not stop.wait(PAUSE_S):
            for agent in agents:
                agent.act()


@pytest.fixture
def servers(tmp_path: Path, settings: Settings, s3: S3Server) -> Iterator[Servers]:
    env = {
        "DOWNLINK_DATABASE_URL": settings.database_url.get_secret_value(),
        "DOWNLINK_REDIS_URL": settings.redis_url.get_secret_value(),
        **s3.variables,
    }
    with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
        redis.flushall()
    with Supervisor(tmp_path / "processes") as supervisor:
        yield Servers(supervisor, env)


def test_processes_killed_in_turn_lose_and_double_nothing(units: UnitFactory, servers: Servers, s3: S3Server) -> None:
    for name in SERVERS:
        servers.start(name)
    assert wait_until(servers.are_listening, timeout_s=60)
    campaign, stop = Campaign(units, list(servers.ports.values())), threading.Event()
    with ThreadPoolExecutor(DRIVERS) as drivers:
        driven = [drivers.submit(campaign.drive, campaign.agents[each::DRIVERS], stop) for each in range(DRIVERS)]
        try:
            _kill_in_turn(campaign, servers, s3)
            assert wait_until(campaign.has_ended, timeout_s=120 + CHAOS_S, step_s=0.5), _states(units)
        finally:
            stop.set()
        for each in driven:
            each.result()
    _assert_nothing_lost_or_doubled(units, servers, s3)


def _kill_in_turn(campaign: Campaign, servers: Servers, s3: S3Server) -> None:
    """One after the other, each once, under `make chaos` for as long as the campaign lasts; each is back before the next one goes."""
    for turn, name in enumerate(itertools.cycle((*SERVERS, "s3"))):
        if turn > len(SERVERS) and (not CHAOS_S or campaign.has_ended()):
            return
        if name == "s3":
            s3.stop()
            time.sleep(1)  # for how long it is away
            s3.start()
        else:
            servers.kill(name)
            servers.start(name)
            assert wait_until(servers.are_listening, timeout_s=60)


def _assert_nothing_lost_or_doubled(units: UnitFactory, servers: Servers, s3: S3Server) -> None:
    assert min(servers.kills.values()) >= 1
    with units() as unit:
        places = unit.session.execute(text(COMPLETE)).all()
        assert len(places) == PAIRS * len(CONDITIONS) * CYCLES
        assert [place for place in places if place[3] != 1] == [], "each place has one complete run"
        again = sum(place[4] - 1 for place in places)
        assert again <= servers.kills["api-1"] + servers.kills["api-2"], "an attempt was lost without a kill"
        assert unit.session.execute(text(NOT_WHOLE)).all() == []
        assert unit.session.execute(text(WRONG_SECONDS)).all() == []
        assert unit.session.execute(text("SELECT count(*) FROM flow_series")).scalar_one() == len(places)
        assert unit.session.execute(text("SELECT count(*) FROM traces")).scalar_one() >= 2 * len(places)
        assert unit.session.execute(text("SELECT count(*) FROM leases")).scalar_one() == 0
        named = unit.session.execute(text("SELECT count(*) FROM chunks WHERE folder_id IS NOT NULL")).scalar_one()
        due = unit.session.execute(text("SELECT id::text FROM trace_folders WHERE due_at IS NOT NULL")).scalars().all()
    kept = [path for path in s3.objects() if not set(due) & set(path.parts)]
    assert len(kept) == named > 0, "every object is named by a row, or its folder is due"
    print(f"{len(places)} runs, {servers.kills} kills, {again} attempts more, {len(due)} folders to be removed")


def _states(units: UnitFactory) -> object:
    with units() as unit:
        return unit.session.execute(text("SELECT state, needs, reason, count(*) FROM runs GROUP BY 1, 2, 3")).all()
