"""The main job, once, in the quick proof: the demo's launcher, real TCP over an emulated link, an agent killed, the report in a browser.

No rate and no duration is judged here: what depends on how fast the machine is belongs to the long proof. A run during which the
emulated link was late is tried again, as often as it takes.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from downlink.cli.client import Access, Client
from downlink.domain.runs.run import FINAL
from downlink.stack.process import wait_until
from tests.fixtures.browser import ACCOUNT, run_script
from tests.system.test_demo import demo, home, read_until

__all__ = ["home"]  # a fixture
pytestmark = [pytest.mark.root, pytest.mark.timeout(900)]
CAMPAIGN = """
name: Small stack
links: [terrestrial]
stop: {seconds: 3}
phases: {startup_s: 1, steady_s: 1}
timetable: {cycles: 1, pause_s: 0}
limits: {attempts: 10}
conditions:
  - {name: Small buffer, receiver: {net.ipv4.tcp_rmem: 4096 131072 400000}}
  - {name: Large buffer, receiver: {net.ipv4.tcp_rmem: 4096 131072 6000000}}
"""
AGENT = "terrestrial-receiver"
PATIENCE_S = 240.0


@dataclass
class Demo:
    process: subprocess.Popen[str]
    home: Path
    client: Client
    setup_link: str

    def campaign(self) -> dict[str, Any]:
        return next(each for each in self.client.items("/campaigns") if each["name"] == "Small stack")

    def runs(self) -> dict[str, dict[str, Any]]:
        found = self.client.items(f"/campaigns/{self.campaign()['id']}/runs")
        return {run["id"]: run for run in found}

    def is_complete(self) -> bool:
        return bool(self.campaign()["state"] == "complete")

    def pid(self, agent: str) -> int:
        return int((self.home / "pid" / agent).read_text().split()[0])


@pytest.fixture
def running(home: Path) -> Iterator[Demo]:
    """A demo that stays, in its first run; afterwards Ctrl-C leaves nothing behind."""
    process = demo(home, source=CAMPAIGN)
    try:
        said = read_until(process, "  Campaign ")
        link = next(word for word in said.split() if "/setup#" in word)
        access = dict(line.split("=", 1) for line in (home / "env").read_text().splitlines())
        yield Demo(process, home, Client(Access(access["DOWNLINK_SERVER"], access["DOWNLINK_TOKEN"])), link)
    finally:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert "nothing is left running" in said, said


def test_runs_survive_a_killed_agent_and_their_report_opens_in_a_browser(running: Demo) -> None:
    killed, struck = break_off_a_run(running)
    assert wait_until(running.is_complete, PATIENCE_S, step_s=0.2), running.runs()
    runs = list(running.runs().values())
    complete = [run["condition"] for run in runs if run["state"] == "complete"]
    assert sorted(complete) == ["Large buffer", "Small buffer"], runs
    again = [run["attempt"] for run in runs if run["condition"] == struck["condition"] and run["state"] == "complete"]
    assert again > [struck["attempt"]]
    assert running.pid(AGENT) != killed
    shown = open_report(running)
    assert all(words in shown for words in ("Small stack", "Small buffer", "Large buffer", "Mb/s")), shown


def break_off_a_run(running: Demo) -> tuple[int, dict[str, Any]]:
    """Kill an agent in the middle of a run; return its process and the run, which has failed.

    On a machine that does much else, a run may be over before the signal is there: then the next one is struck.
    """
    struck: dict[str, int] = {}

    def is_over() -> bool:
        runs = running.runs()
        for run in runs.values():
            is_free = all(runs[each]["state"] in FINAL for each in struck)
            if run["state"] == "running" and run["id"] not in struck and is_free:
                struck[run["id"]] = running.pid(AGENT)
                os.kill(struck[run["id"]], signal.SIGKILL)
        return any(runs[each]["state"] == "failed" for each in struck if each in runs) or running.is_complete()

    assert wait_until(is_over, PATIENCE_S), running.runs()
    failed = [run for run in running.runs().values() if run["id"] in struck and run["state"] == "failed"]
    assert failed, f"every run was over before its agent was killed: {running.runs()}"
    return struck[failed[0]["id"]], failed[0]


def open_report(running: Demo) -> str:
    """Make the first account by the link that the demo printed; return the text of the campaign's report in a browser."""
    token = urlsplit(running.setup_link).fragment
    running.client.post("/setup", {"token": token, "username": ACCOUNT[1], "password": ACCOUNT[3]})
    address = running.setup_link.partition("/setup")[0]
    account = ("--base-url", address, *ACCOUNT)
    return run_script("report.mjs", *account, "--campaign", running.campaign()["id"], timeout_s=PATIENCE_S)
