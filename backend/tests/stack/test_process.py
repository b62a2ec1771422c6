"""No child outlives its launcher: stopped in order, by parent death, or swept at the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from downlink.domain.errors import UnavailableError
from downlink.stack.process import Program, Supervisor, start_time, wait_until

SLEEP = ["sleep", "600"]


def is_gone(pid: int) -> bool:
    return start_time(pid) is None


def test_programs_stop_last_started_first(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    script = 'trap \'echo "$0" >> "$1"; exit\' TERM; echo up; while :; do sleep 0.05; done'
    with Supervisor(tmp_path / "home") as supervisor:
        for name in ("first", "second"):
            supervisor.start(Program(name, ["bash", "-c", script, name, str(ended)]))
            supervisor.wait_ready(name, lambda name=name: "up" in supervisor.log_path(name).read_text(), timeout_s=60)
        pids = [supervisor.pid(name) for name in ("first", "second")]
    assert ended.read_text().split() == ["second", "first"]
    assert all(is_gone(pid) for pid in pids)
    assert not list((tmp_path / "home" / "pid").iterdir())


def test_programs_of_one_group_are_asked_to_end_before_any_is_waited_for(tmp_path: Path) -> None:
    """Each ends when both were asked: one after the other, the first would have to be killed."""
    script = (
        'trap \'touch "asked-$0"; until [ -e asked-first ] && [ -e asked-second ]; do sleep 0.05; done; touch "ended-$0"; exit\' TERM; '
        'cd "$1"; echo up; while :; do sleep 0.05; done'
    )
    with Supervisor(tmp_path / "home") as supervisor:
        for name in ("first", "second"):
            command = ["bash", "-c", script, name, str(tmp_path)]
            supervisor.start(Program(name, command, stop_s=20, group="both"))
            supervisor.wait_ready(name, lambda name=name: "up" in supervisor.log_path(name).read_text(), timeout_s=60)
    assert sorted(path.name for path in tmp_path.glob("ended-*")) == ["ended-first", "ended-second"]


def test_a_program_that_will_not_end_is_killed_with_its_helpers(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 600 & echo $!; wait; sleep 600"
    with Supervisor(tmp_path) as supervisor:
        supervisor.start(Program("stubborn", ["bash", "-c", script], stop_s=0.2))
        supervisor.wait_ready(
            "stubborn", lambda: supervisor.log_path("stubborn").read_text().strip() != "", timeout_s=60
        )
        helper = int(supervisor.log_path("stubborn").read_text().split()[0])
        leader = supervisor.pid("stubborn")
    assert is_gone(leader)
    assert wait_until(lambda: is_gone(helper), timeout_s=60)


@pytest.mark.parametrize(("number", "is_tidied"), [(signal.SIGKILL, True), (signal.SIGTERM, False)])
def test_what_a_killed_program_leaves_behind_is_removed_when_it_is_stopped(
    tmp_path: Path, number: signal.Signals, is_tidied: bool
) -> None:
    (tmp_path / "left").touch()
    script = "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done"
    with Supervisor(tmp_path / "home") as supervisor:
        supervisor.start(Program("link", ["bash", "-c", script], tidy=["rm", str(tmp_path / "left")]))
        supervisor.wait_ready("link", lambda: "up" in supervisor.log_path("link").read_text(), timeout_s=60)
        os.kill(supervisor.pid("link"), number)
        assert wait_until(lambda: supervisor.ended() == ["link"], timeout_s=60)
        assert (tmp_path / "left").exists()
    assert (tmp_path / "left").exists() != is_tidied


def test_an_early_end_is_reported_with_its_last_words(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor:
        supervisor.start(Program("brief", ["bash", "-c", "echo the disk is gone; exit 3"]))
        with pytest.raises(UnavailableError, match="brief ended by itself") as caught:
            supervisor.wait_ready("brief", lambda: False, timeout_s=60)
    assert "the disk is gone" in caught.value.message


LAUNCHER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from downlink.stack.process import Program, Supervisor
    with Supervisor(Path(sys.argv[1])) as supervisor:
        print(supervisor.start(Program("child", sys.argv[2:])).pid, flush=True)
        time.sleep(600)
    """
)


def launch(home: Path, *command: str) -> tuple[subprocess.Popen[str], int]:
    """A launcher in a process of its own, and the pid of its child."""
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(home), *command], stdout=subprocess.PIPE, text=True
    )
    assert launcher.stdout
    return launcher, int(launcher.stdout.readline())


def test_a_killed_launcher_takes_its_children_along(tmp_path: Path) -> None:
    launcher, child = launch(tmp_path, *SLEEP)
    assert wait_until(lambda: b"sleep" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0], timeout_s=60)
    launcher.kill()
    launcher.wait()
    assert wait_until(lambda: is_gone(child), timeout_s=60)


def test_the_next_start_sweeps_what_a_killed_launcher_left(tmp_path: Path) -> None:
    launcher, child = launch(tmp_path, "bash", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done")
    assert wait_until(lambda: "deaf" in (tmp_path / "log" / "child.log").read_text(), timeout_s=60)
    (tmp_path / "pid" / "child").write_text((tmp_path / "pid" / "child").read_text().replace(" 15\n", " 9\n"))
    launcher.kill()
    launcher.wait()
    assert not is_gone(child)
    with Supervisor(tmp_path):
        assert is_gone(child)


def test_a_reused_pid_is_left_alone(tmp_path: Path) -> None:
    bystander = subprocess.Popen(SLEEP)
    try:
        (tmp_path / "pid").mkdir()
        (tmp_path / "pid" / "old").write_text(f"{bystander.pid} 1 {int(signal.SIGKILL)}\n")
        with Supervisor(tmp_path):
            assert bystander.poll() is None
        assert not (tmp_path / "pid" / "old").exists()
    finally:
        bystander.kill()
        bystander.wait()


def test_start_time_tells_a_process_from_its_successor() -> None:
    own = start_time(os.getpid())
    assert own == start_time(os.getpid())
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert start_time(gone.pid) is None


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGTERM raises, as in the launcher."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.timeout(60)
def test_programs_end_although_an_interrupt_left_the_lock_of_one_taken(tmp_path: Path) -> None:
    """Raised inside of Popen's poll it does so; the tidy-up then waited for that lock forever."""
    with Supervisor(tmp_path) as supervisor:
        process = supervisor.start(Program("sleeps", SLEEP))
        process._waitpid_lock.acquire()  # type: ignore[attr-defined]
        supervisor.check()
    assert is_gone(process.pid)


@pytest.mark.usefixtures("interruptible")
def test_a_stop_that_is_interrupted_is_done_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(process: subprocess.Popen[bytes], which: int) -> None:
        del process, which
        os.kill(os.getpid(), signal.SIGTERM)

    with Supervisor(tmp_path) as supervisor:
        pid = supervisor.start(Program("sleeps", SLEEP, stop_s=0)).pid
        with monkeypatch.context() as patched:
            patched.setattr(subprocess.Popen, "send_signal", interrupted)
            with pytest.raises(KeyboardInterrupt):
                supervisor.stop("sleeps")
        assert not is_gone(pid)
    assert is_gone(pid)
