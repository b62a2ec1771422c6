"""Held polls and event streams wait in memory: whatever concerns them wakes them, and nothing else costs the database anything."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from sqlalchemy import event, text

from downlink.api.http.waiters import LOG, Waiting, agent_subject
from downlink.api.runs import live
from downlink.api.runs.live import Newest
from downlink.stack.process import wait_until
from downlink.storage.notices import events
from downlink.storage.unit import UnitFactory, open_units
from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent
from tests.storage.test_events import NOW, STEPS, Step, _carry_out, old_log  # noqa: F401 - a fixture

pytestmark = [pytest.mark.verify("stack"), pytest.mark.timeout(120)]


@contextmanager
def held(lab: Lab, agent: ScriptedAgent) -> Iterator[Future[dict[str, Any] | None]]:
    """A poll of the agent, held by the server: there is no order for it now."""
    waiting: Waiting = lab.app.state.waiting
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(agent.poll, 25)
        assert wait_until(lambda: agent_subject(agent.name) in waiting._waiters, timeout_s=20)
        yield poll


def cancel(lab: Lab, run: dict[str, Any]) -> None:
    lab.call("POST", f"/runs/{run['id']}/cancel")


def test_a_lease_reaches_both_ends_while_their_polls_are_held(lab: Lab) -> None:
    client, server = pair(lab)
    lab.launch(**ONE)
    with held(lab, client) as first, held(lab, server) as second:
        lab.tick()
        orders = [first.result(20), second.result(20)]
    assert [order and order["kind"] for order in orders] == ["prepare", "prepare"]


def test_the_start_reaches_the_end_that_was_ready_first(lab: Lab) -> None:
    client, server = pair(lab)
    lab.launch(**ONE)
    lab.tick()
    assert (client.act() or {})["kind"] == "prepare"
    with held(lab, client) as poll:
        server.act()  # gets ready as the second one
        assert (poll.result(20) or {})["kind"] == "go"


def test_the_end_of_a_run_reaches_the_end_that_waits(lab: Lab) -> None:
    client, server = pair(lab)
    run = until(lab, lab.launch(**ONE), [client, server], "preparing")
    waits = next(agent for agent in (client, server) if agent.status == "ready")
    with held(lab, waits) as poll:
        cancel(lab, run)
        assert (poll.result(20) or {})["kind"] == "abort"


def test_a_revoked_agent_is_refused_while_its_poll_is_held(lab: Lab) -> None:
    agent = lab.join("gone")
    known = next(each for each in lab.call("GET", "/agents")["items"] if each["name"] == "gone")
    with held(lab, agent) as poll:
        lab.call("DELETE", f"/agents/{known['id']}")
        with pytest.raises(AssertionError, match="agent_unknown"):
            poll.result(20)


@contextmanager
def statements(units: UnitFactory) -> Iterator[list[str]]:
    """What the units' connections are asked within the block, statements of transactions left out."""
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(units.engine, "before_cursor_execute", note)
    yield asked
    event.remove(units.engine, "before_cursor_execute", note)


def seen_at(lab: Lab) -> Any:
    with lab.units() as unit:
        return unit.session.execute(text("SELECT last_seen_at FROM agents")).scalar_one()


def test_an_agent_that_rests_costs_no_statement_and_is_seen_all_the_same(lab: Lab) -> None:
    agent = lab.join("resting")
    assert wait_until(lambda: lab.app.state.waiting.is_listening, timeout_s=20)

    def costs_nothing() -> bool:
        with statements(lab.app.state.units) as asked:
            assert agent.poll(0.05) is None
        return asked == []

    # The first poll's own notice can come after its end, and rests are written every five seconds: each makes one poll ask.
    assert wait_until(costs_nothing, timeout_s=20)
    before = seen_at(lab)
    lab.wait(20)
    assert wait_until(costs_nothing, timeout_s=20)
    asyncio.run(lab.app.state.resting.write_once(lab.app.state.units, lab.now()))
    assert (seen_at(lab) - before).total_seconds() == pytest.approx(20, abs=5)


@pytest.mark.parametrize(
    "change",
    [{"status": "blocked", "detail": "its journal differs"}, {"detail": "another word"}],
    ids=["status", "detail"],
)
def test_an_agent_that_says_something_new_is_heard(lab: Lab, change: dict[str, Any]) -> None:
    agent = lab.join("resting")
    assert wait_until(lambda: lab.app.state.waiting.is_listening, timeout_s=20)
    agent.poll(0.05)
    agent.says = change
    agent.poll(0.05)
    shown = lab.call("GET", "/agents")["items"][0]
    assert {key: shown[key] for key in change} == change


def test_an_agent_that_was_not_written_for_long_is_written_by_its_poll(lab: Lab) -> None:
    """So that one whose seeing cannot be written in time is never taken for silent."""
    agent = lab.join("resting")
    assert wait_until(lambda: lab.app.state.waiting.is_listening, timeout_s=20)
    agent.poll(0.05)
    before = seen_at(lab)
    lab.wait(31)
    agent.poll(0.05)
    assert (seen_at(lab) - before).total_seconds() == pytest.approx(31, abs=5)


def in_loop(act: Callable[[], Any]) -> None:
    asyncio.run(asyncio.wait_for(act(), 60))


def test_a_broken_connection_is_made_again_and_wakes_everybody(units: UnitFactory, database_url: str) -> None:
    """As when PostgreSQL restarts: what was committed meanwhile, nobody has said."""

    async def check() -> None:
        waiting = Waiting()
        task = asyncio.create_task(waiting.follow(open_units(database_url, 1)))
        mark = waiting.mark()
        assert await waiting.wait(LOG, mark, 20)
        assert waiting.is_listening
        mark = waiting.mark()
        end = text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )
        with units() as unit:
            assert set(unit.session.execute(end).scalars()) == {True}  # an earlier test's may not have gone yet
        assert await waiting.wait(agent_subject("anybody"), mark, 20)
        assert waiting.is_listening
        task.cancel()

    in_loop(check)


class Follower:
    """Follows the log as a stream does, in a loop of its own; only notices and hidden events make it look."""

    def __init__(self, units: UnitFactory) -> None:
        self._units = units
        self.seen: list[str] = []
        self.is_there = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._follow()), daemon=True)
        self._thread.start()
        assert self.is_there.wait(20)

    async def _follow(self) -> None:
        waiting = Waiting()
        newest = Newest(waiting)
        task = asyncio.create_task(waiting.follow(self._units))
        await waiting.wait(LOG, waiting.mark(), 20)
        cursor = await live._read(self._units, events.horizon)
        self.is_there.set()
        while "the end" not in self.seen:
            mark = waiting.mark()
            place = await newest.place(self._units)
            while place > cursor:
                found = await live._read(self._units, lambda unit, after=cursor: events.after(unit, after, None, 3))
                self.seen += [entry.data["detail"] for entry in found]
                cursor = found[-1].cursor if found else place
            await waiting.wait(LOG, mark, newest.pause_s)
        task.cancel()

    def read(self) -> None:
        """It reads by itself."""


def test_a_stream_that_waits_hears_every_event_once(
    old_log: tuple[int, UnitFactory],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Real connections commit in any order, over an edge of transaction numbers; there is no look without a notice."""
    monkeypatch.setattr(live, "LOOK_S", 3600.0)
    _, units = old_log
    follower = Follower(units)
    committed: list[str] = []

    @hypothesis_settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(steps=STEPS)
    def check(steps: list[Step]) -> None:
        committed.extend(_carry_out(steps, units, follower))  # type: ignore[arg-type]
        assert wait_until(lambda: len(follower.seen) >= len(committed), timeout_s=20)
        assert sorted(follower.seen) == sorted(committed)

    check()
    with units() as unit:
        events.add_event(unit, NOW, "agent", {"detail": "the end"})
    follower._thread.join(20)
    assert len(committed) > 10
