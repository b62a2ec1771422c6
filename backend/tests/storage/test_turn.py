"""Whoever has the turn hears of work that was ordered, and only once it is committed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from downlink.process.settings import Settings
from downlink.storage.advisory_lock import open_units_in_turn, order_work, take_turn, wait_for_order
from downlink.storage.unit import UnitFactory

pytestmark = pytest.mark.timeout(60)
LONG_S = 1_000.0


@pytest.fixture
def turn(settings: Settings, units: UnitFactory) -> Iterator[UnitFactory]:
    in_turn = open_units_in_turn(settings.database, "a test's turn", lambda _jobs: None, never)
    take_turn(in_turn)
    yield in_turn
    in_turn.close()


def never(_seconds: float) -> bool:
    return False


@pytest.fixture
def stop() -> Iterator[tuple[int, int]]:
    """Return a pipe: the wait ends once something is written."""
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_an_order_ends_the_wait_even_one_from_before_it(
    turn: UnitFactory, units: UnitFactory, stop: tuple[int, int]
) -> None:
    with units() as unit:
        order_work(unit)
    with turn() as unit:
        unit.session.execute(text("SELECT 1"))  # the notice arrives with this answer
    wait_for_order(turn, LONG_S, stop[0])


def test_without_an_order_the_wait_ends_with_its_time_or_with_the_process(
    turn: UnitFactory, units: UnitFactory, stop: tuple[int, int]
) -> None:
    began = time.monotonic()
    wait_for_order(turn, 0.3, stop[0])
    assert time.monotonic() - began >= 0.3
    with units() as unit:
        order_work(unit)
        unit.session.rollback()
    os.write(stop[1], b".")
    wait_for_order(turn, LONG_S, stop[0])


def test_a_lost_connection_is_made_again_and_hears_orders(
    turn: UnitFactory, units: UnitFactory, stop: tuple[int, int]
) -> None:
    with turn() as unit:
        mine = unit.session.execute(text("SELECT pg_backend_pid()")).scalar_one()
    with units() as unit:
        unit.session.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": mine})
    wait_for_order(turn, LONG_S, stop[0])  # the end of the connection ends the wait
    take_turn(turn)
    with units() as unit:
        order_work(unit)
    wait_for_order(turn, LONG_S, stop[0])
