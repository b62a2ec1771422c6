"""Looks after a running stack: starts a service again that has ended, and says when a part is away."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import httpx
import typer

from downlink.stack.launcher import SERVICES, Stack, start_service

LOOK_EVERY_S = 5.0
MAX_RESTARTS, WITHIN_S = 5, 60.0
Say = Callable[[str], object]


class Watch:
    """`look` is called again and again, about once a second."""

    def __init__(self, stack: Stack, say: Say = typer.echo) -> None:
        self._stack, self._say = stack, say
        self._restarts: deque[float] = deque(maxlen=MAX_RESTARTS)
        self._next_look = time.monotonic() + LOOK_EVERY_S
        self._complaint: str | None = None

    def look(self) -> None:
        """UnavailableError when a server has ended, or a service that ends again and again."""
        for name in self._stack.supervisor.ended():
            self._restart(name)
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + LOOK_EVERY_S
            self._tell(complaint(self._stack))

    def _restart(self, name: str) -> None:
        now = time.monotonic()
        is_hopeless = len(self._restarts) == MAX_RESTARTS and now - self._restarts[0] < WITHIN_S
        if name not in SERVICES or is_hopeless:
            self._stack.supervisor.check()
        self._restarts.append(now)
        self._say(
            f"WARNING: {name} ended by itself and is started again; its log is {self._stack.supervisor.log_path(name)}"
        )
        self._stack.supervisor.stop(name)
        start_service(self._stack.supervisor, self._stack.env, name)

    def _tell(self, found: str | None) -> None:
        if found != self._complaint:
            self._say(f"WARNING: {found}" if found else "All parts answer again.")
        self._complaint = found


def complaint(stack: Stack) -> str | None:
    """What `/readyz` says is away, asked through the stack's own socket; None when all is well."""
    try:
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(stack.socket)), timeout=10) as client:
            answer = client.get("http://api/readyz")
            return None if answer.is_success else str(answer.json()["message"])
    except httpx.TransportError:
        return "The api does not answer."
