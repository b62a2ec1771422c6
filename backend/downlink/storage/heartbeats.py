"""The marks of the processes that must be there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from downlink.domain.watch import API, CONDUCTOR, Pulse, next_pulse, watched_since
from downlink.storage.tables import Heartbeat
from downlink.storage.unit import Unit


def beat(unit: Unit, name: str, now: datetime, pulses: Mapping[str, Pulse] | None = None) -> Pulse:
    """Mark that this process is there now. pulses: those of `find_pulses`, where the caller has them."""
    pulse = next_pulse((find_pulses(unit) if pulses is None else pulses).get(name), now)
    mark = insert(Heartbeat).values(name=name, at=pulse.at, since=pulse.since)
    unit.session.execute(
        mark.on_conflict_do_update(index_elements=["name"], set_={"at": pulse.at, "since": pulse.since})
    )
    return pulse


def is_writable(unit: Unit) -> bool:
    """Return whether the database takes changes: not if an admin has forbidden them, or if it is a standby."""
    return unit.session.scalar(select(func.current_setting("transaction_read_only"))) == "off"


def find_pulse(unit: Unit, name: str) -> Pulse | None:
    return find_pulses(unit).get(name)


def find_watched_since(unit: Unit, now: datetime) -> datetime:
    """Return since when the conductor has ticked and agents could be heard."""
    pulses = find_pulses(unit)
    return watched_since(pulses.get(CONDUCTOR), pulses.get(API), now)


def find_pulses(unit: Unit) -> dict[str, Pulse]:
    """Return every mark by its name."""
    rows = unit.session.execute(select(Heartbeat.name, Heartbeat.at, Heartbeat.since))
    return {name: Pulse(at, since) for name, at, since in rows}


def is_due(unit: Unit, name: str, now: datetime, every: timedelta) -> bool:
    """Return whether this was last done at least `every` ago; then mark it as done now."""
    pulses = find_pulses(unit)
    if not has_elapsed(pulses.get(name), now, every):
        return False
    beat(unit, name, now, pulses)
    return True


def has_elapsed(last: Pulse | None, now: datetime, every: timedelta) -> bool:
    """Return whether so long has passed since the last mark, or the clock was set back behind it."""
    return last is None or not timedelta(0) <= now - last.at < every
