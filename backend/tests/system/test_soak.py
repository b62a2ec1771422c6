"""The whole system left running: campaigns in a loop, two open tabs, an import each minute, every process killed once.

Two minutes here, thirty in `make soak` (SOAK_S): nothing may grow once the last killed process is back.
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from downlink.domain.errors import DownlinkError
from downlink.stack.launcher import SERVICES, command
from downlink.stack.process import start_time, wait_until
from tests.fixtures.foreign_files import iperf3_file
from tests.system.conftest import RECEIVER, ROOT, SENDER, System, whole_system
from tests.system.watching import MB, Watch, descriptors, error_lines, family, memory_mb

pytestmark = pytest.mark.verify("long", measures=True)

SOAK_S = float(os.environ.get("SOAK_S", "120"))
SAMPLE_S = 5.0
KILLED_FROM, KILLED_UNTIL, WATCHED_FROM = 0.1, 0.5, 0.6  # shares of the time
IMPORT_S = 60.0
PATIENCE_S = 120.0
USER, PASSWORD = "watcher", "two tabs left open all night"
PROGRAMS = (*SERVICES, "postgres", "valkey", RECEIVER.agent, SENDER.agent)
CAMPAIGN = """
name: Soak {number}
links: [terrestrial]
stop: {{seconds: 3}}
phases: {{startup_s: 1, steady_s: 1}}
timetable: {{cycles: 2, pause_s: 0}}
limits: {{attempts: 5}}
conditions:
  - {{name: Small buffer, receiver: {{net.ipv4.tcp_rmem: 4096 131072 400000}}}}
  - {{name: Large buffer, receiver: {{net.ipv4.tcp_rmem: 4096 131072 6000000}}}}
"""
CLIENTS = """
    SELECT coalesce(max(extract(epoch FROM now() - xact_start)), 0), count(*)
    FROM pg_stat_activity WHERE backend_type = 'client backend'
"""


@dataclass
class Soak:
    system: System
    watch: Watch = field(default_factory=Watch)
    campaigns: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @property
    def at_s(self) -> float:
        return time.monotonic() - self.began

    def persistently(self, step: Callable[[], str]) -> str:
        """A step that may meet a server that was killed just now: it comes back, and the step succeeds."""
        found: list[str] = []

        def tried() -> bool:
            try:
                found.append(step())
            except DownlinkError:
                return False
            return True

        assert wait_until(tried, PATIENCE_S, step_s=1), "the server did not come back"
        return found[0]

    def launch_next(self) -> None:
        source = CAMPAIGN.format(number=len(self.campaigns) + 1)
        self.campaigns.append(self.persistently(lambda: self.system.launch(source)))

    def state(self, campaign: str) -> str:
        return self.persistently(lambda: str(self.system.client.get(f"/campaigns/{campaign}")["state"]))

    def import_one(self) -> None:
        def upload() -> str:
            name = f"file-{len(self.imports)}.json"
            content = iperf3_file(10, control=f"control-{len(self.imports)}")
            files = [(name, _reader(name, content))]
            return str(self.system.client.upload("/imports", files, {"campaign": name})["campaign_id"])

        self.imports.append(self.persistently(upload))

    def kill(self, name: str) -> None:
        """SIGKILL, helpers and all, and start the same program again."""
        supervisor = self.system.stack.supervisor
        program, helpers = supervisor.program(name), family(supervisor.pid(name))
        os.kill(supervisor.pid(name), signal.SIGKILL)
        supervisor.stop(name)
        # PostgreSQL refuses to start while a process of the one before still uses its memory.
        assert wait_until(lambda: not any(start_time(pid) for pid in helpers), PATIENCE_S)
        supervisor.start(program)

    def sample(self) -> None:
        for name in PROGRAMS:
            pids = family(self.system.stack.supervisor.pid(name))
            self.watch.add(self.at_s, "memory_mb", name, memory_mb(pids))
            if name != "postgres":  # its processes keep up to 1,000 files each open on purpose: max_files_per_process
                self.watch.add(self.at_s, "descriptors", name, descriptors(pids))
        for quantity, value in self.database().items():
            self.watch.add(self.at_s, quantity, "database", value)

    def database(self) -> dict[str, float]:
        """What PostgreSQL says of its clients; nothing while it is being killed."""
        engine = create_engine(self.system.stack.env["DOWNLINK_DATABASE_URL"])
        try:
            with engine.connect() as connection:
                age_s, count = connection.execute(text(CLIENTS)).one()
        except OperationalError:
            return {}
        finally:
            engine.dispose()
        return {"oldest_transaction_s": float(age_s), "connections": count}


def _reader(name: str, content: bytes) -> Any:
    reader = io.BytesIO(content)
    reader.name = name
    return reader


@contextmanager
def open_tabs(soak: Soak) -> Iterator[None]:
    """Two tabs in Debian's browser; what they do joins the watch."""
    link = command(soak.system.stack.env, "setup-link")
    token = link.rpartition("#")[2]
    body = {"token": token, "username": USER, "password": PASSWORD}
    answer = httpx.post(
        f"{soak.system.stack.address}/api/v1/setup", json=body, headers={"Origin": soak.system.stack.address}
    )
    assert answer.status_code == 201, answer.text
    options = ("--base-url", soak.system.stack.address, "--username", USER, "--password", PASSWORD)
    node = subprocess.Popen(
        ["node", "e2e/tabs.mjs", *options, "--campaign", soak.campaigns[0], "--every-s", str(SAMPLE_S)],
        cwd=ROOT / "frontend",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def read() -> None:
        for line in node.stdout or ():
            said = json.loads(line)
            tab = "one campaign" if said["tab"] != "/campaigns" else "the list"
            soak.watch.add(soak.at_s, "requests", tab, said["requests"])
            soak.watch.add(soak.at_s, "heap_mb", tab, said["heap_bytes"] / MB)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        if node.stdin:
            node.stdin.close()
        node.wait(30)
        reader.join(10)
    assert node.returncode == 0


@pytest.fixture
def soak(tmp_path: Path) -> Iterator[Soak]:
    with whole_system(tmp_path / "soak", f"soak-{os.getpid()}") as system:
        yield Soak(system)


@pytest.mark.timeout(SOAK_S * 1.5 + 420)
def test_nothing_grows_while_it_runs(soak: Soak, capsys: pytest.CaptureFixture[str]) -> None:
    victims = random.Random(1).sample(PROGRAMS, len(PROGRAMS))
    step_s = (KILLED_UNTIL - KILLED_FROM) * SOAK_S / len(victims)
    kills = [(KILLED_FROM * SOAK_S + step_s * i, name) for i, name in enumerate(victims)]
    soak.launch_next()
    with open_tabs(soak):
        while soak.at_s < SOAK_S:
            if kills and soak.at_s >= kills[0][0]:
                soak.kill(kills.pop(0)[1])
            if soak.at_s >= IMPORT_S * len(soak.imports):
                soak.import_one()
            if soak.state(soak.campaigns[-1]) == "complete":
                soak.launch_next()
            soak.sample()
            time.sleep(SAMPLE_S)
    assert not kills

    for campaign in (*soak.campaigns, *soak.imports):
        assert wait_until(lambda campaign=campaign: soak.state(campaign) == "complete", PATIENCE_S, step_s=1), campaign
    since_s = WATCHED_FROM * SOAK_S
    with capsys.disabled():
        print(
            f"\n{len(soak.campaigns)} campaigns, {len(soak.imports)} imports, {SOAK_S:g} s\n{soak.watch.table(since_s)}"
        )
        print("tracebacks", error_lines(list((soak.system.stack.home / "log").glob("*.log"))))
    assert soak.watch.grown(since_s) == []
    for campaign in soak.campaigns:
        assert_every_place_is_measured_once(soak.system.runs(campaign))


def assert_every_place_is_measured_once(runs: list[dict[str, Any]]) -> None:
    """Whatever was killed: each condition of each cycle has one complete run, and the others say why they failed."""
    complete = sorted((run["cycle"], run["position"]) for run in runs if run["state"] == "complete")
    assert complete == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert all(run["reason"] and run["detail"] for run in runs if run["state"] != "complete")
