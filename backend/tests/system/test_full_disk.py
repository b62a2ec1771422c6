"""An agent's small disk fills: it takes no run before it is full, loses nothing that is on it, and goes on once there is room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from downlink.stack.launcher import start_service
from downlink.stack.process import Program, wait_until
from downlink.stack.rig import AGENT_STOP_S, Host, wait_online
from tests.system.conftest import AGENT, System
from tests.system.networks import added_to
from tests.system.test_faults import is_answering, kill, traces_are_whole

pytestmark = pytest.mark.verify("faults")

MB = 1 << 20
SIZE_MB = 160
RESERVE_MB = 64
"""Stays free whatever a run may write (agents/internal/agent/trial/checks.go)."""
CAMPAIGN = """
name: {name}
links: [small-disk]
stop: {{seconds: {seconds}}}
phases: {{startup_s: 1, steady_s: 1}}
timetable: {{cycles: 1}}
limits: {{attempts: 1}}
conditions:
  - {{name: cubic, flows: [{{cc: cubic, pacing_rate_bps: 20000000}}]}}
"""


LINK = {
    "name": "small-disk",
    "orbit": "LEO",
    "nominal_rate_bps": 20_000_000,
    "base_rtt_ms": 5,
    "receiver": "roomy-receiver",
    "senders": ["small-sender"],
}
HOSTS = (Host("", "small-sender", "sender"), Host("", "roomy-receiver", "receiver"))


def join_command(system: System, host: Host, state: Path) -> list[str]:
    token = system.client.post("/agents/enrolments", {"name": host.agent})["token"]
    asked = ["--server", system.stack.address, "--token", token, "--name", host.agent, "--role", host.role]
    return [str(AGENT), "join", *asked, "--state-dir", str(state)]


@dataclass(frozen=True)
class SmallDisk:
    """The sender, whose state folder is a disk of its own in a mount namespace that nobody else sees."""

    system: System
    folder: Path

    agent: str = "small-sender"
    holder: str = "small-disk"

    def inside(self, command: Sequence[str]) -> list[str]:
        return ["nsenter", f"--mount=/proc/{self.system.stack.supervisor.pid(self.holder)}/ns/mnt", "--", *command]

    def run(self, *command: str) -> str:
        done = subprocess.run(self.inside(command), capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self) -> None:
        command = self.inside([str(AGENT), "run", "--state-dir", str(self.folder)])
        self.system.stack.supervisor.start(Program(self.agent, command, stop_s=AGENT_STOP_S, group="small"))

    def free_bytes(self) -> int:
        blocks, size = self.run("stat", "--file-system", "--format", "%a %S", str(self.folder)).split()
        return int(blocks) * int(size)

    def leave(self, free_bytes: int) -> None:
        """Fill the disk until so much is free."""
        self.empty()
        self.run("fallocate", "--length", str(self.free_bytes() - free_bytes), str(self.folder / "filler"))

    def empty(self) -> None:
        self.run("rm", "--force", str(self.folder / "filler"))

    def has_restored(self) -> bool:
        """Whether the last word on a run is on the disk, and not delivered."""
        return '"restored"' in self.run("sh", "-euc", f"cat {self.folder}/events/*.json 2>/dev/null || true")

    def waiting(self) -> list[str]:
        """Chunks that are not uploaded."""
        return self.run("find", str(self.folder / "spool"), "-name", "*.dlc").split()


@pytest.fixture(scope="module")
def disk(system: System) -> Iterator[SmallDisk]:
    """Two agents of this host and a link between them, beside the session's own."""
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a disk")
    supervisor, folder = system.stack.supervisor, system.stack.home / "small-disk"
    folder.mkdir(mode=0o700)
    mount = f"mount -t tmpfs -o size={SIZE_MB}M,mode=700 tmpfs {folder} && exec sleep infinity"
    with added_to(system):
        supervisor.start(Program(SmallDisk.holder, ["unshare", "--mount", "sh", "-euc", mount], group="disk"))
        found = SmallDisk(system, folder)
        assert wait_until(lambda: found.free_bytes() <= SIZE_MB * MB, timeout_s=10), "the disk is not mounted"
        sender, receiver = HOSTS
        roomy = system.stack.home / "agents" / receiver.agent
        found.run(*join_command(system, sender, folder))
        subprocess.run(join_command(system, receiver, roomy), check=True, timeout=30)
        found.start()
        supervisor.start(Program(receiver.agent, [str(AGENT), "run", "--state-dir", str(roomy)], stop_s=AGENT_STOP_S))
        wait_online(lambda: system.client.items("/agents"), HOSTS, supervisor.check)
        system.client.post("/links", LINK)
        yield found


def campaign(name: str, seconds: float) -> str:
    return CAMPAIGN.format(name=name, seconds=seconds)


def ended(system: System, campaign: str) -> dict[str, Any]:
    """The campaign's run, once it has ended."""
    system.wait_complete(campaign)
    (run,) = system.runs(campaign)
    return run


def test_a_run_ends_well_on_a_disk_that_fills_and_no_other_begins_before_it_is_full(
    system: System, disk: SmallDisk
) -> None:
    first = system.launch(campaign("While the disk fills", 3))
    system.wait_for_data(first)
    disk.leave(MB)
    assert (ended(system, first)["state"], traces_are_whole(system, first)) == ("complete", True)
    assert disk.waiting() == []

    free = disk.free_bytes()
    refused = ended(system, system.launch(campaign("On little disk", 3)))
    assert (refused["state"], refused["reason"]) == ("failed", "disk_full")
    assert "1 MB are free" in refused["detail"]
    assert disk.free_bytes() > free / 2 > 0, "it is not full yet"


def test_what_waits_on_a_full_disk_is_uploaded(system: System, disk: SmallDisk) -> None:
    """The server is away when the run ends, and the disk is full to the last byte when it comes back."""
    disk.empty()
    under_way = system.launch(campaign("While the server is away", 3))
    system.wait_for_data(under_way)
    kill(system, "api")
    try:
        assert wait_until(disk.has_restored, timeout_s=30)
        assert disk.waiting() != []
        disk.leave(0)
    finally:
        start_service(system.stack.supervisor, system.stack.env, "api")
    assert wait_until(lambda: is_answering(system), timeout_s=90)
    assert (ended(system, under_way)["state"], traces_are_whole(system, under_way)) == ("complete", True)
    assert disk.waiting() == []


def test_runs_on_a_full_disk_end_by_name_and_the_agent_goes_on_once_there_is_room(
    system: System, disk: SmallDisk
) -> None:
    """Full in the middle of a run, and full before one: the agent can then not even note that it has begun."""
    disk.empty()
    cut_short = system.launch(campaign("On a full disk", 3))
    system.wait_for_data(cut_short)
    disk.leave(0)
    endings = [ended(system, cut_short)]
    disk.leave(0)  # what the run had for itself is free again
    endings.append(ended(system, system.launch(campaign("On a full disk again", 3))))
    assert [(run["state"], run["reason"]) for run in endings] == [("failed", "disk_full")] * 2
    assert "the disk of this agent's state folder is full" in endings[1]["detail"]
    assert disk.free_bytes() == 0
    kill(system, disk.agent)
    disk.start()
    disk.empty()
    again = system.launch(campaign("With room again", 3))
    assert (ended(system, again)["state"], traces_are_whole(system, again)) == ("complete", True)
