"""A new user's way: from the agent's Debian package on two hosts, as the runbook has it, to the first result on the command line.

It prints how many seconds each step took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from downlink.stack.launcher import Stack, running
from downlink.stack.process import wait_until
from tests.system.conftest import DASHBOARD
from tests.system.networks import SERVER_PORT, Networks
from tests.system.packaged import LAYERS, UNIT, VERSION, TestRoot

pytestmark = pytest.mark.verify("stack", measures=True)

SERVER = "192.0.2.1"
HOSTS = {"dish": ("198.51.100.2", "--role receiver"), "far": ("203.0.113.2", "--role sender --data-port 8410")}
RATE_BPS = 50_000_000
# What systemd does for the unit: condition, folders, rights, readiness, another start after each end.
KEEPER = """
import configparser, os, pathlib, socket, subprocess, sys, time
unit = configparser.ConfigParser(strict=False, interpolation=None)
unit.read(sys.argv[1])
service, notify = unit["Service"], "/run/notify"
if not os.path.exists(unit["Unit"]["ConditionPathExists"]):
    sys.exit("its condition does not hold")
os.makedirs("/run/" + service["RuntimeDirectory"], exist_ok=True)
os.umask(int(service["UMask"], 8))
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(notify)
rights = ",".join("+" + right.removeprefix("CAP_").lower() for right in service["CapabilityBoundingSet"].split())
start = ["setpriv", "--no-new-privs", "--bounding-set", "-all," + rights, *service["ExecStart"].split()]
while True:
    agent = subprocess.Popen(start, env={**os.environ, "NOTIFY_SOCKET": notify})
    pathlib.Path("/run/agent.pid").write_text(str(agent.pid))
    while b"READY=1" not in heard.recv(4096):
        pass
    with open("/run/starts", "a") as starts:
        starts.write("ready\\n")
    agent.wait()
    subprocess.run(service["ExecStopPost"].split(), check=False)
    time.sleep(int(service["RestartSec"]))
"""


class Steps:
    """The seconds that each step took, in their order."""

    def __init__(self) -> None:
        self._took: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self._took[name] = time.monotonic() - began

    def table(self) -> str:
        rows = [f"{seconds:7.1f} s  {name}" for name, seconds in self._took.items()]
        return "\n".join([*rows, f"{sum(self._took.values()):7.1f} s  in all"])


@pytest.fixture
def stack(_host_unchanged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    if os.geteuid() != 0:
        pytest.skip("needs root: installs packages in roots of their own")
    monkeypatch.setenv("DOWNLINK_AGENT_URL", f"http://{SERVER}:{SERVER_PORT}")
    with running(tmp_path / "stack", DASHBOARD) as found:
        yield found


@contextmanager
def new_host(networks: Networks, name: str, packages: Path, folder: Path) -> Iterator[TestRoot]:
    """A Debian that has never seen an agent, on its own network; all of it ends with its shell."""
    address, _ = HOSTS[name]
    gateway = address.removesuffix("2") + "1"
    networks.add(name)
    networks.join(name, [f"{address}/24"], "net", [f"{gateway}/24"])
    networks.route(name, gateway)
    shape = ["tbf", "rate", f"{RATE_BPS}", "burst", "100kb", "latency", "50ms"]
    networks.run("net", "tc", "qdisc", "add", "dev", f"to-{name}", "root", *shape)
    command = [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "sh",
        "-euc",
        LAYERS,
        "sh",
        str(folder),
        str(packages),
    ]
    env = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    folder.mkdir()
    with subprocess.Popen(
        networks.inside(name, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as shell:
        assert shell.stdin
        assert shell.stdout
        assert shell.stdout.readline() == "ready\n"
        root = TestRoot(shell)
        root.do("mount -t sysfs sysfs /sys")
        yield root
        shell.stdin.close()
        shell.wait(30)


def make_account(stack: Stack) -> str:
    """The admin by the link that the server printed, and a token of the page Access."""
    assert stack.setup_link
    with httpx.Client(base_url=f"{stack.address}/api/v1", headers={"Origin": stack.address}, timeout=30) as browser:
        token = stack.setup_link.rpartition("#")[2]
        made = browser.post("/setup", json={"token": token, "username": "ada", "password": "a new user's own word"})
        assert made.status_code == 201, made.text
        secret = browser.post(
            "/tokens", json={"name": "laptop", "scopes": ["read", "write", "admin"], "expires_in_days": 30}
        )
        assert secret.status_code == 201, secret.text
        return str(secret.json()["secret"])


def test_from_the_package_to_the_first_result(stack: Stack, packages: Path, tmp_path: Path) -> None:
    steps, networks = Steps(), Networks(stack.supervisor)
    networks.add("net", forwards=True)
    networks.run("net", "ip", "address", "add", f"{SERVER}/32", "dev", "lo")
    networks.serve(stack, "net", SERVER)

    def downlink(*words: str) -> str:
        """On the user's own machine."""
        env = {**os.environ, "DOWNLINK_SERVER": stack.address, "DOWNLINK_TOKEN": token}
        command = [str(Path(sys.executable).with_name("downlink")), *words]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def is_online(name: str) -> bool:
        agents: list[dict[str, Any]] = json.loads(downlink("agents", "list", "--json"))
        return any(each["name"] == name and each["is_online"] for each in agents)

    with ExitStack() as hosts:
        with steps.step("the account and its token"):
            token = make_account(stack)
        roots = {name: hosts.enter_context(new_host(networks, name, packages, tmp_path / name)) for name in HOSTS}
        with steps.step("both packages installed"):
            for root in roots.values():
                root.install(VERSION)
        with steps.step("both hosts joined by the line that was printed"):
            for name, root in roots.items():
                root.do(f"{downlink('agents', 'enrol', name).strip()} {HOSTS[name][1]}")
        with steps.step("both units started, and heard by the server"):
            for name, root in roots.items():
                root.write("/run/keeper.py", KEEPER)
                root.do(f"python3 /run/keeper.py {UNIT} >/run/keeper.log 2>&1 &")
                assert wait_until(lambda name=name: is_online(name), timeout_s=60), root.run("cat /run/keeper.log")  # type: ignore[misc]
        roots["dish"].do("kill -9 $(cat /run/agent.pid)")
        with steps.step("the link"):
            ends = ("--receiver", "dish", "--sender", "far")
            downlink(
                "links", "create", "dish", "--orbit", "LEO", "--rate-bps", str(RATE_BPS), "--base-rtt-ms", "5", *ends
            )
        with steps.step("an agent that was killed started again, as its unit says"):
            starts = "cat /run/starts /run/keeper.log"
            assert wait_until(lambda: roots["dish"].do(starts).count("ready") == 2, timeout_s=60), roots["dish"].do(
                starts
            )
        with steps.step("a quick test"):
            run = json.loads(downlink("quick", "dish", "--json"))
        with steps.step("its result read"):
            shown = downlink("runs", "show", run["id"])
    print(f"\n{steps.table()}")
    assert (run["state"], run["detail"]) == ("complete", None)
    assert 0.5 * RATE_BPS < run["throughput_bps"] < 1.05 * RATE_BPS
    assert "complete" in shown
