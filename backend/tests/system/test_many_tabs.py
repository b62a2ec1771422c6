"""Eight tabs of one browser on a campaign under way: browsers allow six connections to a server over HTTP/1.1."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from downlink.storage.unit import UnitFactory
from tests.fixtures.api_process import running_api
from tests.fixtures.browser import ACCOUNT, DASHBOARD, FRONTEND, add_account
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.verify("stack")

TABS = 8
MB = 10**6


@contextmanager
def tabs_on(address: str, campaign: str) -> Iterator[Callable[[str], str]]:
    """The tabs; what is called says a line to many-tabs.mjs and gives its answer. An empty line says nothing."""
    script = ["node", "e2e/many-tabs.mjs", "--base-url", address, *ACCOUNT, "--campaign", campaign]
    with subprocess.Popen([*script, "--tabs", str(TABS)], cwd=FRONTEND, stdin=PIPE, stdout=PIPE, text=True) as page:
        assert page.stdin
        assert page.stdout
        stdin, stdout = page.stdin, page.stdout

        def say(line: str) -> str:
            if line:
                stdin.write(f"{line}\n")
                stdin.flush()
            return stdout.readline().strip()

        yield say
        stdin.close()
        assert page.wait() == 0


def carry(lab: Lab, sender: ScriptedAgent, megabytes: int) -> None:
    """What the sender says of its transfer."""
    lab.wait(1)
    sender.says = {"progress": {"elapsed_s": megabytes / 10, "bytes": megabytes * MB}}
    sender.poll()


@pytest.mark.timeout(400)
def test_eight_tabs_show_progress_and_still_ask(lab: Lab, units: UnitFactory, tmp_path: Path) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    with lab.units() as unit:
        add_account(unit)
    campaign = lab.launch(stop={"seconds": 3_600}, phases={"startup_s": 5, "steady_s": 5})
    while agents[1].status != "running":
        lab.tick()
        for agent in agents:
            agent.act()
        lab.wait(1)
    carry(lab, agents[1], 10)
    with (
        running_api(tmp_path, units, dashboard_dir=DASHBOARD) as api,
        tabs_on(api.address, campaign) as say,
    ):
        assert say("") == f"1 of {TABS} tabs hold a stream"
        carry(lab, agents[1], 20)
        assert say("see 20.0 MB carried") == str(TABS)
        assert say("ask") == str(TABS)
        assert say("close") == str(TABS - 1), "another tab reads on"
        carry(lab, agents[1], 30)
        assert say("see 30.0 MB carried") == str(TABS - 1)
