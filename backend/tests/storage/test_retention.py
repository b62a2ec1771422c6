"""What is too old is forgotten, at whatever second the tick falls; what runs and campaigns did stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, text

from downlink.domain.links.observation import Observation
from downlink.storage import expiry, tables
from downlink.storage.links import observation_store
from downlink.storage.notices.events import add_event
from downlink.storage.people import access_store
from downlink.storage.tables import Audit, Enrolment, Event
from downlink.storage.unit import UnitFactory

NOW = datetime(2026, 3, 1, 12, 0, 59, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("kind", "kept_days", "gone_days"),
    [("host", 89, 91), ("run", 5000, None), ("campaign", 5000, None), ("agent", 0, 1)],
)
def test_events_have_their_time(units: UnitFactory, kind: str, kept_days: int, gone_days: int | None) -> None:
    with units() as unit:
        add_event(unit, NOW - kept_days * DAY, kind, {})
        if gone_days:
            add_event(unit, NOW - gone_days * DAY, kind, {})
        unit.session.flush()
        expiry.prune(unit, NOW)
        assert unit.session.scalars(select(Event.at)).all() == [NOW - kept_days * DAY]


def test_used_and_expired_enrolments_and_old_audit_go(units: UnitFactory) -> None:
    with units() as unit:
        for number, age in enumerate((29, 32)):
            access_store.add_enrolment(unit, bytes([number]), NOW - age * DAY, NOW - age * DAY + timedelta(hours=1))
            unit.session.add(
                Audit(at=NOW - (age + 700) * DAY, actor="admin", actor_kind="user", action=f"{age}", subject="x")
            )
        unit.session.flush()
        expiry.prune(unit, NOW)
        assert unit.session.scalars(select(Enrolment.token_hash)).all() == [b"\0"]
        assert unit.session.scalars(select(Audit.action)).all() == ["29"]


def test_what_was_observed_is_kept_for_two_years(units: UnitFactory) -> None:
    """So much at a time; a quantity of which nothing is left is not listed any more."""

    def seen(quantity: str, *ages_days: float) -> list[Observation]:
        return [Observation(quantity, "dB", "dish", NOW - age * DAY, 1.0) for age in ages_days]

    with units() as unit:
        observation_store.add_observations(
            unit, "leo", [*seen("dish.snr", 900, 800, 731, 729, 1), *seen("dish.old", 800, 799)]
        )
        observation_store.forget(unit, NOW - 730 * DAY, most=2)
        unit.session.expire_all()
        count = select(func.count()).select_from(tables.Observation)
        assert unit.session.scalar(count) == 5
    with units() as unit:
        for minute in (1, 2, 3):
            expiry.prune(unit, NOW + timedelta(minutes=minute))
        unit.session.expire_all()
        (left,) = observation_store.list_quantities(unit, ["leo"])
        assert (left.quantity, left.first_at, left.last_at) == ("dish.snr", NOW - 729 * DAY, NOW - DAY)
        assert unit.session.scalar(count) == 2


def test_what_is_pruned_is_found_by_an_index(units: UnitFactory) -> None:
    with units() as unit:
        unit.session.execute(text("SET LOCAL enable_seqscan = off"))
        query = "EXPLAIN DELETE FROM events WHERE kind IN ('progress', 'agent') AND at < now() - interval '1 hour'"
        plan = "\n".join(unit.session.execute(text(query)).scalars())
    assert "ix_events_pruned" in plan
