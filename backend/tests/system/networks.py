"""Hosts on networks of their own: unnamed namespaces, veth pairs between them, and the stack's api as a server among them.

Each namespace lives as long as a process of the supervisor does, so that nothing of it outlasts the test, even one that is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest

from downlink.stack.launcher import Stack
from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.rig import AGENT_STOP_S, wait_online
from tests.system.conftest import AGENT, ENDED, System

SERVER_PORT = 8400
FORWARD = "for family in ipv4/ip_forward ipv6/conf/all/forwarding; do echo 1 >/proc/sys/net/$family; done"
# Hands connections at an address of the namespace that it runs in on to the api's unix socket, byte for byte.
SERVE = """
import asyncio, sys
host, port, socket = sys.argv[1:]

async def hand_on(reader, writer):
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    writer.close()

async def take(reader, writer):
    back, forth = await asyncio.open_unix_connection(socket)
    await asyncio.gather(hand_on(reader, forth), hand_on(back, writer))

async def serve():
    server = await asyncio.start_server(take, host, int(port))
    print("ready", flush=True)
    await server.serve_forever()

asyncio.run(serve())
"""


@dataclass(frozen=True)
class Networks:
    """Namespaces by name. The supervisor ends them."""

    supervisor: Supervisor

    def add(self, name: str, *, forwards: bool = False) -> None:
        process = self.supervisor.start(Program(f"net-{name}", ["unshare", "--net", "sleep", "infinity"], group="nets"))
        own, there = os.readlink("/proc/self/ns/net"), f"/proc/{process.pid}/ns/net"
        assert wait_until(lambda: os.readlink(there) != own, timeout_s=10), f"no namespace {name}"
        self.run(name, "ip", "link", "set", "lo", "up")
        if forwards:
            self.run(name, "sh", "-euc", FORWARD)

    def join(self, a: str, a_addresses: Sequence[str], b: str, b_addresses: Sequence[str]) -> None:
        """A cable between two of them. Each end is named after where it leads to; addresses have their prefix lengths."""
        self.run(
            a, "ip", "link", "add", f"to-{b}", "type", "veth", "peer", "name", f"to-{a}", "netns", str(self._pid(b))
        )
        for here, there, addresses in ((a, b, a_addresses), (b, a, b_addresses)):
            for address in addresses:
                at_once = ["nodad"] if ip_interface(address).version == 6 else []
                self.run(here, "ip", "address", "add", address, "dev", f"to-{there}", *at_once)
            self.run(here, "ip", "link", "set", f"to-{there}", "up")

    def route(self, name: str, gateway: str, to: str = "default") -> None:
        self.run(name, "ip", "route", "add", to, "via", gateway)

    def filter(self, name: str, rules: str) -> None:
        """nftables' rules there, in the place of those before."""
        self.run(name, "nft", f"flush ruleset\n{rules}")

    def serve(self, stack: Stack, name: str, address: str) -> str:
        """The server's URL at this address of a namespace."""
        program, command = (
            f"serve-{name}",
            [sys.executable, "-c", SERVE, address, str(SERVER_PORT), str(stack.socket)],
        )
        self.supervisor.start(Program(program, self.inside(name, command), group="nets"))
        self.supervisor.wait_ready(program, lambda: self.supervisor.log_tail(program) == "ready", timeout_s=20)
        return f"http://[{address}]:{SERVER_PORT}" if ":" in address else f"http://{address}:{SERVER_PORT}"

    def inside(self, name: str, command: Sequence[str]) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._pid(name)}/ns/net", "--", *command]

    def run(self, name: str, *command: str) -> str:
        done = subprocess.run(self.inside(name, command), capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def _pid(self, name: str) -> int:
        return self.supervisor.pid(f"net-{name}")


@dataclass(frozen=True)
class Placed:
    """An agent and the namespace that it lives in. options: of `join`."""

    agent: str
    place: str
    role: str
    options: tuple[str, ...] = ()


def start_agents(system: System, networks: Networks, server: str, hosts: Sequence[Placed]) -> None:
    """Let the agents join the server as it is seen from where they live, and wait until it hears them."""
    for host in hosts:
        state = state_of(system, host)
        token = system.client.post("/agents/enrolments", {"name": host.agent})["token"]
        asked = ["--server", server, "--token", token, "--name", host.agent, "--role", host.role, *host.options]
        networks.run(host.place, str(AGENT), "join", *asked, "--state-dir", str(state))
        command = networks.inside(host.place, [str(AGENT), "run", "--state-dir", str(state)])
        system.stack.supervisor.start(Program(host.agent, command, stop_s=AGENT_STOP_S, group="placed"))
    wait_online(lambda: system.client.items("/agents"), hosts, system.stack.supervisor.check)  # type: ignore[arg-type]


def state_of(system: System, host: Placed) -> Path:
    return system.stack.home / "agents" / host.agent


@contextmanager
def networks_beside(system: System) -> Iterator[Networks]:
    """Networks beside the session's stack; they go with what lives in them."""
    if os.geteuid() != 0:
        pytest.skip("needs root: makes network namespaces")
    with added_to(system):
        yield Networks(system.stack.supervisor)


@contextmanager
def added_to(system: System) -> Iterator[None]:
    """Programs that are started meanwhile end afterwards, the last one first; agents and links that are made meanwhile go."""
    supervisor = system.stack.supervisor
    before = set(supervisor.names())
    known = {path: {each["id"] for each in system.client.items(path)} for path in ("/links", "/agents")}
    try:
        yield
    finally:
        for name in reversed([each for each in supervisor.names() if each not in before]):
            supervisor.stop(name)
        for path, ids in known.items():
            for each in system.client.items(path):
                if each["id"] not in ids:
                    system.client.delete(f"{path}/{each['id']}")


def quick_test(system: System, link: str) -> dict[str, Any]:
    """A quick test's run, once it has ended."""
    (found,) = (each for each in system.client.items("/links") if each["name"] == link)
    run = system.client.post(f"/links/{found['id']}/quick-test")["run_id"]
    return wait_ended(system, run)


def wait_ended(system: System, run: str, timeout_s: float = 60) -> dict[str, Any]:
    found: list[dict[str, Any]] = []

    def has_ended() -> bool:
        system.stack.supervisor.check()
        found[:] = [system.client.get(f"/runs/{run}")]
        return found[0]["state"] in ENDED

    assert wait_until(has_ended, timeout_s, step_s=0.2), found
    return found[0]
