"""Bodies are taken in before anything is decided about them, so their size and time are bounded first of all."""

from __future__ import annotations

import asyncio
import re

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downlink.api.linger import has_body
from downlink.api.problems import problem
from downlink.domain.errors import DeniedError

MAX_BODY_BYTES = 2**20
MAX_HELD_BYTES = 64 * 2**20
TOO_SLOW = "The body did not come in time; send it again."
# These read their bodies piece by piece themselves, after the caller is known, up to limits of their own (api/body.py).
STREAMED = re.compile(
    r"POST /api/v1/imports|PUT /api/v1/agent/runs/[^/]+/traces/.+|POST /api/v1/agent/runs/[^/]+/chunks"
)


class Intake:
    """ASGI middleware: a body of up to 1 MiB is read whole before the application sees the request; a longer one is refused (413).

    One that takes too long is refused as well (408), and all of them together hold at most 64 MiB (503).
    """

    def __init__(self, app: ASGIApp, *, stalled_s: float) -> None:
        self._app = app
        self._stalled_s = stalled_s
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
        elif STREAMED.fullmatch(f"{scope['method']} {scope['path']}"):
            await self._app(scope, _watched(receive, self._stalled_s), send)
        else:
            await self._take(scope, receive, send)

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        held: list[bytes] = []
        try:
            refusal = await self._read(Headers(scope=scope), receive, held)
            await (refusal or _replaying(self._app, b"".join(held)))(scope, receive, send)
        finally:
            self._held_bytes -= sum(map(len, held))

    async def _read(self, headers: Headers, receive: Receive, held: list[bytes]) -> Response | None:
        """Fill `held` with the body; the refusal when it is not taken."""
        announced = headers.get("content-length", "")
        if announced.isdigit() and int(announced) > MAX_BODY_BYTES:
            return _too_large()
        try:
            async with asyncio.timeout(self._stalled_s):
                return await self._collect(receive, held)
        except TimeoutError:
            return problem(408, "body_too_slow", TOO_SLOW)

    async def _collect(self, receive: Receive, held: list[bytes]) -> Response | None:
        size = 0
        while True:
            message = await receive()
            piece = message.get("body", b"")
            size += len(piece)
            if size > MAX_BODY_BYTES:
                return _too_large()
            if self._held_bytes + len(piece) > MAX_HELD_BYTES:
                return problem(503, "busy", "Too much is being sent at once; try again.", headers={"Retry-After": "5"})
            self._held_bytes += len(piece)
            held.append(piece)
            if not message.get("more_body", False):
                return None


def _watched(receive: Receive, stalled_s: float) -> Receive:
    """A body on its way to the application: one that stands still is given up."""
    is_whole = False

    async def receive_in_time() -> Message:
        nonlocal is_whole
        if is_whole:  # what follows is the end of the connection
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), stalled_s)
        except TimeoutError as error:
            raise DeniedError("body_too_slow", TOO_SLOW) from error
        is_whole = not message.get("more_body", False)
        return message

    return receive_in_time


def _replaying(app: ASGIApp, body: bytes) -> ASGIApp:
    """The application, given the body that has been read already."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        is_given = False

        async def replay() -> Message:
            nonlocal is_given
            if is_given:
                return await receive()
            is_given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await app(scope, replay, send)

    return call


def _too_large() -> Response:
    return problem(413, "body_too_large", f"At most {MAX_BODY_BYTES} bytes are accepted here.")
