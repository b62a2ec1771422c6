"""The agent's Debian packages: built by make, then installed, upgraded, removed and purged by dpkg in a root of their own."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.conftest import AGENT
from tests.system.packaged import LAYERS, NEXT, POLICY, STATE, UNIT, VERSION, WANTED, TestRoot, build

pytestmark = pytest.mark.verify("packages")

ELF_MACHINE = {"amd64": 62, "arm64": 183}
JOINED = """server: http://127.0.0.1:9
name: packaged
data_host: 127.0.0.1
"""


@pytest.fixture
def root(packages: Path, tmp_path: Path) -> Iterator[TestRoot]:
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", LAYERS, "sh"]
    env = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    with subprocess.Popen(
        [*command, str(tmp_path), str(packages)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as shell:
        assert shell.stdin
        assert shell.stdout
        assert shell.stdout.readline() == "ready\n"
        yield TestRoot(shell)
        shell.stdin.close()
        shell.wait(10)


def test_two_builds_give_the_same_bytes_and_the_checksums_are_theirs(packages: Path, tmp_path: Path) -> None:
    again = build(VERSION, tmp_path)
    sums = (packages / VERSION / "SHA256SUMS").read_text()
    assert (again / "SHA256SUMS").read_text() == sums
    listed = dict(reversed(line.split()) for line in sums.splitlines())
    assert sorted(listed) == sorted(
        name
        for arch in ELF_MACHINE
        for name in (f"downlink-agent_{VERSION}_{arch}.deb", f"downlink-agent_{VERSION}_linux_{arch}.tar.gz")
    )
    for name, checksum in listed.items():
        assert hashlib.sha256((packages / VERSION / name).read_bytes()).hexdigest() == checksum


@pytest.mark.parametrize("arch", ELF_MACHINE)
def test_package_and_tarball_hold_the_program_of_their_processor(packages: Path, tmp_path: Path, arch: str) -> None:
    folder = packages / VERSION
    subprocess.run(
        ["dpkg-deb", "--extract", folder / f"downlink-agent_{VERSION}_{arch}.deb", tmp_path / "deb"], check=True
    )
    subprocess.run(
        ["tar", "-xzf", folder / f"downlink-agent_{VERSION}_linux_{arch}.tar.gz", "-C", tmp_path], check=True
    )
    programs = [tmp_path / "deb/usr/bin/downlink-agent", tmp_path / f"downlink-agent-{VERSION}" / "downlink-agent"]
    built = AGENT.with_name(f"downlink-agent-linux-{arch}").read_bytes()
    for program in programs:
        assert program.read_bytes() == built
        assert program.stat().st_mode & 0o111 == 0o111
    assert built[:4] == b"\x7fELF"
    assert struct.unpack_from("<H", built, 18)[0] == ELF_MACHINE[arch]


def test_a_fresh_package_waits_for_join(root: TestRoot) -> None:
    root.install(VERSION)
    assert root.do("downlink-agent version") == f"downlink-agent {VERSION}"
    for path, mode in (
        ("/usr/bin/downlink-agent", "755"),
        (UNIT, "644"),
        (POLICY, "644"),
        (STATE, "700"),
        ("/usr/share/doc/downlink-agent/copyright", "644"),
    ):
        assert root.do(f"stat -c '%a %U %G' {path}") == f"{mode} root root", path
    assert root.do(f"ls -A {STATE}") == ""
    assert root.has(WANTED), "the unit starts at boot"
    assert root.do("dpkg --verify downlink-agent") == ""
    status, said = root.run("downlink-agent doctor")
    assert status != 0
    assert "enrol this agent first with `downlink-agent join`" in said
    condition = root.do(f"systemd-analyze condition --unit {UNIT.rsplit('/', 1)[1]} 2>&1 || true")
    assert f"ConditionPathExists={STATE}/agent.yaml failed" in condition


def test_an_upgrade_keeps_what_the_owner_and_the_agent_wrote(root: TestRoot) -> None:
    root.install(VERSION)
    root.write(POLICY, "max_seconds: 60\n")
    root.do(f"mkdir -p {STATE}/spool && echo samples >{STATE}/spool/chunk && chmod 600 {STATE}/spool/chunk")
    root.write(f"{STATE}/agent.yaml", JOINED)
    root.do("systemctl disable downlink-agent.service")
    root.install(NEXT)
    assert root.do("dpkg-query -W -f '${Version} ${Status}' downlink-agent") == f"{NEXT} install ok installed"
    assert root.do(f"cat {POLICY}") == "max_seconds: 60"
    assert root.do(f"cat {STATE}/spool/chunk") == "samples"
    assert not root.has(WANTED), "what the owner disabled stays disabled"
    root.write(POLICY, "max_secnods: 60\n")
    assert "max_secnods" in root.run("downlink-agent doctor")[1]
    assert "Nothing to restore" in root.do("dpkg --remove downlink-agent"), (
        "an error in the policy keeps no host changed"
    )


def test_removing_restores_the_host_and_purging_forgets_it(root: TestRoot) -> None:
    root.install(VERSION)
    root.write(f"{STATE}/agent.yaml", JOINED)
    root.write(POLICY, "max_seconds: 60\n")
    assert "Nothing to restore" in root.do("dpkg --remove downlink-agent")
    assert not root.has("/usr/bin/downlink-agent")
    assert not root.has(UNIT)
    assert root.has(f"{STATE}/agent.yaml")
    assert root.has(POLICY)
    root.install(NEXT)
    assert root.do(f"cat {POLICY}") == "max_seconds: 60"
    root.do("dpkg --purge downlink-agent")
    for path in (STATE, "/etc/downlink-agent", WANTED, "/usr/share/doc/downlink-agent"):
        assert not root.has(path), path


def test_a_host_that_cannot_be_restored_keeps_the_program(root: TestRoot) -> None:
    root.install(VERSION)
    root.write(f"{STATE}/agent.yaml", JOINED)
    root.write(f"{STATE}/identity.json", '{"agent_id": "a", "secret": "s"}')
    root.do(f"chmod 600 {STATE}/identity.json")
    root.do("downlink-agent run >/dev/null 2>&1 & echo $! >/run/agent.pid; sleep 0.5")
    status, said = root.run("dpkg --remove downlink-agent")
    assert status != 0
    assert "stop it first" in said
    assert root.has("/usr/bin/downlink-agent")
    root.do("kill $(cat /run/agent.pid) && sleep 1")
    root.do("dpkg --remove downlink-agent")


def test_systemd_takes_the_unit(root: TestRoot) -> None:
    root.install(VERSION)
    assert root.do(f"systemd-analyze verify --man=no {UNIT}") == ""
    root.do(f"systemd-analyze security --offline=true --no-pager --threshold=40 {UNIT}")
