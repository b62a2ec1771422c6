"""Bodies on their way in: others are served while some are held back, from whatever address and with whatever credential."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from starlette.types import Message

from downlink.api.http.intake import MIB, Intake
from downlink.api.http.pace import LEAST_BYTES_S, Pace
from downlink.domain.errors import DownlinkError
from downlink.domain.fleet.agent import PROTOCOL
from tests.fixtures.lab import API, Lab

STRANGER = "198.51.100.7"


class Sender:
    """A request to the application whose body comes as far as it is let."""

    def __init__(self, lab: Lab, path: str, announced: int, *, address: str = STRANGER, secret: str = "") -> None:
        headers = {"host": "downlink", "content-type": "application/json", "content-length": str(announced)}
        headers |= {"authorization": f"Bearer {secret}"} if secret else {}
        self.scope: dict[str, Any] = {
            "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": API + path, "raw_path": b"",
            "query_string": b"", "root_path": "", "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
            "client": (address, 40000), "server": ("downlink", 80), "state": {},
        }  # fmt: skip
        self._lab = lab
        self._pieces: asyncio.Queue[Message] = asyncio.Queue()
        self.answer: list[Message] = []
        self.task = asyncio.create_task(self._lab.app(self.scope, self._pieces.get, self._send))

    async def _send(self, message: Message) -> None:
        self.answer.append(message)

    def send(self, body: bytes, *, is_last: bool = False) -> None:
        self._pieces.put_nowait({"type": "http.request", "body": body, "more_body": not is_last})

    async def status(self) -> int:
        await asyncio.wait_for(self.task, 30)
        return int(self.answer[0]["status"])

    def leave(self) -> None:
        self._pieces.put_nowait({"type": "http.disconnect"})
        self.task.cancel()


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def whole(lab: Lab, path: str, body: Any, secret: str, address: str = "203.0.113.5") -> int:
    text = json.dumps(body).encode()
    sender = Sender(lab, path, len(text), secret=secret, address=address)
    sender.send(text, is_last=True)
    return await sender.status()


def run(lab: Lab, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    lab.client.get("/healthz")  # makes the middleware
    asyncio.run(story())


@pytest.fixture
def poll(lab: Lab) -> tuple[dict[str, Any], str]:
    """The poll of an agent that has been heard before, and its secret."""
    agent = lab.join("client")
    agent.act()
    body = {
        "protocol": PROTOCOL,
        "status": "idle",
        "run_id": None,
        "detail": None,
        "progress": None,
        "spool": [],
        "host": None,
        "wait_s": 0,
    }
    return body, agent.secret


def test_half_sent_bodies_of_strangers_shut_nobody_out(lab: Lab, poll: tuple[dict[str, Any], str]) -> None:
    """Half sent by one host, by a network of IPv6, by many hosts, with invented credentials: a poll, a link and a sign-in come through."""
    body, secret = poll

    async def story() -> None:
        held = [
            Sender(lab, "/login", MIB, address=address, secret=invented)
            for number in range(66)
            for address, invented in (
                (STRANGER, ""),
                (f"2001:db8::{number:x}", ""),
                (f"203.0.113.{number}", f"dlk_invented{number}"),
            )
        ]
        for each in held:
            each.send(b"x" * (MIB - 1))
            await settle()
        for _ in range(4):
            assert await whole(lab, "/agent/poll", body, secret) == 200
            assert await whole(lab, "/shares/open", {"secret": "dls_none"}, "", address=STRANGER) in (401, 404, 422)
            assert await whole(lab, "/campaigns/preview", {"source": "# " + "x" * 60_000}, lab.token) == 422
            assert await whole(lab, "/login", {"username": "a", "password": "b"}, "", address=STRANGER) in (401, 429)
        for each in held:
            each.leave()
        await asyncio.gather(*(each.task for each in held), return_exceptions=True)

    run(lab, story)


def test_short_bodies_that_never_end_shut_nobody_out(lab: Lab, poll: tuple[dict[str, Any], str]) -> None:
    body, secret = poll

    async def story() -> None:
        held = [Sender(lab, "/login", 16_000) for _ in range(600)]
        for each in held:
            each.send(b"x" * 15_999)
        await settle()
        assert await whole(lab, "/agent/poll", body, secret) == 200
        assert await whole(lab, "/login", {"username": "a", "password": "b"}, "", address=STRANGER) in (401, 429)
        refused = [each for each in held if each.answer]
        assert len(refused) > 400
        assert {each.answer[0]["status"] for each in refused} == {503}
        for each in held:
            each.leave()
        await asyncio.gather(*(each.task for each in held), return_exceptions=True)

    run(lab, story)


def test_bodies_are_given_back_whatever_becomes_of_them(lab: Lab) -> None:
    async def story() -> None:
        intake = find_intake(lab)
        for length, sent in ((10, b"{}"), (2 * MIB, b""), (MIB, b"x" * (MIB - 1))):
            sender = Sender(lab, "/login", length)
            sender.send(sent)
            await settle()
            sender.leave()
            await asyncio.gather(sender.task, return_exceptions=True)
        assert await whole(lab, "/login", {"username": "a", "password": "b"}, "") == 401
        assert intake.pots.total == 0

    run(lab, story)


def find_intake(lab: Lab) -> Intake:
    app: Any = lab.app.middleware_stack
    while not isinstance(app, Intake):
        app = next(value for name, value in vars(app).items() if name in ("app", "_app"))
    return app


def test_a_body_must_come_with_a_least_speed() -> None:
    """By a clock of its own: a second more for each LEAST_BYTES_S, and no pause beyond the limit."""

    async def story() -> None:
        loop = asyncio.get_running_loop()
        began_s, passed_s = loop.time(), 0.0
        loop.time = lambda: began_s + passed_s  # type: ignore[method-assign]

        async def piece(after_s: float, size: int) -> None:
            async def receive() -> Message:
                nonlocal passed_s
                passed_s += after_s
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                return {"type": "http.request", "body": bytes(size), "more_body": True}

            await pace.receive(receive)

        pace = Pace(stalled_s=10)
        for _ in range(100):
            await piece(9, 9 * LEAST_BYTES_S)  # slow, and fast enough
        with pytest.raises(DownlinkError) as refused:
            await piece(11, LEAST_BYTES_S)
        assert refused.value.code == "body_too_slow"
        pace = Pace(stalled_s=10)
        for _ in range(10):
            await piece(1, 1)  # a byte now and then
        with pytest.raises(DownlinkError):
            await piece(1, 1)

    asyncio.run(story())
