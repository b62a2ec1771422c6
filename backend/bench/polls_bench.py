"""Idle agents that hold their polls at real api processes: what they cost, whether all are answered, how fast an order comes.

Every agent has a connection of its own, polls with `wait_s: 25` and polls again when it is answered, as the real one does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from downlink.actions import conductor
from downlink.actions.secrets import AGENT, hash_secret, make_secret
from downlink.domain.agent import PROTOCOL
from downlink.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres, start_valkey
from downlink.storage import heartbeats
from downlink.storage.migrate import upgrade
from downlink.storage.tables import Agent
from downlink.storage.unit import UnitFactory, open_units
from tests.fixtures.api_process import API, ApiProcess, running_api
from tests.fixtures.scripted_agent import make_host

WAIT_S = 25
SETTLE_S, WATCHED_S, READY_S = 35, 30, 30
ORDERS = 10
FLEETS = ((1, 3_000), (2, 10_000))
"""Api processes and agents."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Fleet:
    """Agents that poll for as long as the loop runs. got: agent to when its order came."""

    secrets: list[str]
    ports: list[int]
    answered: int = 0
    failures: list[str] = field(default_factory=list)
    got: dict[int, float] = field(default_factory=dict)

    async def poll(self, number: int) -> None:
        """One agent; its first poll comes within the first 25 s, so that polls are spread as they are in time."""
        await asyncio.sleep(WAIT_S * number / len(self.secrets))
        port = self.ports[number % len(self.ports)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        request = self._request(number)
        while True:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            if not head.startswith(b"HTTP/1.1 200"):
                self.failures.append(body.decode())
                await asyncio.sleep(1)
            elif b'"order":null' not in body:
                self.got[number] = time.monotonic()
                return
            self.answered += 1

    def _request(self, number: int) -> bytes:
        said = {
            "protocol": PROTOCOL,
            "status": "idle",
            "run_id": None,
            "attempt": None,
            "detail": None,
            "progress": None,
            "spool": [],
        }
        body = json.dumps({**said, "host": None, "wait_s": WAIT_S}).encode()
        head = f"POST {API}/agent/poll HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.secrets[number]}\r\n"
        return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def add_agents(units: UnitFactory, count: int) -> list[str]:
    """Agents that have joined; their secrets."""
    now, secrets = datetime.now(UTC), [make_secret(AGENT) for _ in range(count)]
    with units() as unit:
        unit.session.add_all(
            Agent(
                name=f"a{number}", secret_hash=hash_secret(secret), version="1", boot_id=f"b{number}", status="idle",
                host=make_host(f"b{number}"), spool=[], created_at=now, last_seen_at=now,
            )
            for number, secret in enumerate(secrets)
        )  # fmt: skip
    return secrets


def plan_runs(api: ApiProcess, last: int) -> None:
    """One run for each of ORDERS pairs, the fleet's last agents."""
    names = [f"l{number}" for number in range(ORDERS)]
    for number, name in enumerate(names):
        ends = {"receiver": f"a{last - 2 * number}", "senders": [f"a{last - 2 * number - 1}"]}
        link = {"name": name, "orbit": "terrestrial", "nominal_rate_bps": 10**8, "base_rtt_ms": 20, **ends}
        api.client.post(f"{API}/links", json=link).raise_for_status()
    campaign = {
        "name": "orders", "links": names, "stop": {"seconds": 1}, "timetable": {"cycles": 1}, "conditions": [{"name": "only"}],
    }  # fmt: skip
    made = api.client.post(f"{API}/campaigns", json={"campaign": campaign}).raise_for_status().json()["id"]
    api.client.post(f"{API}/campaigns/{made}/launch").raise_for_status()


def cpu_s(pid: int) -> float:
    """Processor time of a process so far (proc(5), stat fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def ready_times_s(address: str, seconds: float) -> list[float]:
    command = [sys.executable, "-m", "bench.ready_times", address, str(seconds)]
    asking = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    said, _ = await asking.communicate()
    assert asking.returncode == 0, "the process that asks /readyz has failed"
    found: list[float] = json.loads(said)
    return found


async def measure(fleet: Fleet, apis: list[ApiProcess], units: UnitFactory) -> list[dict[str, object]]:
    tasks = [asyncio.create_task(fleet.poll(number)) for number in range(len(fleet.secrets))]
    await asyncio.sleep(SETTLE_S)
    pids = [api._supervisor.pid("api") for api in apis]
    before, answered, began = [cpu_s(pid) for pid in pids], fleet.answered, time.monotonic()
    await asyncio.sleep(WATCHED_S)
    wall_s, polls = time.monotonic() - began, fleet.answered - answered
    used_s = [cpu_s(pid) - start for pid, start in zip(pids, before, strict=True)]
    ticking = asyncio.create_task(keep_ticking(units))
    await asyncio.sleep(1)
    ready = await ready_times_s(apis[0].address, READY_S)
    ticking.cancel()
    await asyncio.to_thread(plan_runs, apis[0], len(fleet.secrets) - 1)
    await asyncio.to_thread(tick, units)
    began = time.monotonic()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(20):
            while len(fleet.got) < 2 * ORDERS:
                await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    name = f"{len(fleet.secrets):,} idle agents at {len(apis)} api process{'es' if len(apis) > 1 else ''}"
    expected = len(fleet.secrets) * wall_s / WAIT_S
    late_s = [at - began for at in fleet.got.values()]
    return [
            {"name": f"{name}: processor of each", "value": 100 * max(used_s) / wall_s, "unit": "% of a core", "goal": "<= 35"},
            {"name": f"{name}: a poll", "value": 1000 * sum(used_s) / polls, "unit": "CPU ms", "goal": "<= 1.5"},
            {"name": f"{name}: /readyz, p99", "value": 1000 * sorted(ready)[int(len(ready) * 0.99)], "unit": "ms", "goal": "<= 50"},
            {
                "name": f"{name}: polls answered", "value": polls, "peer": expected, "unit": "polls", "goal": ">= 0.95",
                "remark": f"{len(fleet.failures)} failed",
            },
            {
                "name": f"{name}: order to its agent, slowest of {2 * ORDERS}", "unit": "ms", "goal": "<= 1000",
                "value": 1000 * (max(late_s) if len(late_s) == 2 * ORDERS else float("inf")),
            },
    ]  # fmt: skip


async def keep_ticking(units: UnitFactory) -> None:
    """As a conductor does: without it the server is not ready."""
    while True:
        await asyncio.to_thread(tick, units)
        await asyncio.sleep(1)


def tick(units: UnitFactory) -> None:
    with units() as unit:
        heartbeats.beat(unit, "api", datetime.now(UTC))
    conductor.tick(units, datetime.now(UTC))


def main() -> None:
    for processes, agents in FLEETS:
        with contextlib.ExitStack() as stack:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="downlink-bench-")))
            supervisor = stack.enter_context(Supervisor(home / "servers"))
            url = start_postgres(supervisor, home / "postgres")
            queue = start_valkey(supervisor, home / "valkey")
            upgrade(Settings(database_url=SecretStr(url)))
            units = open_units(url, 4)
            stack.callback(units.close)
            secrets = add_agents(units, agents)
            tick(units)
            apis = [stack.enter_context(running_api(home / str(each), units, queue)) for each in range(processes)]
            fleet = Fleet(secrets, [api.port for api in apis])
            for row in asyncio.run(measure(fleet, apis, units)):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
