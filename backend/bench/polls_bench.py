"""Idle agents that hold their polls at real api processes: what they cost, whether all are answered, how fast an order comes.

Every agent has a connection of its own, polls with `wait_s: 25` and polls again when it is answered, as the real one does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench import empty_api, ready_times
from bench.database import Opened, database
from bench.rows import Row, show
from downlink.actions import conductor
from downlink.actions.people.secrets import AGENT, hash_secret, make_secret
from downlink.domain.fleet.agent import PROTOCOL
from downlink.stack.process import Supervisor, wait_until
from downlink.stack.servers import free_port, is_listening, start_valkey
from downlink.storage import heartbeats
from downlink.storage.tables import Agent
from downlink.storage.unit import UnitFactory
from tests.fixtures.api_process import API, ApiProcess, running_api
from tests.fixtures.scripted_agent import make_host

FLEETS = {"3,000 idle agents at 1 api process": 1, "10,000 idle agents at 2 api processes": 2}
"""Name of a fleet to its api processes."""


@dataclass(frozen=True)
class Size:
    """agents: of each of FLEETS. wait_s: how long a poll may be held. orders: runs, each of two agents.

    empty: empty answers of the framework. settle_s, watched_s, ready_s: until the fleet is spread, while its polls are counted, and while
    /readyz is asked.
    """

    agents: Sequence[int]
    wait_s: float
    settle_s: float
    watched_s: float
    ready_s: float
    tick_s: float
    orders: int
    empty: int


FULL = Size((3_000, 10_000), wait_s=25, settle_s=35, watched_s=30, ready_s=30, tick_s=1, orders=10, empty=5_000)
TINY = Size((10, 10), wait_s=0.2, settle_s=0.2, watched_s=0.2, ready_s=0.1, tick_s=0.2, orders=1, empty=50)
POLL = "<= 4"
STEP_S = 0.1
PATIENCE_S = 60
"""Time within which a first answer and an order must come."""


@dataclass
class Fleet:
    """Agents that poll for as long as the loop runs. got: agent to when its order came."""

    secrets: list[str]
    ports: list[int]
    wait_s: float
    answered: int = 0
    failures: list[str] = field(default_factory=list)
    got: dict[int, float] = field(default_factory=dict)

    async def poll(self, number: int) -> None:
        """One agent; its first poll comes within the first `wait_s`, so that polls are spread as they are in time."""
        await asyncio.sleep(self.wait_s * number / len(self.secrets))
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
                await asyncio.sleep(self.wait_s / 25)
            elif b'"order":null' not in body:
                self.got[number] = time.monotonic()
                return
            self.answered += 1

    async def watch(self, seconds: float) -> float:
        """Wait so long, and until some poll has been answered; the seconds it took. RuntimeError where none ever is."""
        began, answered = time.monotonic(), self.answered
        while time.monotonic() < began + seconds or self.answered == answered:
            await asyncio.sleep(STEP_S)
            if time.monotonic() > began + seconds + PATIENCE_S:
                raise RuntimeError(f"no poll was answered; {self.failures[:1]}")
        return time.monotonic() - began

    def _request(self, number: int) -> bytes:
        document = {
            "protocol": PROTOCOL,
            "status": "idle",
            "run_id": None,
            "attempt": None,
            "detail": None,
            "progress": None,
            "spool": [],
        }
        body = json.dumps({**document, "host": None, "wait_s": self.wait_s}).encode()
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


def plan_runs(api: ApiProcess, last: int, orders: int) -> None:
    """One run for each of so many pairs, the fleet's last agents."""
    names = [f"l{number}" for number in range(orders)]
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
    """Processor time of a process so far (its clock has the number that clock_getcpuclockid(3) makes)."""
    return time.clock_gettime(~pid << 3 | 2)


async def ready_times_s(address: str, seconds: float) -> list[float]:
    command = [sys.executable, ready_times.__file__, address, str(seconds)]
    asking = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    output, _ = await asking.communicate()
    assert asking.returncode == 0, "the process that asks /readyz has failed"
    times_s: list[float] = json.loads(output)
    return times_s


@dataclass(frozen=True)
class Measured:
    """used_s: processor time of each api while it was watched for `wall_s`, in which so many polls were answered.

    empty_s: processor time of an empty answer of the framework. ready_alone_s: /readyz before the agents came. given_s: until the
    orders were given. late_s: from when orders were given to when each of them came.
    """

    wall_s: float
    used_s: list[float]
    polls: int
    ready_s: list[float]
    late_s: list[float]
    empty_s: float
    ready_alone_s: list[float]
    given_s: float


async def measure(fleet: Fleet, apis: list[ApiProcess], units: UnitFactory, size: Size) -> Measured:
    ticking = asyncio.create_task(keep_ticking(units, size.tick_s))
    await asyncio.sleep(size.tick_s)
    ready_alone_s = await ready_times_s(apis[0].address, size.ready_s)
    tasks = [asyncio.create_task(fleet.poll(number)) for number in range(len(fleet.secrets))]
    await fleet.watch(size.settle_s)
    before, answered = [cpu_s(api.pid) for api in apis], fleet.answered
    wall_s = await fleet.watch(size.watched_s)
    polls = fleet.answered - answered
    used_s = [cpu_s(api.pid) - start for api, start in zip(apis, before, strict=True)]
    ready_s = await ready_times_s(apis[0].address, size.ready_s)
    ticking.cancel()
    late_s, given_s = await order(fleet, apis[0], units, size.orders)
    for task in tasks:
        task.cancel()
    return Measured(wall_s, used_s, polls, ready_s, late_s, await empty_s(size.empty), ready_alone_s, given_s)


async def empty_s(answers: int) -> float:
    """Return the processor time of one of so many empty answers, on one connection."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, empty_api.__file__, str(port))
    try:
        assert await asyncio.to_thread(wait_until, lambda: is_listening(port), PATIENCE_S)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        before = cpu_s(process.pid)
        for _ in range(answers):
            writer.write(b"POST / HTTP/1.1\r\nHost: bench\r\nContent-Length: 2\r\n\r\n{}")
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))
        return (cpu_s(process.pid) - before) / answers
    finally:
        process.kill()
        await process.wait()


async def order(fleet: Fleet, api: ApiProcess, units: UnitFactory, orders: int) -> tuple[list[float], float]:
    """Give two agents each an order; the seconds until each came, infinite for one that did not, and those that it took to give them."""
    started = time.monotonic()
    await asyncio.to_thread(plan_runs, api, len(fleet.secrets) - 1, orders)
    await asyncio.to_thread(tick, units)
    began = time.monotonic()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while len(fleet.got) < 2 * orders:
                await asyncio.sleep(0.01)
    late_s = [at - began for at in fleet.got.values()]
    return late_s + [float("inf")] * (2 * orders - len(late_s)), began - started


async def keep_ticking(units: UnitFactory, every_s: float) -> None:
    """Tick as a conductor does: without it the server is not ready."""
    while True:
        await asyncio.to_thread(tick, units)
        await asyncio.sleep(every_s)


def tick(units: UnitFactory) -> None:
    with units() as unit:
        heartbeats.beat(unit, "api", datetime.now(UTC))
    conductor.tick(units, datetime.now(UTC))


def rows_of(name: str, fleet: Fleet, measured: Measured) -> Iterator[Row]:
    processor = 100 * max(measured.used_s) / measured.wall_s
    yield Row(f"{name}: processor of each", processor, "% of a core")
    poll_ms, empty_ms = 1e3 * sum(measured.used_s) / measured.polls, 1e3 * measured.empty_s
    yield Row(f"{name}: a poll", poll_ms, "CPU ms", empty_ms, POLL, "peer: an empty answer of the same framework")
    ready_ms, alone_ms = (1e3 * p99(times) for times in (measured.ready_s, measured.ready_alone_s))
    yield Row(f"{name}: /readyz, p99", ready_ms, "ms", alone_ms, "<= 5", "peer: before the agents came")
    expected, remark = len(fleet.secrets) * measured.wall_s / fleet.wait_s, f"{len(fleet.failures)} failed"
    yield Row(f"{name}: polls answered", measured.polls, "polls", expected, ">= 0.95", remark)
    remark = f"peer: what it took to give the {len(measured.late_s)} orders"
    late_ms, given_ms = 1e3 * max(measured.late_s), 1e3 * measured.given_s
    yield Row(f"{name}: order to its agent, slowest of 20", late_ms, "ms", given_ms, "<= 1", remark)


def p99(times: Sequence[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    for (name, processes), agents in zip(FLEETS.items(), size.agents, strict=True):
        with contextlib.ExitStack() as stack:
            home, _, units = stack.enter_context(opened())
            supervisor = stack.enter_context(Supervisor(home / "queue"))
            queue = start_valkey(supervisor, home / "valkey")
            secrets = add_agents(units, agents)
            tick(units)
            apis = [stack.enter_context(running_api(home / str(each), units, queue)) for each in range(processes)]
            fleet = Fleet(secrets, [api.port for api in apis], size.wait_s)
            yield from rows_of(name, fleet, asyncio.run(measure(fleet, apis, units, size)))


if __name__ == "__main__":
    show(rows, FULL, TINY)
