"""The event log loses nothing and repeats nothing, whatever the order in which transactions commit."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

from downlink.domain.notices.event import EventKind, LiveKind
from downlink.storage.notices import events
from downlink.storage.notices.events import Cursor
from downlink.storage.unit import Unit, UnitFactory
from tests.fixtures.numbered_log import number_log

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WRITERS = 4


class Reader:
    """Follows the log by small batches, as a stream does."""

    def __init__(self, units: UnitFactory) -> None:
        self._units = units
        with units(is_read_only=True) as unit:
            self.cursor = events.horizon(unit)
        self.seen: list[str] = []
        self.places: list[Cursor] = []

    def read(self, limit: int = 3) -> bool:
        """Take the next batch; whether there was one."""
        with self._units(is_read_only=True) as unit:
            found = events.after(unit, self.cursor, None, limit)
        self.seen += [entry.data["detail"] for entry in found]
        self.places += [entry.cursor for entry in found]
        self.cursor = found[-1].cursor if found else self.cursor
        return bool(found)


def test_what_is_under_way_for_long_holds_nobody_back_and_comes_when_it_is_committed(units: UnitFactory) -> None:
    """One that has logged, one that may yet, and a stranger's in another database of the same PostgreSQL."""
    reader = Reader(units)
    elsewhere = create_engine(units.engine.url.set(database="postgres"))
    with elsewhere.connect() as stranger, units() as idle, units() as slow:
        stranger.execute(text("SELECT pg_current_xact_id()"))
        idle.session.execute(text("SELECT pg_current_xact_id()"))
        events.add_event(slow, NOW, "agent", {"detail": "slow"})
        slow.session.flush()
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        reader.read()
        assert reader.seen == ["fast"]
        with units(is_read_only=True) as unit:
            assert events.hidden_since(unit) is None
        events.add_event(idle, NOW, "agent", {"detail": "idle"})
    elsewhere.dispose()
    while reader.read():
        pass
    assert reader.seen == ["fast", "slow", "idle"]


COMMITTING = "SET CONSTRAINTS ALL IMMEDIATE"
"""What a commit begins with: places are given."""


def test_what_a_commit_under_way_hides_is_known_with_its_time(units: UnitFactory) -> None:
    reader = Reader(units)
    with units() as slow:
        events.add_event(slow, NOW, "agent", {"detail": "slow"})
        slow.session.flush()
        slow.session.execute(text(COMMITTING))
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        assert not reader.read(), "the slow one has the lower place, and may still commit"
        with units(is_read_only=True) as unit:
            assert events.hidden_since(unit) == NOW
            assert not events.newest(unit)[1]
    assert reader.read()
    assert reader.seen == ["slow", "fast"]
    with units(is_read_only=True) as unit:
        assert events.hidden_since(unit) is None


def test_a_commit_that_is_rolled_back_hides_nothing(units: UnitFactory) -> None:
    reader = Reader(units)
    with Session(units.engine) as session:
        events.add_event(Unit(session), NOW, "agent", {"detail": "never"})
        session.flush()
        session.execute(text(COMMITTING))
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        assert not reader.read()
        session.rollback()
    assert reader.read()
    assert reader.seen == ["fast"]


@pytest.fixture(params=[980, 2**31 - 20, 2**32 - 20], ids=["past 999", "past 2^31", "past 2^32"])
def old_log(request: pytest.FixtureRequest, units: UnitFactory) -> tuple[int, UnitFactory]:
    """The last place before the crossing, and units whose log soon crosses it."""
    number_log(units, request.param)
    return (999 if request.param < 1_000 else request.param + 19), units


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "begin commit", "commit", "roll back", "read"]), st.integers(0, WRITERS - 1)
    )
)


def test_no_event_is_skipped_or_repeated_whatever_the_order_of_commits(old_log: tuple[int, UnitFactory]) -> None:
    """Real connections write and commit in any order while the places in the log cross an edge."""
    last, units = old_log
    places: list[Cursor] = []

    @hypothesis_settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(steps=STEPS)
    def check(steps: list[Step]) -> None:
        reader = Reader(units)
        committed = _carry_out(steps, units, reader)
        while reader.read():
            pass
        assert sorted(reader.seen) == sorted(committed)  # each once
        assert reader.places == sorted(reader.places)
        places.extend(reader.places)

    check()
    assert min(place.xact for place in places) <= last < max(place.xact for place in places)


def _carry_out(steps: list[Step], units: UnitFactory, reader: Reader) -> list[str]:
    """What was committed in the end."""
    held: dict[int, list[str]] = {}
    committed: list[str] = []
    with ExitStack() as stack:
        sessions = [stack.enter_context(Session(units.engine)) for _ in range(WRITERS)]
        for number, (act, writer) in enumerate([*steps, *(("commit", each) for each in range(WRITERS))]):
            if act == "write":
                events.add_event(Unit(sessions[writer]), NOW, "agent", {"detail": f"{number}"})
                sessions[writer].flush()
                held.setdefault(writer, []).append(f"{number}")
            elif act == "begin commit":
                sessions[writer].execute(text(COMMITTING))
            elif act == "commit":
                sessions[writer].commit()
                committed += held.pop(writer, [])
            elif act == "roll back":
                sessions[writer].rollback()
                held.pop(writer, None)
            else:
                reader.read()
    return committed


def test_a_reader_starts_behind_whatever_may_still_commit(units: UnitFactory) -> None:
    with units() as slow:
        events.add_event(slow, NOW, "agent", {"detail": "under way"})
        slow.session.flush()
        slow.session.execute(text(COMMITTING))
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        reader = Reader(units)
    reader.read()
    assert reader.seen == ["under way", "fast"]


@pytest.mark.parametrize("text", [None, "", "5", "1.2.3", "-1.0", "x.y", "9" * 19 + ".1"])
def test_a_strange_cursor_is_no_cursor(text: str | None) -> None:
    assert Cursor.parse(text) is None


def test_a_cursor_survives_the_wire() -> None:
    assert Cursor.parse(str(Cursor(12, 34))) == Cursor(12, 34)


def test_what_is_logged_is_streamed_but_for_what_is_of_a_run_alone() -> None:
    assert set(get_args(EventKind)) - {"host"} == set(get_args(LiveKind)) - {"hello", "refetch"}
