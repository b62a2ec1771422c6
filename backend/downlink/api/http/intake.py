"""Bodies are taken in before anything is decided about them, so their size, their time and what one caller holds come first."""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downlink.api.http.linger import has_body
from downlink.api.http.pace import Pace
from downlink.api.http.pot import Held, Pot
from downlink.api.http.problems import answer_to, problem
from downlink.domain.errors import DownlinkError
from downlink.domain.origin import origin_of

MIB = 2**20
MAX_BODY_BYTES = MIB
SMALL_BYTES = 16 * 1024
"""Polls, events, sign-ins: nearly all bodies. They are not refused because others send long ones."""
HELD, PACE = "downlink.held", "downlink.pace"
"""Keys of a request's scope: what its body holds, and the pace of one that the application reads itself."""
# These read their bodies piece by piece themselves, after the caller is known, up to limits of their own (api/body.py).
STREAMED = re.compile(
    r"POST /api/v1/imports|PUT /api/v1/agent/runs/[^/]+/traces/.+|POST /api/v1/agent/runs/[^/]+/chunks"
)
FindCaller = Callable[[Scope], str | None]
"""The account or agent whose credential a request shows, as far as it was confirmed lately; None for strangers."""


class Pots:
    """Room for bodies: of callers who are known and of strangers, of short bodies and of long ones."""

    def __init__(self) -> None:
        self._known = Pot(8 * MIB, MIB // 2, most_open=64), Pot(16 * MIB, 4 * MIB, most_open=8)
        # Many agents, who are strangers until they have been heard once, may come from behind one address.
        self._strange = Pot(4 * MIB, 2 * MIB, most_open=4096), Pot(8 * MIB, 2 * MIB, most_open=8)

    def pick(self, *, is_known: bool, is_small: bool) -> Pot:
        small, large = self._known if is_known else self._strange
        return small if is_small else large

    @property
    def total(self) -> int:
        """Return how many bytes are held."""
        return sum(pot.total for pot in (*self._known, *self._strange))


class Intake:
    """ASGI middleware: a body of up to 1 MiB is read whole before the application sees the request; a longer one is refused (413).

    One that comes too slowly is refused as well (408). All together hold a few MiB, and the caller who holds most makes room (503).
    """

    def __init__(self, app: ASGIApp, *, stalled_s: float, find_caller: FindCaller) -> None:
        self._app = app
        self._stalled_s = stalled_s
        self._find_caller = find_caller
        self.pots = Pots()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif "content-length" in (headers := Headers(scope=scope)) and "transfer-encoding" in headers:
            await _two_lengths()(scope, receive, send)
        elif STREAMED.fullmatch(f"{scope['method']} {scope['path']}"):  # also without a body, which is theirs to refuse
            scope[PACE] = Pace(self._stalled_s)
            await self._app(scope, _paced(receive, scope[PACE]), send)
        elif has_body(headers):
            await self._take(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(self.pots, scope, self._find_caller(scope), Pace(self._stalled_s))
        try:
            refusal = await body.read(receive)
            if refusal is None:
                scope[HELD] = body.held
                await _replaying(self._app, body.pieces)(scope, receive, send)
            else:
                body.give_back()
                await refusal(scope, receive, send)
        finally:
            body.give_back()


class _Body:
    """One body on its way in, and the pot that it is held in: a short one's, until it is longer than that."""

    def __init__(self, pots: Pots, scope: Scope, known: str | None, pace: Pace) -> None:
        client = scope.get("client")
        self._pots = pots
        self._caller = known or origin_of(client[0] if client else "unix")
        self._is_known = known is not None
        self._pace = pace
        announced = Headers(scope=scope).get("content-length", "")
        self._announced = int(announced) if announced.isdigit() else 0
        self.pieces: list[bytes] = []
        self.held: Held | None = None

    async def read(self, receive: Receive) -> Response | None:
        """Read it whole; the refusal when it is not taken."""
        if self._announced > MAX_BODY_BYTES:
            return _too_large()
        try:
            self.held = self._open(self._announced)
            return await self._collect(receive, self.held)
        except DownlinkError as error:
            return answer_to(error)

    def give_back(self) -> None:
        """Keep nothing of it."""
        self.pieces.clear()
        if self.held:
            self.held.give_back()

    async def _collect(self, receive: Receive, held: Held) -> Response | None:
        size = 0
        while True:
            message = await self._pace.receive(receive)
            piece = message.get("body", b"")
            size += len(piece)
            if size > MAX_BODY_BYTES:
                return _too_large()
            if size > SMALL_BYTES >= size - len(piece) and self._announced <= SMALL_BYTES:
                held = self._move(held, size - len(piece))
            held.grow(len(piece))
            self.pieces.append(piece)
            if not message.get("more_body", False):
                held.is_whole = True
                return None

    def _move(self, held: Held, so_far: int) -> Held:
        """Hold it among the long ones: it did not say how long it would be."""
        held.give_back()
        self.held = moved = self._open(SMALL_BYTES + 1)
        moved.grow(so_far)
        return moved

    def _open(self, size: int) -> Held:
        pot = self._pots.pick(is_known=self._is_known, is_small=size <= SMALL_BYTES)
        return pot.open(self._caller, self._pace.give_up)


def _paced(receive: Receive, pace: Pace) -> Receive:
    """A body on its way to the application; what follows its end is the end of the connection, which has no pace."""
    is_whole = False

    async def receive_in_time() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        message = await pace.receive(receive)
        is_whole = not message.get("more_body", False)
        return message

    return receive_in_time


def _replaying(app: ASGIApp, pieces: list[bytes]) -> ASGIApp:
    """The application, given the body that has been read already, once: nothing here keeps it longer."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        is_given = False

        async def replay() -> Message:
            nonlocal is_given
            if is_given:
                return await receive()
            is_given = True
            body = b"".join(pieces)
            pieces.clear()
            return {"type": "http.request", "body": body, "more_body": False}

        await app(scope, replay, send)

    return call


def _two_lengths() -> Response:
    """Refuse, and close: what one reader takes for the body another one takes for the next request (RFC 9112, section 6.1)."""
    sentence = "A request has either Content-Length or Transfer-Encoding."
    return problem(400, "request_unreadable", sentence, headers={"Connection": "close"})


def _too_large() -> Response:
    return problem(413, "body_too_large", f"At most {MAX_BODY_BYTES} bytes are accepted here.")
