"""The marks of the processes that must be there."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from downlink.domain.watch import API, CONDUCTOR, Pulse, next_pulse, watched_since
from downlink.storage.tables import Heartbeat
from downlink.storage.unit import Unit


def beat(unit: Unit, name: str, now: datetime) -> Pulse:
    """Mark that this process is there now."""
    pulse = next_pulse(find_pulse(unit, name), now)
    mark = insert(Heartbeat).values(name=name, at=pulse.at, since=pulse.since)
    unit.session.execute(
        mark.on_conflict_do_update(index_elements=["name"], set_={"at": pulse.at, "since": pulse.since})
    )
    return pulse


def is_writable(unit: Unit) -> bool:
    """Return whether the database takes changes: not if an admin has forbidden them, or if it is a standby."""
    return unit.session.scalar(select(func.current_setting("transaction_read_only"))) == "off"


def find_pulse(unit: Unit, name: str) -> Pulse | None:
    return _pulses(unit).get(name)


def find_watched_since(unit: Unit, now: datetime) -> datetime:
    """Return since when the conductor has ticked and agents could be heard."""
    pulses = _pulses(unit)
    return watched_since(pulses.get(CONDUCTOR), pulses.get(API), now)


def _pulses(unit: Unit) -> dict[str, Pulse]:
    rows = unit.session.execute(select(Heartbeat.name, Heartbeat.at, Heartbeat.since))
    return {name: Pulse(at, since) for name, at, since in rows}


def is_due(unit: Unit, name: str, now: datetime, every: timedelta) -> bool:
    """Return whether this was last done at least `every` ago; then mark it as done now."""
    last = find_pulse(unit, name)
    if last is not None and timedelta(0) <= now - last.at < every:
        return False
    beat(unit, name, now)
    return True
