"""Random schedules of faults over the real parts: processes killed and stopped, the way to the server and the link cut, pages of a
proxy in the server's place, connections half open, a disk full, packets out of order, while a campaign runs over the emulated
link. What only has to be waited for is tried in virtual time: tests/actions/test_chaos.py.

Two schedules here, and one with what a network does to an agent; CHAOS_REAL of them under `make chaos`, from CHAOS_SEED on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from downlink.stack.launcher import SERVICES
from downlink.stack.process import wait_until
from downlink.stack.rig import wait_online
from tests.fixtures.invariants import MUST_BE_EMPTY
from tests.system.conftest import RECEIVER, SENDER, System
from tests.system.hoststate import read_host_state
from tests.system.test_campaign import trace
from tests.system.test_faults import campaign_file
from tests.system.test_full_disk import SmallDisk
from tests.system.test_soak import Soak
from tests.system.watching import family
from tests.system.ways import HALF_OPEN, STATUS, Way, on_small_disk, on_ways, reordered

FIRST, COUNT = int(os.environ.get("CHAOS_SEED", "1")), int(os.environ.get("CHAOS_REAL", "2"))
HOSTS = {RECEIVER.agent: RECEIVER, SENDER.agent: SENDER}
PROGRAMS = (*SERVICES, "postgres", "valkey", *HOSTS)
STOP_S, CUT_S = (5.0, 8.0), (3.0, 12.0)
SHORT_S = 2.0
FAULTS, PAUSE_S = 3, 2.0
KINDS = ("kill", "kill", "stop", "stop", "cut off", "cut", "mix", "disk full", HALF_OPEN, *STATUS)
PATIENCE_S = 240.0
pytestmark = [pytest.mark.verify("faults"), pytest.mark.timeout(PATIENCE_S + 120)]


@dataclass(frozen=True)
class Blow:
    """kind: `kill`, `stop`, `cut off` (an agent from its server), `cut` or `mix` (packets of the link under test), `disk full` (the
    sender's), `half open`, or what somebody on the way to the server answers."""

    kind: str
    whom: str
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.whom}" + (f" for {self.seconds:.1f} s" if self.seconds else "")


def draw(chance: Random) -> Blow:
    kind = chance.choice(KINDS)
    if kind == "disk full":
        return Blow(kind, SENDER.agent, chance.uniform(*CUT_S))
    if kind == "kill":
        return Blow(kind, chance.choice(PROGRAMS))
    if kind == "stop":
        return Blow(kind, chance.choice(PROGRAMS), chance.uniform(*STOP_S))
    return Blow(kind, chance.choice(list(HOSTS)), chance.uniform(*CUT_S))


def deal(ground: Ground, blow: Blow) -> None:
    if blow.kind == "kill":
        Soak(ground.system).kill(blow.whom)
        return
    with ground.fault(blow):
        time.sleep(blow.seconds)  # how long it lasts is the case itself


@dataclass(frozen=True)
class Ground:
    """The system, the agents' ways to its server, and the sender's small disk."""

    system: System
    ways: dict[str, Way]
    disk: SmallDisk

    def fault(self, blow: Blow) -> AbstractContextManager[None]:
        match blow.kind:
            case "stop":
                return stopped(self.system, blow.whom)
            case "cut off":
                return cut_off(self.system, blow.whom)
            case "cut":
                return cut(self.system, blow.whom)
            case "mix":
                return reordered(self.system, HOSTS[blow.whom], other_end(self.system, blow.whom))
            case "disk full":
                return full(self.disk)
            case _:
                return faulty(self.ways[blow.whom], blow.kind)


@pytest.fixture(scope="module")
def ground(system: System) -> Iterator[Ground]:
    if os.geteuid() != 0:
        pytest.skip("needs root: reaches into the link's namespaces, and mounts a disk")
    with on_ways(system, (RECEIVER, SENDER)) as ways, on_small_disk(system, SENDER) as disk:
        wait_online(lambda: system.client.items("/agents"), (RECEIVER, SENDER), system.stack.supervisor.check)
        yield Ground(system, ways, disk)


@contextmanager
def faulty(way: Way, kind: str) -> Iterator[None]:
    way.fail(kind)
    try:
        yield
    finally:
        way.heal()


@contextmanager
def full(disk: SmallDisk) -> Iterator[None]:
    disk.leave(0)
    try:
        yield
    finally:
        disk.empty()


@contextmanager
def stopped(system: System, name: str) -> Iterator[None]:
    """The whole family of a process stands still."""
    pids = sorted(family(system.stack.supervisor.pid(name)))
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@contextmanager
def cut_off(system: System, agent: str) -> Iterator[None]:
    """Its way to the server is gone: connections stay half open."""
    space = system.rig.facts()["hosts"][HOSTS[agent].place]["netns"]
    ip("-n", space, "link", "set", "mgmt", "down")
    try:
        yield
    finally:
        ip("-n", space, "link", "set", "mgmt", "up")


@contextmanager
def cut(system: System, agent: str) -> Iterator[None]:
    """Nothing that this host sends reaches the other end of the link."""
    space = system.rig.facts()["hosts"][HOSTS[agent].place]["netns"]
    route = ("route", "replace", "blackhole", f"{other_end(system, agent)}/32")
    ip("-n", space, *route)
    try:
        yield
    finally:
        ip("-n", space, "route", "del", *route[2:])


def other_end(system: System, agent: str) -> str:
    """The address of the other host on the link."""
    hosts = system.rig.facts()["hosts"]
    (other,) = (place for place in hosts if place != HOSTS[agent].place)
    return str(hosts[other]["data_host"])


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)


def wrong(system: System) -> dict[str, list[Any]]:
    engine = create_engine(system.stack.env["DOWNLINK_DATABASE_URL"])
    with engine.connect() as connection:
        found = {what: [tuple(row) for row in connection.execute(text(query))] for what, query in MUST_BE_EMPTY.items()}
    engine.dispose()
    return found


def persistently(step: Callable[[], bool]) -> bool:
    """A step that may meet a part that was hit just now."""
    try:
        return step()
    except Exception:  # whatever a server says that is on its way back
        return False


def is_over(system: System, campaign: str) -> bool:
    states = {agent["name"]: agent["status"] for agent in system.client.items("/agents") if agent["name"] in HOSTS}
    ended = system.client.get(f"/campaigns/{campaign}")["state"] == "complete"
    return bool(ended and set(states.values()) == {"idle"})


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_whatever_is_hit_every_run_ends_once_and_the_host_is_as_before(
    ground: Ground, seed: int, tmp_path: Path
) -> None:
    chance = Random(seed)
    blows = [draw(chance) for _ in range(FAULTS)]
    print(f"seed {seed}:", *blows, sep="\n  ")
    suffer(ground, f"Chaos {seed}", blows, chance, tmp_path)


def test_what_a_network_does_to_an_agent_ends_no_run_twice(ground: Ground, tmp_path: Path) -> None:
    """Each once, however the seeds fall: while a run is under way, and when it is to say how it went."""
    kinds = ("mix", "413 on the way", "502 on the way", "portal on the way", "disk full")
    blows = [Blow(kind, SENDER.agent, SHORT_S) for kind in kinds]
    campaign = suffer(ground, "Chaos on the way", blows, Random(0), tmp_path, is_under_way=System.wait_for_data)
    assert ground.ways[SENDER.agent].answered > 0, "nobody stood between the agent and the server"
    assert out_of_order(ground.system, campaign) > 0, "no packet overtook another"


def out_of_order(system: System, campaign: str) -> int:
    """Segments that a run of the campaign received so, at most."""
    found = [0]
    for run in system.runs(campaign):
        (flow,) = system.client.get(f"/runs/{run['id']}")["flows"]
        if flow["traces"].get("receiver", {}).get("samples"):
            found.append(int(trace(system, run["id"], "receiver")["ooo_segments"].max()))
    return max(found)


def suffer(
    ground: Ground,
    name: str,
    blows: Sequence[Blow],
    chance: Random,
    tmp_path: Path,
    is_under_way: Callable[[System, str], object] = lambda _system, _campaign: None,
) -> str:
    """A campaign under these blows ends, and every promise is kept; its id. is_under_way: returns when the first may be dealt."""
    system = ground.system
    before, host = wrong(system), read_host_state(tmp_path)
    campaign = system.launch(campaign_file(name, seconds=3, cycles=2))
    is_under_way(system, campaign)
    for blow in blows:
        time.sleep(chance.uniform(0, PAUSE_S))  # the moment is part of the schedule
        deal(ground, blow)
    assert wait_until(lambda: persistently(lambda: is_over(system, campaign)), PATIENCE_S, step_s=0.5), system.runs(
        campaign
    )
    found = {what: [row for row in rows if row not in before[what]] for what, rows in wrong(system).items()}
    assert {what: rows for what, rows in found.items() if rows} == {}
    assert len({(run["cycle"], run["position"]) for run in system.runs(campaign)}) == 2
    assert read_host_state(tmp_path).settings == host.settings
    return campaign
