"""Serve the application with uvicorn, on a port and where wanted on a unix socket as well."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import resource
import socket
from collections.abc import Iterator
from types import FrameType
from typing import Any

import h11
import structlog
import uvicorn
from fastapi import FastAPI
from prometheus_client import start_http_server
from starlette.concurrency import run_in_threadpool
from uvicorn.protocols.http.h11_impl import H11Protocol

from downlink.actions.service import mark_api
from downlink.api.app import create_app
from downlink.domain.errors import UnavailableError
from downlink.process.logs import configure_logs
from downlink.process.settings import Settings

GRACE_S = 5
LOOK_S = 1.0
TICKS_IN_LOOK = 10  # uvicorn's are 0.1 s apart; at each tenth it renews the header `date`
BEAT_TICKS = 20
FULL_COLLECTIONS = 500  # as many partial ones to each; Python's own number is 10
log = structlog.get_logger()


class Server(uvicorn.Server):
    """Marks every two seconds that the api is there, and tells the application when it is asked to stop, so that held polls end at once."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._application = app
        self._mark: asyncio.Task[None] | None = None
        self._is_conducting: bool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_asked = asyncio.Event()

    async def main_loop(self) -> None:
        """Look once a second until asked to stop. uvicorn looks ten times a second, and is the busiest part of an idle api."""
        self._loop = asyncio.get_running_loop()
        for tick in itertools.count(step=TICKS_IN_LOOK):
            if await self.on_tick(tick):
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_asked.wait(), LOOK_S)

    async def on_tick(self, counter: int) -> bool:
        if counter % BEAT_TICKS == 0 and (self._mark is None or self._mark.done()):
            self._mark = asyncio.create_task(run_in_threadpool(self._mark_api))
        if self.should_exit:
            self._application.state.waiting.wake_all()
        return await super().on_tick(counter)

    def _mark_api(self) -> None:
        """Note that the api is alive, with the units that requests use: if these find no connection, agents are not heard either."""
        state = self._application.state
        try:
            with state.units() as unit:
                self._is_conducting = mark_api(unit, state.clock(), self._is_conducting)
        except UnavailableError as error:
            log.warning("api_not_marked", code=error.code)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._application.state.is_stopping = True
        super().handle_exit(sig, frame)
        if self._loop:
            self._loop.call_soon_threadsafe(self._is_asked.set)


def connection_class(stalled_s: float) -> type[H11Protocol]:
    """HTTP/1.1 that cuts off a peer who does not finish the head of its request; uvicorn itself waits for ever."""

    class Connection(H11Protocol):
        _head: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget_head()
            super().connection_lost(exc)

        def _watch_head(self) -> None:
            """One timer from the first byte to the last: a byte now and then does not help."""
            if self.conn.their_state is not h11.IDLE:
                self._forget_head()
            elif self._head is None:
                self._head = self.loop.call_later(stalled_s, self.transport.abort)

        def _forget_head(self) -> None:
            if self._head is not None:
                self._head.cancel()
                self._head = None

    return Connection


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. UnavailableError where it cannot listen."""
    configure_logs(settings)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection for each agent that holds a poll
    app = create_app(settings)
    if settings.metrics_port:
        with _listening(settings.metrics_host, settings.metrics_port, "DOWNLINK_METRICS_"):
            start_http_server(settings.metrics_port, settings.metrics_host, app.state.figures.registry)
    config = uvicorn.Config(
        app,
        http=connection_class(settings.stalled_s),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.forwarded_allow_ips),
        forwarded_allow_ips=settings.forwarded_allow_ips,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=30,
    )
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(_tcp(settings))]
        if settings.uds:
            sockets.append(stack.enter_context(_unix(settings, stack)))
        _collect_rarely()
        Server(config, app).run(sockets)


def _collect_rarely() -> None:
    """Leave what is loaded by now to the end of the process, and look rarely through all that came later.

    Held polls are hundreds of thousands of objects that live long and end by themselves: to look through those of 3,000
    agents stops every answer for half a second, every few seconds by Python's own measure. What dies young is collected as ever.
    """
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, FULL_COLLECTIONS)


def _tcp(settings: Settings) -> socket.socket:
    """A listener whose protocol is named: asyncio sets TCP_NODELAY only then, and without it every answer waits 40 ms for an ACK.

    The kernel ends a connection whose peer takes nothing for that long, a closed window included (tcp(7), TCP_USER_TIMEOUT;
    connections inherit it): asyncio and uvicorn would hold the answer for ever, even after they have closed it.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, settings.stalled_s * 1000)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with _listening(settings.host, settings.port, "DOWNLINK_"):
        listener.bind((settings.host, settings.port))
        listener.listen(2048)
    return listener


@contextlib.contextmanager
def _listening(host: str, port: int, prefix: str) -> Iterator[None]:
    """Listen on the address. Explain a refusal, such as port 80 without the right to it, or an address of another machine."""
    try:
        yield
    except OSError as error:
        why = f"the api cannot listen at {host}, port {port}: {error.strerror}"
        what = f"set {prefix}HOST and {prefix}PORT to an address of this machine and a port that is free"
        raise UnavailableError("cannot_listen", f"{why}; {what}") from error


def _unix(settings: Settings, stack: contextlib.ExitStack) -> socket.socket:
    """A socket for this user alone, in the place of one that an earlier process left."""
    assert settings.uds is not None  # noqa: S101  (the caller has looked)
    settings.uds.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(settings.uds))
    settings.uds.chmod(0o600)
    listener.listen(2048)
    stack.callback(settings.uds.unlink, missing_ok=True)
    return listener
