"""Answers that are computed when they are asked for take turns: nobody who waits in patience is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from downlink.api.slots import Turns
from downlink.domain.errors import DeniedError
from tests.fixtures.lab import Lab


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
        work = Work(Turns(in_all=3, per_caller=2, waiting=5))
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
        work = Work(Turns(in_all=3, per_caller=1, waiting=2))
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
        turns = Turns(in_all=1, per_caller=1, waiting=1)
        with pytest.raises(DeniedError) as refused:
            async with turns.take("a", has_gone):
                raise AssertionError("it was computed")
        assert refused.value.code == "caller_gone"
        async with turns.take("a", stays):  # the turn is free again
            pass

    asyncio.run(story())


def test_samples_and_another_baseline_take_a_turn_and_what_is_stored_takes_none(lab: Lab) -> None:
    lab.app.state.computing = Turns(in_all=0, per_caller=0, waiting=0)
    nothing = "00000000-0000-0000-0000-000000000000"

    def code(path: str, status: int) -> Any:
        return lab.call("GET", path.format(nothing), expect=status)["code"]

    assert code("/runs/{}/traces/1/sender/samples", 429) == "too_many_open"
    assert code("/campaigns/{}/statistics?baseline=a", 429) == "too_many_open"
    assert code("/campaigns/{}/statistics", 404) == "campaign_not_found"
