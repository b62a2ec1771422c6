"""Serve the application with uvicorn, on a port and where wanted on a unix socket as well."""

from __future__ import annotations

import contextlib
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from downlink.api.app import create_app
from downlink.logs import configure_logs
from downlink.settings import Settings

GRACE_S = 5


class Server(uvicorn.Server):
    """Tells the application when it is asked to stop, so that held polls end at once."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._application = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._application.state.is_stopping = True
        super().handle_exit(sig, frame)


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT."""
    configure_logs(settings)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=settings.forwarded_allow_ips,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=30,
    )
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(_tcp(settings.host, settings.port))]
        if settings.uds:
            sockets.append(stack.enter_context(_unix(settings, stack)))
        Server(config, app).run(sockets)


def _tcp(host: str, port: int) -> socket.socket:
    """A listener whose protocol is named: asyncio sets TCP_NODELAY only then, and without it every answer waits 40 ms for an ACK."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(2048)
    return listener


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
