"""An answer that comes before its request is whole, and how it reaches the one who is still sending."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LINGER_S = 5.0


class Linger:
    """ASGI middleware: a connection whose body nobody wants is closed, but not before the answer can have arrived.

    Who closes with bytes unread makes the kernel answer the next ones with a reset (RFC 9112, section 9.6), and the caller,
    or the proxy before the api, may then lose the answer: a 413 becomes a 502. So what still comes is read and thrown away,
    for a few seconds.
    """

    def __init__(self, app: ASGIApp, *, linger_s: float = LINGER_S) -> None:
        self._app = app
        self._linger_s = linger_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
        else:
            exchange = _Exchange(receive, send, self._linger_s)
            await self._app(scope, exchange.receive, exchange.send)


class _Exchange:
    """One request with a body, and its answer."""

    def __init__(self, receive: Receive, send: Send, linger_s: float) -> None:
        self._receive = receive
        self._send = send
        self._linger_s = linger_s
        self._is_whole = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._is_whole = not message.get("more_body", False)  # nothing more comes after the end of a connection either
        return message

    async def send(self, message: Message) -> None:
        if self._is_whole:
            await self._send(message)
        elif message["type"] == "http.response.start":
            MutableHeaders(scope=message)["Connection"] = "close"  # or uvicorn reads on to the end of the body
            await self._send(message)
        elif message.get("more_body", False):
            await self._send(message)
        else:
            await self._send({**message, "more_body": True})
            await self._discard()
            await self._send({"type": "http.response.body"})

    async def _discard(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._linger_s):
                while not self._is_whole:
                    await self.receive()


def has_body(headers: Headers) -> bool:
    """Return whether a request announces a body (RFC 9112, section 6)."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
