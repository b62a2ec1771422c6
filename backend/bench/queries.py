"""Times of an answer's queries alone: the peer of each row whose work is mostly the database's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import Engine, event

from bench.timing import Work, p95, timed_s
from downlink.actions.people import access
from downlink.api.app import create_app
from downlink.process.settings import Settings


@dataclass
class Spent:
    """seconds: from each statement's way to the database until its rows were here."""

    seconds: float = 0.0
    _began: list[float] = field(default_factory=list)

    def begin(self, *_: Any) -> None:
        self._began.append(time.perf_counter())

    def end(self, *_: Any) -> None:
        self.seconds += time.perf_counter() - self._began.pop()


@contextmanager
def in_queries(engine: Engine) -> Iterator[Spent]:
    """Sum up what the block's statements take, those that change rows included."""
    spent = Spent()
    around = {"before_cursor_execute": spent.begin, "after_cursor_execute": spent.end}
    for name, listen in around.items():
        event.listen(engine, name, listen)
    try:
        yield spent
    finally:
        for name, listen in around.items():
            event.remove(engine, name, listen)


@dataclass(frozen=True)
class Query:
    statement: str
    parameters: Any
    is_binary: bool


class Replay:
    """An api in this process, which only says which queries it sends for a path; they are sent again without it."""

    def __init__(self, url: str) -> None:
        settings = Settings(database_url=SecretStr(url))
        app = create_app(settings)
        self._engine: Engine = app.state.units.engine
        token = access.create_token(settings, "bench", ("read",), 1)
        self._client = TestClient(app, headers={"Authorization": f"Bearer {token}"})

    def queries(self, path: str) -> list[Query]:
        """Return the queries of a GET, once everything is kept that the api keeps between requests."""
        self._client.get(path).raise_for_status()
        found: list[Query] = []

        def note(_: Any, __: Any, statement: str, parameters: Any, context: Any, ___: bool) -> None:
            found.append(Query(statement, parameters, bool(context.execution_options.get("is_binary"))))

        event.listen(self._engine, "before_cursor_execute", note)
        try:
            self._client.get(path).raise_for_status()
        finally:
            event.remove(self._engine, "before_cursor_execute", note)
        return found

    @contextmanager
    def sending(self, path: str) -> Iterator[Work]:
        """Yield what sends a path's queries over one connection and fetches all their rows."""
        queries = self.queries(path)
        held = self._engine.raw_connection()
        connection: Any = held.driver_connection

        def send() -> None:
            for each in queries:
                cursor = connection.execute(each.statement, each.parameters, binary=each.is_binary)
                if cursor.description:
                    cursor.fetchall()
            connection.rollback()

        try:
            yield send
        finally:
            held.close()

    def beside(self, ask: Work, path: str, rounds: int) -> tuple[float, float]:
        """The p95 in seconds of an answer, and of its queries alone, in turns."""
        with self.sending(path) as send:
            taken = [(timed_s(ask), timed_s(send)) for _ in range(rounds)]
        return p95([whole for whole, _ in taken]), p95([alone for _, alone in taken])
