"""What API and command line print for a new host, typed there as it stands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.system.conftest import AGENT, System

pytestmark = pytest.mark.verify("stack")

# A host that has never seen an agent: its state and lock folders are empty.
NEW_HOST = 'mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run && exec sh -c "$1"'


def type_on_new_host(line: str) -> None:
    """The line in a shell, as root, with the agent's program in the path."""
    path = f"{AGENT.parent}{os.pathsep}{os.environ['PATH']}"
    typed = ["unshare", "--mount", "sh", "-c", NEW_HOST, "sh", line]
    done = subprocess.run(
        typed, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def take_joined(system: System, name: str) -> dict[str, Any]:
    """The agent of this name, taken out again so that other tests see only their own."""
    agent: dict[str, Any] = next(each for each in system.client.items("/agents") if each["name"] == name)
    system.client.delete(f"/agents/{agent['id']}")
    return agent


def test_the_line_of_the_api_lets_a_host_join(system: System) -> None:
    type_on_new_host(system.client.post("/agents/enrolments", {"name": "by-api"})["command"])
    assert take_joined(system, "by-api")["host"]["kernel"]


def test_the_line_of_the_command_line_lets_a_host_join(system: System) -> None:
    access = system.client.access
    env = {**os.environ, "DOWNLINK_SERVER": access.server, "DOWNLINK_TOKEN": access.token}

    def agents(*words: str) -> str:
        command = [str(Path(sys.executable).with_name("downlink")), "agents", *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    type_on_new_host(agents("enrol", "by-cli"))
    joined = next(line for line in agents("list").splitlines() if line.startswith("by-cli"))
    assert joined.split("\t")[1] != "revoked"
    assert "is paused until" in agents("pause", "by-cli", "--hours", "2", "--why", "maintenance")
    paused = next(line for line in agents("list").splitlines() if line.startswith("by-cli"))
    assert paused.endswith("(maintenance)")
    assert agents("resume", "by-cli") == "by-cli takes runs again.\n"
    agents("revoke", "by-cli")
    left = [line.split("\t")[1] for line in agents("list").splitlines() if line.startswith("by-cli")]
    assert left == ["revoked"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl, as the new host does")
def test_the_program_is_fetched_and_checked_as_printed(system: System, tmp_path: Path) -> None:
    lines = system.client.post("/agents/enrolments", {"name": "by-curl"})["install_commands"].splitlines()
    fetched = subprocess.run(
        ["sh", "-ec", "\n".join(line for line in lines if line.startswith("curl"))],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert fetched.stdout == "downlink-agent: OK\n", fetched.stderr
    assert (tmp_path / "downlink-agent").read_bytes() == AGENT.read_bytes()


def test_the_set_up_link_is_found_beside_a_running_stack(system: System, tmp_path: Path) -> None:
    """As `make demo` and `make up` leave it: no variable is set, the launcher's file says where the database is."""
    (tmp_path / ".demo").symlink_to(system.stack.home)
    env = {name: value for name, value in os.environ.items() if not name.startswith("DOWNLINK_")}
    command = [str(Path(sys.executable).with_name("downlink")), "setup-link"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # The stack is shared: a test before this one may have set it up, and then there is no link.
    is_set_up = done.stderr.startswith("An admin already exists") and done.stdout.strip() == ""
    assert is_set_up or done.stdout.startswith(f"{system.stack.address}/setup#dlu_"), done.stdout + done.stderr
