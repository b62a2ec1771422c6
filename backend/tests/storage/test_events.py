"""The event log loses nothing and repeats nothing, whatever the order in which transactions commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

from downlink.domain.event import EventKind, LiveKind
from downlink.stack.process import Supervisor, wait_until
from downlink.storage import events
from downlink.storage.events import Cursor
from downlink.storage.unit import Unit, UnitFactory, open_units
from tests.fixtures.numbered_postgres import start_postgres_at

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


def test_a_late_commit_is_neither_skipped_nor_repeated(units: UnitFactory) -> None:
    reader = Reader(units)
    with units() as slow:
        events.add_event(slow, NOW, "agent", {"detail": "slow"})
        slow.session.flush()
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        reader.read()
        assert reader.seen == []  # the slow one drew its number first, and may still commit
    assert wait_until(lambda: (reader.read(), len(reader.seen) >= 2)[1], timeout_s=20)
    assert reader.seen == ["slow", "fast"]


def test_a_transaction_that_can_log_nothing_holds_nobody_back(units: UnitFactory) -> None:
    """One of another database of the same PostgreSQL, and one of a role without the right to log."""
    reader = Reader(units)
    elsewhere = create_engine(units.engine.url.set(database="postgres"))
    with elsewhere.connect() as stranger:
        stranger.execute(text("SELECT pg_current_xact_id()"))
        with units() as unit:
            events.add_event(unit, NOW, "agent", {"detail": "one"})
        reader.read()
        assert reader.seen == ["one"]
        with units(is_read_only=True) as unit:
            assert events.hidden_since(unit) is None
    elsewhere.dispose()


def test_what_an_open_transaction_hides_is_known_with_its_time(units: UnitFactory) -> None:
    with units() as slow:
        slow.session.execute(text("SELECT pg_current_xact_id()"))
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        with units(is_read_only=True) as unit:
            assert events.hidden_since(unit) == NOW
    with units(is_read_only=True) as unit:
        assert events.hidden_since(unit) is None


@pytest.fixture(params=[980, 2**32 - 20], ids=["past 999 transactions", "past 2^32 transactions"])
def old_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[int, UnitFactory]]:
    """The last number before the crossing, and units on a server that soon crosses it."""
    with Supervisor(tmp_path / "servers") as supervisor:
        units = open_units(start_postgres_at(tmp_path, supervisor, request.param), WRITERS + 1)
        yield (999 if request.param < 1_000 else 2**32 - 1), units
        units.close()


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "write", "commit", "roll back", "read"]), st.integers(0, WRITERS - 1))
)


def test_no_event_is_skipped_or_repeated_whatever_the_order_of_commits(old_server: tuple[int, UnitFactory]) -> None:
    """Real connections write and commit in any order while the numbers of their transactions cross an edge."""
    last, units = old_server
    places: list[Cursor] = []

    @hypothesis_settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(steps=STEPS)
    def check(steps: list[Step]) -> None:
        reader = Reader(units)
        committed = _carry_out(steps, units, reader)
        # The server's own upkeep may hold readers back for a moment.
        wait_until(lambda: not reader.read() and len(reader.seen) >= len(committed), timeout_s=10)
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
            elif act == "commit":
                sessions[writer].commit()
                committed += held.pop(writer, [])
            elif act == "roll back":
                sessions[writer].rollback()
                held.pop(writer, None)
            else:
                reader.read()
    return committed


def details(units: UnitFactory) -> list[str]:
    """Of all events that can be read now."""
    with units(is_read_only=True) as unit:
        return [entry.data["detail"] for entry in events.after(unit, Cursor(), None, 1_000)]


def test_a_reader_starts_behind_whatever_may_still_commit(units: UnitFactory) -> None:
    with units() as unit:
        events.add_event(unit, NOW, "agent", {"detail": "before"})
    # An older transaction of another database on this server may still hold readers back.
    assert wait_until(lambda: "before" in details(units), timeout_s=20)
    with units() as slow:
        events.add_event(slow, NOW, "agent", {"detail": "under way"})
        slow.session.flush()
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        reader = Reader(units)
    assert wait_until(lambda: (reader.read(), len(reader.seen) >= 2)[1], timeout_s=20)
    assert reader.seen == ["under way", "fast"]


@pytest.mark.parametrize("text", [None, "", "5", "1.2.3", "-1.0", "x.y", "9" * 19 + ".1"])
def test_a_strange_cursor_is_no_cursor(text: str | None) -> None:
    assert Cursor.parse(text) is None


def test_a_cursor_survives_the_wire() -> None:
    assert Cursor.parse(str(Cursor(12, 34))) == Cursor(12, 34)


def test_what_is_logged_is_streamed_but_for_what_is_of_a_run_alone() -> None:
    assert set(get_args(EventKind)) - {"host"} == set(get_args(LiveKind)) - {"hello", "refetch"}
