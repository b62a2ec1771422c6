"""The launcher looks after its processes: what has died is started again, and what is away is named."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from downlink.domain.errors import UnavailableError
from downlink.stack.launcher import running
from downlink.stack.process import Kind, Program, Supervisor, wait_until
from downlink.stack.watch import LOOK_EVERY_S, MAX_RESTARTS, WITHIN_S, Watch, complaint, watch_over

SLEEP = ["sleep", "600"]
PATIENCE_S = 60


class Watched:
    """A watch over small processes, with a clock that stands and a stack of which nothing is away."""

    def __init__(self, supervisor: Supervisor, *, is_unattended: bool = False) -> None:
        self.supervisor, self.now_s, self.away, self.said = supervisor, 0.0, "", list[str]()
        self.watch = Watch(
            supervisor,
            lambda: self.away or None,
            self.said.append,
            is_unattended=is_unattended,
            clock=lambda: self.now_s,
        )

    def start(self, name: str, kind: Kind, command: list[str] = SLEEP, title: str = "") -> None:
        self.supervisor.start(Program(name, command, kind=kind, title=title))

    def kill(self, name: str) -> int:
        """Kill it, and see to it that its end is noticed; answer its pid."""
        pid = self.supervisor.pid(name)
        os.kill(pid, signal.SIGKILL)
        assert wait_until(lambda: name in self.supervisor.ended(), PATIENCE_S)
        return pid

    def look_after(self, seconds: float) -> None:
        self.now_s += seconds
        self.watch.look()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with Supervisor(tmp_path) as supervisor:
        yield Watched(supervisor)


@pytest.fixture
def unattended(tmp_path: Path) -> Iterator[Watched]:
    with Supervisor(tmp_path) as supervisor:
        yield Watched(supervisor, is_unattended=True)


@pytest.mark.parametrize("kind", [Kind.SERVICE, Kind.AGENT])
def test_a_service_or_an_agent_that_ends_is_started_again_the_same_way(watched: Watched, kind: Kind) -> None:
    watched.start("one", kind)
    watched.start("other", kind)
    other, killed = watched.supervisor.pid("other"), watched.kill("one")
    watched.look_after(1)
    assert watched.said == [
        f"WARNING: one ended by itself and is started again; its log is {watched.supervisor.log_path('one')}"
    ]
    assert watched.supervisor.program("one").command == SLEEP
    assert watched.supervisor.pid("one") != killed
    assert watched.supervisor.pid("other") == other
    assert watched.supervisor.ended() == []


def test_an_agent_that_ends_again_and_again_is_left_alone_with_a_sentence(watched: Watched) -> None:
    for name in ("bad", "good"):
        watched.start(name, Kind.AGENT)
    for _ in range(MAX_RESTARTS + 1):
        watched.kill("bad")
        watched.look_after(1)
    assert watched.said[-1].startswith(f"WARNING: bad ended {MAX_RESTARTS + 1} times within 60 s; ")
    assert "press Ctrl-C and start again; the data stays." in watched.said[-1]
    assert watched.supervisor.ended() == ["bad"]
    watched.look_after(1)
    assert len(watched.said) == MAX_RESTARTS + 1, "it is said once"


def test_ends_that_lie_far_apart_are_not_again_and_again(watched: Watched) -> None:
    watched.start("one", Kind.AGENT)
    for _ in range(MAX_RESTARTS + 2):
        watched.kill("one")
        watched.look_after(WITHIN_S / MAX_RESTARTS)
    assert "is started again" in watched.said[-1]


def test_a_service_that_ends_again_and_again_stops_everything(watched: Watched) -> None:
    watched.start("api", Kind.SERVICE)
    for _ in range(MAX_RESTARTS):
        watched.kill("api")
        watched.look_after(1)
    watched.kill("api")
    with pytest.raises(UnavailableError, match="api ended by itself"):
        watched.look_after(1)


def test_a_server_that_ends_stops_everything(watched: Watched) -> None:
    watched.start("postgres", Kind.SERVER)
    watched.kill("postgres")
    with pytest.raises(UnavailableError, match="postgres ended by itself"):
        watched.look_after(1)


def test_without_a_link_the_rest_goes_on_and_what_to_do_is_said(watched: Watched) -> None:
    watched.start("link-demo-1", Kind.LINK, ["bash", "-c", "echo the device is gone"], "the emulated link geo-viasat")
    watched.start("agent", Kind.AGENT)
    assert wait_until(lambda: watched.supervisor.ended() != [], PATIENCE_S)
    watched.look_after(1)
    (said,) = watched.said
    assert said.startswith("WARNING: the emulated link geo-viasat ended by itself; ")
    assert "the device is gone" in said
    assert "press Ctrl-C and start again" in said
    watched.look_after(1)
    assert len(watched.said) == 1, "it is said once"
    assert watched.supervisor.ended() == ["link-demo-1"]


def test_where_nobody_watches_a_lost_link_or_agent_stops_everything(unattended: Watched) -> None:
    unattended.start("agent", Kind.AGENT)
    for _ in range(MAX_RESTARTS):
        unattended.kill("agent")
        unattended.look_after(1)
    unattended.kill("agent")
    with pytest.raises(UnavailableError, match="agent ended 6 times within 60 s"):
        unattended.look_after(1)
    unattended.start("agent", Kind.AGENT)
    unattended.start("link", Kind.LINK)
    unattended.kill("link")
    with pytest.raises(UnavailableError, match="link ended by itself"):
        unattended.look_after(1)


def test_what_is_away_is_named_once_and_when_it_is_back(watched: Watched) -> None:
    watched.away = "No answer from: conductor."
    watched.look_after(LOOK_EVERY_S - 0.1)
    assert watched.said == [], "it is not time yet"
    watched.look_after(0.1)
    watched.look_after(LOOK_EVERY_S)
    watched.away = ""
    watched.look_after(LOOK_EVERY_S)
    watched.look_after(LOOK_EVERY_S)
    assert watched.said == ["WARNING: No answer from: conductor.", "All parts answer again."]


@pytest.mark.verify("stack")
@pytest.mark.timeout(180)
def test_a_conductor_that_dies_is_started_again_and_one_that_hangs_is_named(tmp_path: Path) -> None:
    said: list[str] = []
    with running(tmp_path, None) as stack:
        watch = watch_over(stack, said.append)
        killed = stack.supervisor.pid("conductor")
        os.kill(killed, signal.SIGKILL)
        assert wait_until(lambda: bool(watch.look() or said), PATIENCE_S)
        assert "WARNING: conductor ended by itself and is started again" in said[0]
        assert stack.supervisor.pid("conductor") != killed
        assert wait_until(lambda: complaint(stack) is None, PATIENCE_S)

        os.kill(stack.supervisor.pid("conductor"), signal.SIGSTOP)
        assert wait_until(lambda: bool(watch.look() or ("conductor" in said[-1] and said[1:])), PATIENCE_S)
        assert "WARNING: No answer from: conductor." in said[-1]
        os.kill(stack.supervisor.pid("conductor"), signal.SIGCONT)
        assert wait_until(lambda: bool(watch.look() or said[-1] == "All parts answer again."), PATIENCE_S)
