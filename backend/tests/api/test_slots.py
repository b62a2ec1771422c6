"""Answers that are computed when they are asked for take turns: nobody who waits in patience is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from downlink.api.http.slots import Turns
from downlink.domain.errors import DeniedError
from tests.fixtures.lab import API, Lab


async def stays() -> bool:
    return False


async def has_gone() -> bool:
    return True


class Work:
    """Answers that last until they are let go; who is at work, in the order of their beginning."""

    def __init__(self, turns: Turns) -> None:
        self.turns, self.begun = turns, list[str]()
        self.ends: dict[str, asyncio.Event] = {}

    def ask(self, caller: str) -> asyncio.Task[None]:
        name = f"{caller}{sum(each.startswith(caller) for each in self.ends)}"
        self.ends[name] = asyncio.Event()
        return asyncio.create_task(self._answer(caller, name))

    async def _answer(self, caller: str, name: str) -> None:
        async with self.turns.take(caller, stays):
            self.begun.append(name)
            await self.ends[name].wait()

    async def settle(self) -> list[str]:
        """Those at work, after everybody has gone as far as they can."""
        for _ in range(100):
            await asyncio.sleep(0)
        return self.begun


def test_more_than_may_be_at_work_wait_for_their_turn_and_get_it() -> None:
    async def story() -> None:
        work = Work(Turns("answers", in_all=3, per_caller=2, waiting=5))
        asked = [work.ask("a") for _ in range(4)]
        assert await work.settle() == ["a0", "a1"], "two of one caller"
        asked += [work.ask("b") for _ in range(2)]
        assert await work.settle() == ["a0", "a1", "b0"], "three in all; a's line holds up nobody else"
        work.ends["a1"].set()
        assert await work.settle() == ["a0", "a1", "b0", "a2"], "the next in line"
        for end in work.ends.values():
            end.set()
        await asyncio.gather(*asked)
        assert sorted(work.begun) == ["a0", "a1", "a2", "a3", "b0", "b1"]

    asyncio.run(story())


def test_a_line_that_is_too_long_is_refused_and_who_gives_up_leaves_it() -> None:
    async def story() -> None:
        work = Work(Turns("answers", in_all=3, per_caller=1, waiting=2))
        held, *waiting = [work.ask("a") for _ in range(3)]
        await work.settle()
        with pytest.raises(DeniedError) as refused:
            await work.ask("a")
        assert refused.value.code == "too_many_open"
        waiting[0].cancel()
        await work.settle()
        third = work.ask("a")
        for end in work.ends.values():
            end.set()
        await asyncio.gather(held, waiting[1], third)

    asyncio.run(story())


def test_nothing_is_computed_for_who_has_gone_while_waiting() -> None:
    async def story() -> None:
        turns = Turns("answers", in_all=1, per_caller=1, waiting=1)
        with pytest.raises(DeniedError) as refused:
            async with turns.take("a", has_gone):
                raise AssertionError("it was computed")
        assert refused.value.code == "caller_gone"
        async with turns.take("a", stays):  # the turn is free again
            pass

    asyncio.run(story())


def test_samples_and_another_baseline_take_a_turn_and_what_is_stored_takes_none(lab: Lab) -> None:
    lab.app.state.computing = Turns("answers", in_all=0, per_caller=0, waiting=0)
    nothing = "00000000-0000-0000-0000-000000000000"

    def code(path: str, status: int) -> Any:
        return lab.call("GET", path.format(nothing), expect=status)["code"]

    assert code("/runs/{}/traces/1/sender/samples", 429) == "too_many_open"
    assert code("/campaigns/{}/statistics?baseline=a", 429) == "too_many_open"
    assert code("/campaigns/{}/statistics", 404) == "campaign_not_found"


def test_visitors_who_open_one_link_at_once_all_get_their_turn(lab: Lab) -> None:
    """Five people in one room, whose page asks for eight answers each."""

    async def story() -> None:
        work = Work(lab.app.state.visitors_computing)
        asked = [work.ask("link") for _ in range(40)]
        assert await work.settle() == ["link0"], "one of a link at a time, so that another link has its turn too"
        for end in work.ends.values():
            end.set()
        await asyncio.gather(*asked)
        assert len(work.begun) == 40

    asyncio.run(story())


@pytest.mark.parametrize(
    ("path", "view", "answer"),
    [
        ("/comparison?side=a", "downlink.api.results.comparison.comparison", {}),
        ("/comparison.csv?side=a", "downlink.api.results.comparison.comparison_csv", [b"a,b"]),
        ("/campaigns/{}/statistics?baseline=a", "downlink.views.results.values.statistics_against", {}),
    ],
)
def test_a_turn_ends_before_the_answer_is_sent_however_slowly_it_is_read(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, path: str, view: str, answer: Any
) -> None:
    lab.app.state.computing = turns = Turns("answers", in_all=1, per_caller=1, waiting=1)
    seen: list[tuple[str, bool]] = []

    def compute(*_: object) -> Any:
        seen.append(("computed", turns.is_free))
        return answer

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            seen.append((message["type"], turns.is_free))
            await send(message)

        await lab.app(scope, receive, sending)

    monkeypatch.setattr(view, compute)
    headers = {"Authorization": f"Bearer {lab.token}"}
    place = API + path.format("00000000-0000-0000-0000-000000000000")
    assert TestClient(watched).get(place, headers=headers).status_code == 200
    assert seen[:2] == [("computed", False), ("http.response.start", True)]
