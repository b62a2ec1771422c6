"""One commit at the edge; jobs after it, or not at all."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from downlink.domain.errors import UnavailableError
from downlink.domain.people.permission import Role
from downlink.storage.people import access_store
from downlink.storage.unit import Job, UnitFactory, lock, open_units

SUBJECT = UUID(int=1)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_jobs_are_sent_after_the_commit_and_once(units: UnitFactory) -> None:
    sent: list[Job] = []

    def send(jobs: Sequence[Job]) -> None:
        with units() as other:
            assert access_store.has_user(other)  # already visible
        sent.extend(jobs)

    with UnitFactory(units.engine, send)() as unit:
        unit.enqueue("seal", SUBJECT)
        unit.enqueue("seal", SUBJECT)
        access_store.add_user(unit, "anna", "x", Role.ADMIN, NOW)
        assert sent == []
    assert sent == [("seal", SUBJECT)]


def test_a_rollback_drops_rows_and_jobs(units: UnitFactory) -> None:
    sent: list[Job] = []

    def fail() -> None:
        with UnitFactory(units.engine, sent.extend)() as unit:
            access_store.add_user(unit, "anna", "x", Role.ADMIN, NOW)
            unit.enqueue("seal", SUBJECT)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert sent == []
    with units() as unit:
        assert not access_store.has_user(unit)


def test_a_queue_that_is_away_costs_no_commit(units: UnitFactory) -> None:
    def send(_jobs: Sequence[Job]) -> None:
        raise ConnectionError

    with UnitFactory(units.engine, send)() as unit:
        access_store.add_user(unit, "anna", "x", Role.ADMIN, NOW)
        unit.enqueue("seal", SUBJECT)
    with units() as unit:
        assert access_store.has_user(unit)


def test_a_database_that_is_away_says_so() -> None:
    away = open_units("postgresql+psycopg://nobody@127.0.0.1:1/none", 1)
    with pytest.raises(UnavailableError, match="does not answer"), away() as unit:
        access_store.has_user(unit)


def test_a_full_disk_has_its_own_name_and_says_what_to_do(units: UnitFactory) -> None:
    with pytest.raises(UnavailableError, match="disk is full") as caught, units() as unit:
        unit.session.execute(text("DO $$ BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'no space left'; END $$"))
    assert caught.value.code == "disk_full"


def test_errors_do_not_show_what_was_stored(units: UnitFactory) -> None:
    with pytest.raises(IntegrityError) as caught, units() as unit:
        unit.session.execute(
            text("INSERT INTO users (id, username) VALUES (:id, :name)"), {"id": SUBJECT, "name": "hash-of-anna"}
        )
    logged = "".join(traceback.format_exception(caught.value))
    assert "violates not-null constraint" in logged
    assert "hash-of-anna" not in logged


def test_a_deadlock_ends_one_transaction_under_its_own_name_and_is_logged(units: UnitFactory) -> None:
    both_hold_one = Barrier(2)

    def take(first: str, second: str) -> str | None:
        try:
            with units() as unit:
                lock(unit, first)
                both_hold_one.wait(timeout=20)
                lock(unit, second)
        except UnavailableError as error:
            return error.code
        return None

    with capture_logs() as logged, ThreadPoolExecutor(2) as threads:
        ended = list(threads.map(take, ("a", "b"), ("b", "a")))
    assert sorted(ended, key=str) == [None, "database_deadlock"]
    assert [(line["event"], line["sqlstate"]) for line in logged] == [("database_deadlock", "40P01")]
