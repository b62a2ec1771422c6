"""The emulated link and its agents as processes: in this host's namespaces as root, in namespaces of our own without."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downlink.domain.errors import UnavailableError
from downlink.stack.process import Kind, Program, Supervisor, wait_until
from downlink.stack.servers import socket_folder

AGENT_STOP_S = 30.0  # an agent that is asked to stop aborts its run and puts its host back first
# A plain user's own user, network and mount namespace, with a /run to keep named namespaces in.
OWN_NAMESPACES = ("unshare", "--user", "--map-root-user", "--net", "--mount")
ENTER_NAMESPACES = ("--user", "--net", "--mount", "--preserve-credentials", "--")
OWN_RUN_FOLDER = 'mount -t tmpfs tmpfs /run && mkdir /run/netns && exec "$@"'


RECEIVER = "receiver"
"""The place at the end of a link; further receivers are receiver-2, receiver-3 and so on."""
RELAYS = "relays"
"""The place between the hops of a link that has several: its relays, whose agent lives where the receiver does."""
ROUTER = "router-"
"""Begins the names of the places between hops that are hosts of their own: router-1 is the one next to the senders."""


@dataclass(frozen=True)
class Host:
    """One end of the link: its place there, the agent that lives in it, and what that agent is for."""

    place: str
    agent: str
    role: str


class Rig:
    """A link `name` in namespaces; agents run inside them. What it starts belongs to the supervisor."""

    def __init__(self, supervisor: Supervisor, agent: Path, name: str) -> None:
        self._supervisor = supervisor
        self.agent = str(agent)
        self.name = name
        self._ready = supervisor.home / f"link-{name}.json"
        self._link_control = socket_folder(supervisor.home) / f"link-{name}.sock"
        self._relay_control = socket_folder(supervisor.home) / f"relays-{name}.sock"
        self._is_root = os.geteuid() == 0

    def link_up(
        self, profile: str, senders: int, control: str, *, has_router_hosts: bool = False, title: str = ""
    ) -> dict[str, Any]:
        """Build the link; answer what it says of itself: its hosts, how they reach the backend, the profile's facts."""
        self._ready.unlink(missing_ok=True)
        options = ["--name", self.name, "--profile", profile, "--senders", str(senders)]
        command = [self.agent, "link", "up", *options, "--control", control, "--ready-file", str(self._ready)]
        command += ["--link-control", str(self._link_control), "--relay-control", str(self._relay_control)]
        if has_router_hosts:
            command.append("--router-hosts")
        prefix = () if self._is_root else (*OWN_NAMESPACES, "--", "sh", "-c", OWN_RUN_FOLDER, "sh")
        tidy = (self.agent, "link", "down", self.name) if self._is_root else ()
        self._supervisor.start(Program(self._program, [*prefix, *command], kind=Kind.LINK, title=title, tidy=tidy))
        self._supervisor.wait_ready(self._program, self._ready.exists, timeout_s=30)
        return self.facts()

    def facts(self) -> dict[str, Any]:
        """Return what the link wrote when it was ready."""
        facts_of_link: dict[str, Any] = json.loads(self._ready.read_text())
        return facts_of_link

    def join(self, host: Host, token: str) -> None:
        """Let the agent at `host` join, with a fresh identity."""
        shutil.rmtree(self.state(host), ignore_errors=True)
        site = self.facts()["hosts"][host.place]
        options = ["--token", token, "--name", host.agent, "--role", host.role, "--separate-uplink"]
        addresses = ["--server", site["control_url"], "--data-host", site["data_host"]]
        if host.place == RECEIVER:  # one agent restarts the link for each run and takes its log
            options += ["--link-control", str(self._link_control)]
        if host.place == RELAYS:
            options += ["--relay-control", str(self._relay_control)]
        command = self.inside(host, [self.agent, "join", *options, *addresses, *self._state_option(host)])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UnavailableError("join_failed", f"Agent {host.agent} could not join: {done.stderr.strip()}")

    def has_joined(self, host: Host) -> bool:
        """Return whether the agent has an identity from an earlier time."""
        return all((self.state(host) / name).exists() for name in ("agent.yaml", "identity.json"))

    def move(self, host: Host) -> None:
        """Tell an agent that has joined where it lives now. Identity, journal and spool stay: they may hold what is unfinished."""
        site, config = self.facts()["hosts"][host.place], self.state(host) / "agent.yaml"
        now = {"server": site["control_url"], "data_host": site["data_host"]}
        if host.place == RECEIVER:
            now["link_control"] = str(self._link_control)
        if host.place == RELAYS:
            now["relay_control"] = str(self._relay_control)
        config.write_text(replace_lines(config.read_text(), now))

    def start_agent(self, host: Host) -> None:
        command = self.inside(host, [self.agent, "run", *self._state_option(host)])
        self._supervisor.start(Program(host.agent, command, stop_s=AGENT_STOP_S, kind=Kind.AGENT))

    def state(self, host: Host) -> Path:
        """The agent's folder: identity, journal, spool."""
        return self._supervisor.home / "agents" / host.agent

    def inside(self, host: Host, command: Sequence[str]) -> list[str]:
        """`command` as it must be called to run within the host's namespace."""
        prefix = (
            [] if self._is_root else ["nsenter", f"--target={self._supervisor.pid(self._program)}", *ENTER_NAMESPACES]
        )
        site = RECEIVER if host.place == RELAYS else host.place
        return [*prefix, self.agent, "link", "exec", self.name, site, "--", *command]

    @property
    def _program(self) -> str:
        return f"link-{self.name}"

    def _state_option(self, host: Host) -> list[str]:
        return ["--state-dir", str(self.state(host))]


def known_profiles(agent: Path) -> list[str]:
    """The names of the link profiles that come with the agent."""
    if not agent.exists():
        raise UnavailableError("agent_missing", f"There is no {agent}; `make install` builds it.")
    done = subprocess.run([agent.resolve(), "profiles", "list"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnavailableError("agent_unfit", f"{agent} cannot list its link profiles: {done.stderr.strip()}")
    return [line.split()[0] for line in done.stdout.splitlines()[1:]]


def replace_lines(text: str, values: Mapping[str, str]) -> str:
    """The text of a YAML file with the plain `key: value` lines of these keys replaced, and those added that it lacks."""
    lines = [(line, line.partition(":")[0]) for line in text.splitlines()]
    kept = "".join(f"{key}: {values[key]}\n" if key in values else f"{line}\n" for line, key in lines)
    return kept + "".join(f"{key}: {value}\n" for key, value in values.items() if key not in [key for _, key in lines])


def check_host() -> None:
    """Raise UnavailableError with one sentence, what is missing and what to type, when no link can be built here."""
    is_root = os.geteuid() == 0
    has_tun = os.access("/dev/net/tun", os.R_OK | os.W_OK)
    try_out = (*(("unshare", "--net", "--mount") if is_root else OWN_NAMESPACES), "--", "true")
    has_namespaces = subprocess.run(try_out, capture_output=True, check=False).returncode == 0
    if sentence := missing_for_a_link(is_root=is_root, has_tun=has_tun, has_namespaces=has_namespaces):
        raise UnavailableError("host_unfit", sentence)


def missing_for_a_link(*, is_root: bool, has_tun: bool, has_namespaces: bool) -> str | None:
    """One sentence, what this host lacks for an emulated link and what to type; None when it lacks nothing."""
    if not has_tun:
        return (
            "/dev/net/tun is missing or closed to you, so there can be no emulated link; type "
            "`sudo modprobe tun && sudo chmod 0666 /dev/net/tun`."
        )
    if not has_namespaces and is_root:
        return (
            "This process may not make network namespaces, so there can be no emulated link; "
            "in a container, start it with `docker run --privileged`."
        )
    if not has_namespaces:
        return (
            "Plain users may not make network namespaces here, so there can be no emulated link; type `sudo make demo`, or "
            "`sudo sysctl kernel.unprivileged_userns_clone=1` or `kernel.apparmor_restrict_unprivileged_userns=0`, whichever there is."
        )
    return None


def wait_online(
    list_agents: Callable[[], list[dict[str, Any]]], hosts: Sequence[Host], check: Callable[[], None]
) -> None:
    """Wait until the backend hears every host's agent."""

    def heard() -> bool:
        check()
        online = {agent["name"] for agent in list_agents() if agent["is_online"]}
        return {host.agent for host in hosts} <= online

    if not wait_until(heard, timeout_s=60, step_s=0.5):
        raise UnavailableError("agents_silent", "The agents did not report within 60 s; their logs are in .demo/log.")
