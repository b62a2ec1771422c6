"""Random schedules of faults over the real parts: processes killed and stopped, the way to the server and the link cut, while a
campaign runs over the emulated link. What only has to be waited for is tried in virtual time: tests/actions/test_chaos.py.

Two schedules here; CHAOS_REAL of them under `make chaos`, from CHAOS_SEED on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from downlink.stack.launcher import SERVICES
from downlink.stack.process import wait_until
from tests.fixtures.invariants import MUST_BE_EMPTY
from tests.system.conftest import RECEIVER, SENDER, System
from tests.system.hoststate import read_host_state
from tests.system.test_faults import campaign_file
from tests.system.test_soak import Soak
from tests.system.watching import family

FIRST, COUNT = int(os.environ.get("CHAOS_SEED", "1")), int(os.environ.get("CHAOS_REAL", "2"))
HOSTS = {RECEIVER.agent: RECEIVER, SENDER.agent: SENDER}
PROGRAMS = (*SERVICES, "postgres", "valkey", *HOSTS)
STOP_S, CUT_S = (5.0, 8.0), (3.0, 12.0)
FAULTS, PAUSE_S = 3, 2.0
PATIENCE_S = 240.0
pytestmark = pytest.mark.timeout(PATIENCE_S + 120)


@dataclass(frozen=True)
class Blow:
    """kind: `kill`, `stop`, `cut off` (an agent from its server) or `cut` (the link under test)."""

    kind: str
    whom: str
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.whom}" + (f" for {self.seconds:.1f} s" if self.seconds else "")


def draw(chance: Random) -> Blow:
    kind = chance.choice(("kill", "kill", "stop", "stop", "cut off", "cut"))
    if kind == "kill":
        return Blow(kind, chance.choice(PROGRAMS))
    if kind == "stop":
        return Blow(kind, chance.choice(PROGRAMS), chance.uniform(*STOP_S))
    return Blow(kind, chance.choice(list(HOSTS)), chance.uniform(*CUT_S))


def deal(system: System, blow: Blow) -> None:
    if blow.kind == "kill":
        Soak(system).kill(blow.whom)
        return
    with {"stop": stopped, "cut off": cut_off, "cut": cut}[blow.kind](system, blow.whom):
        time.sleep(blow.seconds)  # how long it lasts is the case itself


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
    hosts = system.rig.facts()["hosts"]
    (other,) = (place for place in hosts if place != HOSTS[agent].place)
    route = ("route", "replace", "blackhole", f"{hosts[other]['data_host']}/32")
    ip("-n", hosts[HOSTS[agent].place]["netns"], *route)
    try:
        yield
    finally:
        ip("-n", hosts[HOSTS[agent].place]["netns"], "route", "del", *route[2:])


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
    system: System, seed: int, tmp_path: Path
) -> None:
    chance = Random(seed)
    blows = [draw(chance) for _ in range(FAULTS)]
    print(f"seed {seed}:", *blows, sep="\n  ")
    before, host = wrong(system), read_host_state(tmp_path)
    campaign = system.launch(campaign_file(f"Chaos {seed}", seconds=3, cycles=2))
    for blow in blows:
        time.sleep(chance.uniform(0, PAUSE_S))  # the moment is part of the schedule
        deal(system, blow)
    assert wait_until(lambda: persistently(lambda: is_over(system, campaign)), PATIENCE_S, step_s=0.5), system.runs(
        campaign
    )
    found = {what: [row for row in rows if row not in before[what]] for what, rows in wrong(system).items()}
    assert {what: rows for what, rows in found.items() if rows} == {}
    assert len({(run["cycle"], run["position"]) for run in system.runs(campaign)}) == 2
    assert read_host_state(tmp_path).settings == host.settings
