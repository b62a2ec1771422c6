"""Looks after a running stack: starts again what has ended, and says when a part is away."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable

import httpx
import typer

from downlink.domain.errors import UnavailableError
from downlink.stack.launcher import Stack, own_client
from downlink.stack.process import Kind, Program, Supervisor

LOOK_EVERY_S = 5.0
MAX_RESTARTS, WITHIN_S = 5, 60.0
Say = Callable[[str], object]


class Watch:
    """`look` is called again and again, about once a second.

    complain: answers what is away, in a sentence, or None. is_unattended: nobody is there to start again what is lost, so the
    stack ends where it would otherwise go on without an agent or a link.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        complain: Callable[[], str | None],
        say: Say = typer.echo,
        *,
        is_unattended: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._supervisor, self._complain, self._say = supervisor, complain, say
        self._is_unattended, self._clock = is_unattended, clock
        self._restarts: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=MAX_RESTARTS))
        self._next_look = clock() + LOOK_EVERY_S
        self._complaint: str | None = None
        self._lost: set[str] = set()

    def look(self) -> None:
        """UnavailableError when a server has ended, or a service that ends again and again."""
        for name in set(self._supervisor.ended()) - self._lost:
            self._mend(self._supervisor.program(name))
        if self._clock() >= self._next_look:
            self._next_look = self._clock() + LOOK_EVERY_S
            self._tell(self._complain())

    def _mend(self, program: Program) -> None:
        match program.kind:
            case Kind.SERVICE | Kind.AGENT if self._may_start_again(program.name):
                self._start_again(program.name)
            case Kind.AGENT:
                often = f"{program.name} ended {MAX_RESTARTS + 1} times within {WITHIN_S:.0f} s"
                self._do_without(program.name, often, "It is not started again, and runs that need it wait.")
            case Kind.LINK:
                ended = f"{program.title or program.name} ended by itself"
                self._do_without(program.name, ended, "Runs over it fail.")
            case _:
                raise self._supervisor.ended_error(program.name)

    def _may_start_again(self, name: str) -> bool:
        """Return whether it has not ended too often recently."""
        restarts = self._restarts[name]
        return len(restarts) < MAX_RESTARTS or self._clock() - restarts[0] >= WITHIN_S

    def _start_again(self, name: str) -> None:
        self._restarts[name].append(self._clock())
        self._say(f"WARNING: {name} ended by itself and is started again; its log is {self._supervisor.log_path(name)}")
        self._supervisor.start_again(name)

    def _do_without(self, name: str, what: str, so: str) -> None:
        """Go on without a program for as long as somebody is there to read of it."""
        log = f"{self._supervisor.log_path(name)} says:\n{self._supervisor.log_tail(name)}"
        if self._is_unattended:
            raise UnavailableError("process_ended", f"{what}; {log}", {"reason": what})
        self._lost.add(name)
        self._say(
            f"WARNING: {what}; {log}\n{so} Everything else goes on. To have it back, press Ctrl-C and start again; the data stays."
        )

    def _tell(self, fault: str | None) -> None:
        if fault != self._complaint:
            self._say(f"WARNING: {fault}" if fault else "All parts answer again.")
        self._complaint = fault


def watch_over(stack: Stack, say: Say = typer.echo, *, is_unattended: bool = False) -> Watch:
    """A watch over all of a stack's programs."""
    return Watch(stack.supervisor, lambda: complaint(stack), say, is_unattended=is_unattended)


def complaint(stack: Stack) -> str | None:
    """Return what `/readyz` reports as away, asked through the stack's own socket; None when all is well."""
    try:
        with own_client(str(stack.socket), timeout_s=10) as client:
            answer = client.get("/readyz")
            return None if answer.is_success else str(answer.json()["message"])
    except httpx.TransportError:
        return "The api does not answer."
