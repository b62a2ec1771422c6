"""Enrolment of a host as an agent: the rule for its name, and the commands to type on it."""

from __future__ import annotations

import shlex

# Plain in a shell, a path and a unit file.
AGENT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
UNIT_FILE = "downlink-agent.service"


def join_command(server: str, token: str, name: str) -> str:
    """The whole line, as the agent's own parser takes it (docs/protocol/join_command.txt)."""
    return shlex.join(["downlink-agent", "join", "--server", server, "--token", token, "--name", name])


def install_commands(server: str) -> str:
    """Fetch the program for this host's processor, check it, and put it in the path."""
    address = shlex.quote(f"{server}/api/v1/agents/binaries/")
    return "\n".join(
        (
            f'curl -fsSL -o downlink-agent {address}"$(uname -m)"',
            f'curl -fsSL {address}"$(uname -m)".sha256 | sha256sum --check',
            "sudo install -m 755 downlink-agent /usr/local/bin/",
        )
    )


def service_commands(server: str) -> str:
    """Start the agent now and at every boot."""
    address = shlex.quote(f"{server}/api/v1/agents/unit")
    return "\n".join(
        (
            f"sudo curl -fsSL -o /etc/systemd/system/{UNIT_FILE} {address}",
            "sudo systemctl enable --now downlink-agent",
        )
    )
