"""What may go wrong around a real agent: on its way to the server, on its disk, and on the link that it measures."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from urllib.parse import urlsplit

from downlink.domain.fleet.agent import ONLINE_S
from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.rig import AGENT_STOP_S, Host, replace_lines
from tests.fixtures.wire import PAGE
from tests.system.conftest import System
from tests.system.test_full_disk import MB, SIZE_MB, SmallDisk

STATUS = {"413 on the way": "413 Content Too Large", "502 on the way": "502 Bad Gateway", "portal on the way": "200 OK"}
"""What somebody between an agent and its server answers, with a page."""
HALF_OPEN = "half open"


@dataclass
class _Pair:
    """A connection of the agent and the one to the server. is_dead: both go on being open, and nothing passes any more."""

    near: socket.socket
    far: socket.socket | None = None
    is_dead: bool = False

    def close(self) -> None:
        for end in (self.near, self.far):
            if end is not None:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()


@dataclass
class Way:
    """Hands an agent's connections on to the server, byte for byte, while it has no fault."""

    address: str
    server: tuple[str, int]
    fault: str = ""
    answered: int = 0
    pairs: list[_Pair] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server((self.address, 0))
        self.url = f"http://{self.address}:{self._listener.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    def fail(self, fault: str) -> None:
        """From now on. Whoever answers in the server's place does so on new connections, and those there are end."""
        self.fault = fault
        for pair in list(self.pairs):
            if fault == HALF_OPEN:
                pair.is_dead = True
            else:
                pair.close()

    def heal(self) -> None:
        """New connections pass. Those that are half open stay so."""
        self.fault = ""

    def close(self) -> None:
        self._listener.close()
        for pair in list(self.pairs):
            pair.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            Thread(target=self._take, args=(near,), daemon=True).start()

    def _take(self, near: socket.socket) -> None:
        pair = _Pair(near, is_dead=self.fault == HALF_OPEN)
        self.pairs.append(pair)
        with contextlib.suppress(OSError):
            if self.fault in STATUS:
                self._answer(near, STATUS[self.fault])
            else:
                pair.far = socket.create_connection(self.server)
                back = Thread(target=self._pass, args=(pair, pair.far, near), daemon=True)
                back.start()
                self._pass(pair, near, pair.far)
                back.join()
        pair.close()
        self.pairs.remove(pair)

    def _answer(self, near: socket.socket, status: str) -> None:
        asked = b""
        while b"\r\n\r\n" not in asked:
            piece = near.recv(65536)
            if not piece:
                return
            asked += piece
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\nConnection: close\r\n\r\n"
        )
        near.sendall(head.encode() + PAGE.encode())
        self.answered += 1

    @staticmethod
    def _pass(pair: _Pair, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                if not pair.is_dead:
                    sink.sendall(piece)
            if not pair.is_dead:
                sink.shutdown(socket.SHUT_WR)


@contextmanager
def on_ways(system: System, hosts: tuple[Host, ...]) -> Iterator[dict[str, Way]]:
    """Each agent reaches the server by a way of its own, by the agent's name; afterwards as before."""
    server = urlsplit(system.stack.address)
    ways = {}
    for host in hosts:
        hub = urlsplit(system.rig.facts()["hosts"][host.place]["control_url"]).hostname
        ways[host.agent] = Way(str(hub), (str(server.hostname), int(server.port or 80)))
        config = system.rig.state(host) / "agent.yaml"
        config.write_text(replace_lines(config.read_text(), {"server": ways[host.agent].url}))
        restart(system.stack.supervisor, system.stack.supervisor.program(host.agent))
    try:
        yield ways
    finally:
        for host in hosts:
            system.rig.move(host)
            restart(system.stack.supervisor, system.stack.supervisor.program(host.agent))
            ways[host.agent].close()


def restart(supervisor: Supervisor, program: Program) -> None:
    supervisor.stop(program.name)
    supervisor.start(program)


@contextmanager
def on_small_disk(system: System, host: Host) -> Iterator[SmallDisk]:
    """The agent's folder is a disk of its own, with what was in it, in a mount namespace that nobody else sees; afterwards as before."""
    supervisor, folder = system.stack.supervisor, system.rig.state(host)
    disk = SmallDisk(system, folder, host.agent, f"disk-of-{host.agent}")
    program = supervisor.program(host.agent)
    supervisor.stop(host.agent)
    script = f"cp -a {folder} {folder}.before; mount -t tmpfs -o size={SIZE_MB}M,mode=700 tmpfs {folder}; cp -a {folder}.before/. {folder}"
    supervisor.start(Program(disk.holder, ["unshare", "--mount", "sh", "-euc", f"{script}; exec sleep infinity"]))
    assert wait_until(lambda: _is_ready(disk), timeout_s=30), supervisor.log_tail(disk.holder)
    wait_offline(system, host)
    supervisor.start(Program(host.agent, disk.inside(program.command), stop_s=AGENT_STOP_S))
    try:
        yield disk
    finally:
        supervisor.stop(host.agent)
        supervisor.stop(disk.holder)
        subprocess.run(["rm", "-rf", f"{folder}.before"], check=True)
        wait_offline(system, host)
        supervisor.start(program)


def wait_offline(system: System, host: Host) -> None:
    """A folder that was copied is a second host to the server, which hears it once the first is silent."""

    def is_offline() -> bool:
        return not any(each["name"] == host.agent and each["is_online"] for each in system.client.items("/agents"))

    assert wait_until(is_offline, timeout_s=2 * ONLINE_S, step_s=0.5)


def _is_ready(disk: SmallDisk) -> bool:
    """Mounted, with the last thing that is copied there."""
    return disk.free_bytes() <= SIZE_MB * MB and disk.run("sh", "-c", f"ls {disk.folder}/agent.yaml || true") != ""


# Takes the packets for one address, and sends each eighth after the three behind it. Its own packets are marked and go by another table.
REORDER = """
import fcntl, os, select, socket, struct, sys
address, = sys.argv[1:]
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"reorder", 0x1001))  # TUNSETIFF: IFF_TUN | IFF_NO_PI
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
out.setsockopt(socket.SOL_SOCKET, 36, 7)  # SO_MARK
print("ready", flush=True)
held, count = [], 0
while True:
    if not select.select([tun], [], [], 0.05)[0]:
        late, held = held, []
    else:
        packet = os.read(tun, 65536)
        if packet[0] >> 4 != 4:
            continue  # the kernel greets a new device
        count += 1
        if count % 8 == 0:
            held.append(packet)
            continue
        late = [packet]
        if count % 8 == 3:
            late, held = late + held, []
    for packet in late:
        out.sendto(packet, (address, 0))
"""


@contextmanager
def reordered(system: System, host: Host, other: str) -> Iterator[None]:
    """What this host sends to the address comes out of order, one packet of eight."""
    space = system.rig.facts()["hosts"][host.place]["netns"]
    command = ["ip", "netns", "exec", space, sys.executable, "-c", REORDER, other]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as mixing:
        assert mixing.stdout is not None
        try:
            assert mixing.stdout.readline() == b"ready\n"
            route = _ip(space, "route", "get", other).split()
            via = ("via", route[route.index("via") + 1]) if "via" in route else ()
            device, source = route[route.index("dev") + 1], route[route.index("src") + 1]
            _ip(space, "link", "set", "reorder", "up")
            _ip(space, "route", "replace", other, *via, "dev", device, "table", "77")
            _ip(space, "rule", "add", "fwmark", "7", "lookup", "77")
            _ip(space, "route", "replace", f"{other}/32", "dev", "reorder", "src", source)
            yield
        finally:
            mixing.kill()  # with it goes the device, and the route by it
            _ip(space, "rule", "del", "fwmark", "7", "lookup", "77")
            _ip(space, "route", "flush", "table", "77")


def _ip(space: str, *words: str) -> str:
    done = subprocess.run(["ip", "-n", space, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout
