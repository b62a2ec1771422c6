"""An enrolled agent's state folder copied to a second host, both run: real agents over an emulated link."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from downlink.stack.process import Kind, Program
from downlink.stack.rig import Host
from tests.system.conftest import AGENT, RECEIVER, SENDER, System
from tests.system.test_faults import campaign_file

pytestmark = pytest.mark.verify("faults")


def copied(folder: Path, to: Path) -> Path:
    """The folder as an owner copies it; locks of its own stand for a host of its own."""
    shutil.copytree(folder, to)
    own = (to / "agent.yaml").read_text().replace(str(folder), str(to))
    locks = to / "locks"
    locks.mkdir()
    (to / "agent.yaml").write_text(f"{re.sub(r'lock_dir: .*', '', own)}\nlock_dir: {locks}\n")
    return to


@pytest.mark.parametrize("host", [SENDER, RECEIVER], ids=["sender", "receiver"])
def test_a_copy_is_refused_and_named_and_every_run_is_the_first_hosts(
    system: System, tmp_path: Path, host: Host
) -> None:
    folder = copied(system.rig.state(host), tmp_path / "copy")
    command = system.rig.inside(host, [str(AGENT), "run", "--state-dir", str(folder)])
    supervisor = system.stack.supervisor
    supervisor.start(Program("copy", command, stop_s=10, kind=Kind.AGENT))
    try:
        campaign = system.launch(campaign_file(f"Copied {host.place}", seconds=2, cycles=2))
        system.wait_complete(campaign)
        runs = system.runs_in_time(campaign)
        assert [(run["state"], run["reason"]) for run in runs] == [("complete", None)] * 2
        rivals = {agent["name"]: agent["rival"] for agent in system.client.items("/agents")}
        assert "Two hosts use the identity" in rivals[host.agent]
        assert "identity_in_use" in (supervisor.home / "log" / "copy.log").read_text()
    finally:
        supervisor.stop("copy")
