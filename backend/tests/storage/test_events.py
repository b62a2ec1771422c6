"""The event log loses nothing and repeats nothing, whatever the order in which transactions commit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from downlink.stack.process import wait_until
from downlink.storage import events
from downlink.storage.events import Cursor
from downlink.storage.unit import UnitFactory

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_late_commit_is_neither_skipped_nor_repeated(units: UnitFactory) -> None:
    seen: list[str] = []
    cursor = Cursor()

    def read() -> None:
        nonlocal cursor
        with units(is_read_only=True) as unit:
            for entry in events.after(unit, cursor, None, 10):
                cursor = entry.cursor
                seen.append(entry.data["detail"])

    with units() as slow:
        events.add_event(slow, NOW, "agent", {"detail": "slow"})
        slow.session.flush()
        with units() as fast:
            events.add_event(fast, NOW, "agent", {"detail": "fast"})
        read()
        assert seen == []  # the slow one drew its number first, and may still commit
    # Transactions of other databases on this server hold readers back as well: one before both, one between them.
    assert wait_until(lambda: bool(read() or len(seen) >= 2), timeout_s=20)
    read()
    assert seen == ["slow", "fast"]


@pytest.mark.parametrize("text", [None, "", "5", "1.2.3", "-1.0", "x.y", "9" * 19 + ".1"])
def test_a_strange_cursor_is_no_cursor(text: str | None) -> None:
    assert Cursor.parse(text) is None


def test_a_cursor_survives_the_wire() -> None:
    assert Cursor.parse(str(Cursor(12, 34))) == Cursor(12, 34)
