"""`downlink stack demo` as people use it: to the end, stopped by Ctrl-C, killed, and without root."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from downlink.cli.client import Access, Client
from downlink.stack.process import Supervisor, wait_until
from downlink.stack.servers import start_postgres
from tests.system.conftest import DASHBOARD, ROOT
from tests.system.hoststate import MARK, HostState, read_host_state

pytestmark = [pytest.mark.verify("stack"), pytest.mark.timeout(300)]

CAMPAIGN = """
name: Short demo
links: [terrestrial]
stop: {seconds: 2}
phases: {startup_s: 1, steady_s: 1}
timetable: {cycles: %d}
conditions:
  - {name: Small buffer, receiver: {net.ipv4.tcp_rmem: 4096 131072 400000}}
  - {name: Large buffer, receiver: {net.ipv4.tcp_rmem: 4096 131072 6000000}}
limits: {attempts: 10}
"""
"""Of many attempts: a run whose emulated link this machine was too busy for is repeated, however often."""
DOWNLINK = Path(sys.executable).with_name("downlink")
PLAIN_USER = 65534
UNAVAILABLE = 6
RUNS_S = 240
"""A demo of two runs, with every attempt that a busy machine makes them need."""
# Interpreter, checkout and the test's own folder may lie where others may not enter, root's home for one. In a mount
# namespace of our own an empty folder that all may enter takes the place of each closed one, with just these in it.
# There, /dev/net/tun is open to everybody, as it is on most hosts, and /dev/cpu_dma_latency, as docs/operations.md advises.
AS_PLAIN_USER = """
mount -t tmpfs -o mode=755 tmpfs /mnt
for folder in {visible}; do
  mkdir -p /mnt$folder && mount --rbind $folder /mnt$folder
done
mknod -m 666 /mnt/tun c 10 200 && mount --bind /mnt/tun /dev/net/tun
mknod -m 666 /mnt/latency c $(tr : ' ' < /sys/class/misc/cpu_dma_latency/dev)
mount --bind /mnt/latency /dev/cpu_dma_latency
for folder in {closed}; do
  mount -t tmpfs -o mode=755 tmpfs $folder
done
for folder in {visible}; do
  mkdir -p $folder && mount --rbind /mnt$folder $folder
done
cd {root} && exec setpriv --reuid={user} --regid={user} --clear-groups -- "$@"
"""


def closed_ancestors(folders: Iterable[Path]) -> set[Path]:
    """The highest folder above each of these that others may not enter, if there is one."""
    closed = (
        next((up for up in reversed(folder.parents) if not up.stat().st_mode & stat.S_IXOTH), None)
        for folder in folders
    )
    return {folder for folder in closed if folder}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home for the demo; afterwards the host must be as it was before."""
    os.environ[MARK] = str(os.getpid())
    before = read_host_state(tmp_path)
    yield tmp_path / "home"
    assert_same(before, tmp_path)


def assert_same(before: HostState, home: Path) -> None:
    wait_until(lambda: read_host_state(home) == before, timeout_s=20)
    assert read_host_state(home) == before


def demo(
    home: Path,
    cycles: int = 1,
    *,
    source: str = CAMPAIGN,
    then: tuple[Path, ...] = (),
    prefix: tuple[str, ...] = (),
    **env: str,
) -> subprocess.Popen[str]:
    campaign = home.parent / "campaign.yaml"
    campaign.write_text(source % cycles if "%d" in source else source)
    campaign.chmod(0o644)
    command = [*prefix, str(DOWNLINK), "stack", "demo", "--home", str(home), "--dashboard", str(DASHBOARD)]
    command += ["--campaign", str(campaign), *(word for each in then for word in ("--campaign", str(each)))]
    environment = {**os.environ, "DOWNLINK_PORT": "", **env}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """What the process says up to a line that holds `words`."""
    assert process.stdout
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"ended without saying {words!r}:\n{said}")


@contextmanager
def staying_demo(home: Path, source: str, verdict: str) -> Iterator[Client]:
    """A demo that has run its campaign and stays, as it does for people: what it found is asked of itself."""
    process = demo(home, source=source)
    try:
        said = read_until(process, " runs complete")
        assert verdict in said, said
        access = dict(line.split("=", 1) for line in (home / "env").read_text().splitlines())
        yield Client(Access(access["DOWNLINK_SERVER"], access["DOWNLINK_TOKEN"]))
    finally:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=90)
    assert "nothing is left running" in said


def runs_of(client: Client, name: str) -> list[dict[str, Any]]:
    """All of each run of the campaign of this name."""
    campaign = next(each for each in client.items("/campaigns") if each["name"] == name)
    return [client.get(f"/runs/{run['id']}") for run in client.items(f"/campaigns/{campaign['id']}/runs")]


@pytest.mark.timeout(600)  # two demos and a database: each has its own limit
def test_the_demo_ends_by_itself_and_keeps_its_data(home: Path) -> None:
    tokens = set()
    for _ in range(2):
        process = demo(home, cycles=1, DEMO_EXIT="1")
        said, _ = process.communicate(timeout=RUNS_S)
        assert process.returncode == 0, said
        assert "2 of 2 runs complete" in said
        assert said.count("/setup#") == 1, "no admin was made yet"
        assert stat.S_IMODE((home / "env").stat().st_mode) == 0o600
        tokens.add(dict(line.split("=", 1) for line in (home / "env").read_text().splitlines())["DOWNLINK_TOKEN"])
    assert len(tokens) == 1, "the second demo goes on with the first one's token"
    assert campaigns_kept(home) == 2


SHORT = {
    "stop: {seconds: 120}": "stop: {seconds: 4}",
    "startup_s: 15, steady_s: 60": "startup_s: 1, steady_s: 1",
    "cycles: 10, pause_s: 60": "cycles: 1, pause_s: 0",
    "attempts: 2": "attempts: 10",
}
"""The times of paper-001-pairs.yaml, and much shorter ones; and many attempts, for a busy machine."""
LEFT_OUT = tuple(f"  - {{name: {name}" for name in ("Cubic and Cubic", "Cubic and Hybla", "HyStart on and off"))
"""Its other pairs run in the study's test."""


def shortened(path: Path, times: dict[str, str]) -> str:
    """The text of a campaign file with other times; each of the old ones must be there."""
    text = path.read_text()
    for old, new in times.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_a_campaign_of_two_senders_works_by_itself(home: Path) -> None:
    pairs = shortened(ROOT / "docs" / "examples" / "paper-001-pairs.yaml", SHORT)
    two = "".join(line for line in pairs.splitlines(keepends=True) if not line.startswith(LEFT_OUT))
    with staying_demo(home, two, "Five pairs over GEO: 2 of 2 runs complete") as client:
        link = next(link for link in client.items("/links") if link["name"] == "geo-viasat")
        assert (link["receiver"], link["senders"]) == (
            "geo-viasat-receiver",
            ["geo-viasat-sender", "geo-viasat-sender-2"],
        )
        flows = [flow for run in runs_of(client, "Five pairs over GEO") for flow in run["flows"]]
    assert all(flow["throughput_bps"] for flow in flows)
    assert sorted(flow["sender"] for flow in flows) == ["geo-viasat-sender"] * 2 + ["geo-viasat-sender-2"] * 2


TWO_LINKS = """
name: Two links
links: [terrestrial, terrestrial.2]
stop: {seconds: 2}
phases: {startup_s: 1, steady_s: 1}
timetable: {cycles: 1}
conditions: [{name: Cubic}]
limits: {attempts: 10}
"""


def test_a_campaign_over_two_links_of_one_profile_works_by_itself(home: Path) -> None:
    process = demo(home, source=TWO_LINKS, DEMO_EXIT="1")
    said, _ = process.communicate(timeout=RUNS_S)
    assert process.returncode == 0, said
    assert "Two links: 2 of 2 runs complete" in said


def test_one_campaign_runs_after_the_other_over_links_of_both(home: Path) -> None:
    other = home.parent / "other.yaml"
    other.write_text(TWO_LINKS.replace("Two links", "Afterwards").replace("terrestrial, ", ""))
    process = demo(home, then=(other,), DEMO_EXIT="1")
    said, _ = process.communicate(timeout=RUNS_S)
    assert process.returncode == 0, said
    first, second = said.index("Short demo: 2 of 2 runs complete"), said.index("Afterwards: 1 of 1 runs complete")
    assert first < second


PROXIED = """
pep: {satellite: {cc: bbr}, terrestrial: {cc: reno}}
"""


def test_runs_with_tickets_complete_behind_a_proxy_and_say_that_it_is_there(home: Path) -> None:
    profile = (ROOT / "agents" / "internal" / "lab" / "emulate" / "profiles" / "terrestrial.yaml").read_text()
    (home.parent / "profiles").mkdir()
    (home.parent / "profiles" / "proxied.yaml").write_text(profile.replace("base_ms: 10}", "base_ms: 100}") + PROXIED)
    with staying_demo(home, TWO_LINKS.replace("terrestrial.2", "proxied"), "2 of 2 runs complete") as client:
        runs = runs_of(client, "Two links")
    (log,) = (home / "log").glob("link-demo-*-2.log")
    assert "joined=1 refused=0 unreachable=0" in log.read_text()
    assert {run["link"]: run["flows"][0]["proxy"]["path"] for run in runs} == {
        "terrestrial": "whole",
        "proxied": "split",
    }


def test_what_a_campaign_lacks_is_said_before_anything_starts(home: Path) -> None:
    said, _ = demo(home, source=TWO_LINKS.replace("terrestrial.2", "dish"), DEMO_EXIT="1").communicate(timeout=60)
    assert "The campaign's link dish is none of the profiles" in said
    assert "--profile FOLDER/dish.yaml" in said
    assert not home.exists()


def campaigns_kept(home: Path) -> int:
    """How many short demos that ended the database in `home` holds."""
    with Supervisor(home) as supervisor:
        engine = create_engine(start_postgres(supervisor, home / "postgres"))
        with engine.connect() as connection:
            kept = text("SELECT count(*) FROM campaigns WHERE name = 'Short demo' AND state = 'complete'")
            count = int(connection.execute(kept).scalar_one())
        engine.dispose()
    return count


def test_ctrl_c_in_mid_run_leaves_nothing_behind(home: Path) -> None:
    process = demo(home, cycles=50)
    read_until(process, ": running")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=90)
    assert "nothing is left running" in said


LONGER = CAMPAIGN.replace("seconds: 2", "seconds: 6").replace("%d", "2").replace("attempts: 10", "attempts: 1")
"""A campaign of four runs, each long enough to be struck in its middle, and none of them tried twice."""


@contextmanager
def struck_demo(home: Path, program: str) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    """A demo that stays, of which a program was killed in mid-run; afterwards Ctrl-C leaves nothing behind."""
    process = demo(home, source=LONGER)
    try:
        read_until(process, ": running")
        (file,) = (home / "pid").glob(program)
        os.kill(int(file.read_text().split()[0]), signal.SIGKILL)
        access = dict(line.split("=", 1) for line in (home / "env").read_text().splitlines())
        yield process, Client(Access(access["DOWNLINK_SERVER"], access["DOWNLINK_TOKEN"]))
    finally:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=90)
    assert "nothing is left running" in said


def test_an_agent_that_is_killed_is_started_again_its_run_fails_and_the_next_ones_run(home: Path) -> None:
    with struck_demo(home, "terrestrial-receiver") as (process, client):
        said = read_until(process, " runs complete")
        runs = [run for run in runs_of(client, "Short demo") if run["reason"] != "emulator_late"]  # a busy machine's
    assert "WARNING: terrestrial-receiver ended by itself and is started again" in said
    assert [run["reason"] for run in runs if run["state"] != "complete"] == ["agent_restarted"]


def test_without_its_link_the_demo_says_what_to_do_and_the_page_stays(home: Path) -> None:
    with struck_demo(home, "link-*") as (process, client):
        said = read_until(process, "press Ctrl-C and start again; the data stays")
        assert "WARNING: the emulated link terrestrial ended by itself" in said
        assert any(campaign["name"] == "Short demo" for campaign in client.items("/campaigns"))


def test_a_port_that_is_in_use_is_named_before_anything_starts(home: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = demo(home, DEMO_EXIT="1", DOWNLINK_PORT=str(port))
        said, _ = process.communicate(timeout=90)
    assert process.returncode == UNAVAILABLE
    assert f"port {port} is in use; name a free one with --port or DOWNLINK_PORT" in said
    assert said.splitlines()[-1].startswith("downlink: stopped everything because")


def test_after_a_killed_launcher_nothing_is_left_and_the_next_demo_completes(home: Path, tmp_path: Path) -> None:
    before = read_host_state(tmp_path)
    process = demo(home, cycles=50)
    read_until(process, ": running")
    process.kill()
    process.wait()
    assert_same(before, tmp_path)
    process = demo(home, cycles=1, DEMO_EXIT="1")
    said, _ = process.communicate(timeout=RUNS_S)
    assert process.returncode == 0, said
    assert "2 of 2 runs complete" in said


def test_a_plain_user_can_run_it(home: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    visible = (ROOT, Path(sys.base_prefix), tmp_path)
    script = AS_PLAIN_USER.format(
        visible=" ".join(map(str, visible)),
        closed=" ".join(map(str, closed_ancestors(visible))),
        root=ROOT,
        user=PLAIN_USER,
    )
    home.mkdir()
    os.chown(home, PLAIN_USER, PLAIN_USER)
    prefix = ("unshare", "--mount", "sh", "-ec", script, "sh")
    process = demo(home, cycles=1, prefix=prefix, DEMO_EXIT="1", HOME=str(home))
    said, _ = process.communicate(timeout=RUNS_S)
    assert process.returncode == 0, said
    assert "2 of 2 runs complete" in said
    assert home.stat().st_uid == PLAIN_USER
