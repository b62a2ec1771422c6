"""The service's log: one line for each request worth one, and Prometheus figures."""

from __future__ import annotations

import time
from collections.abc import Sequence

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SLOW_S = 1.0
HELD = ("/api/v1/agent/poll", "/api/v1/events")  # long by design
log = structlog.get_logger()


class Figures:
    """Figures that one api process counts itself: requests and chunks. Those of the database: figures.py."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "downlink_requests", "Requests by route and status", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "downlink_request_seconds", "Time to answer, long polls left out", ["route"], registry=self.registry
        )
        self.chunks = Counter("downlink_chunks_stored", "New chunks of samples taken", registry=self.registry)
        self.chunk_bytes = Counter(
            "downlink_chunk_bytes_stored", "Their bytes as they were uploaded", registry=self.registry
        )

    def note_chunks(self, sizes: Sequence[int]) -> None:
        """sizes: of each new chunk, in bytes."""
        self.chunks.inc(len(sizes))
        self.chunk_bytes.inc(sum(sizes))


class Observe:
    """ASGI middleware. The log is quiet: failures and slow answers only, by route, never with a query or a header."""

    def __init__(self, app: ASGIApp, *, figures: Figures) -> None:
        self._app = app
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, is_whole, started = 500, False, time.monotonic()

        async def note_answer(message: Message) -> None:
            nonlocal status, is_whole
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                is_whole = not message.get("more_body", False)
            await send(message)

        try:
            await self._app(scope, receive, note_answer)
        except Exception:
            # Answered and logged by the last of the handlers; half an answer must end with its connection.
            if not is_whole:
                raise
        finally:
            self._note(scope, status, time.monotonic() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self._figures.requests.labels(scope["method"], route, str(status)).inc()
        is_held = scope["path"] in HELD
        if not is_held:
            self._figures.seconds.labels(route).observe(seconds)
        if status >= 500 or (seconds > SLOW_S and not is_held):
            log.warning("request", method=scope["method"], path=scope["path"], status=status, seconds=round(seconds, 3))
