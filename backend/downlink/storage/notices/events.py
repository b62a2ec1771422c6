"""The log of what happened.

Transactions commit in another order than they draw numbers, so `id > last seen` would skip late ones. A reader therefore goes by
places, which the database gives out while a transaction commits, and only up to `events_end()`: nothing can appear before it. How
long a transaction is under way makes no difference (docs/decisions/0227).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select, text

from downlink.domain.notices.event import FLEETING, EventKind
from downlink.storage.tables import Event
from downlink.storage.unit import Unit

_END = text("SELECT events_end()")
_SELECT = text("""
    SELECT xact::text, id, kind, data FROM events
    WHERE kind <> 'host' AND (xact, id) > (CAST(:xact AS xid8), :id) AND xact <= CAST(:end AS xid8)
      AND (CAST(:campaign AS uuid) IS NULL OR campaign_id IS NULL OR campaign_id = CAST(:campaign AS uuid))
    ORDER BY events.xact, id LIMIT :limit
""")  # `ORDER BY xact` would sort the text: an output column's name comes before a table's
_NEWEST = text("""
    SELECT xact::text, id FROM events WHERE kind <> 'host' AND xact <= CAST(:end AS xid8)
    ORDER BY events.xact DESC, id DESC LIMIT 1
""")
_IS_HIDDEN = text("SELECT EXISTS (SELECT FROM events WHERE kind <> 'host' AND xact > CAST(:end AS xid8))")
_HIDDEN_SINCE = text("SELECT min(at) FROM events WHERE kind <> 'host' AND xact > CAST(:end AS xid8)")


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A position in the log, written `place.id`."""

    xact: int = 0
    id: int = 0

    @classmethod
    def parse(cls, value: str | None) -> Cursor | None:
        """The cursor a client sends back, or None for nothing that is one."""
        match = re.fullmatch(r"(\d{1,18})\.(\d{1,18})", value or "")
        return cls(int(match[1]), int(match[2])) if match else None

    def __str__(self) -> str:
        return f"{self.xact}.{self.id}"


@dataclass(frozen=True, slots=True)
class Entry:
    cursor: Cursor
    kind: str
    data: dict[str, Any]


def add_event(
    unit: Unit,
    now: datetime,
    kind: EventKind,
    data: Mapping[str, Any],
    campaign_id: UUID | None = None,
    run_id: UUID | None = None,
) -> None:
    """Log an event; ids and empty values need not be in data."""
    full = _full(data, campaign_id, run_id)
    unit.session.add(Event(at=now, kind=kind, data=full, campaign_id=campaign_id, run_id=run_id))


def add_first(unit: Unit, now: datetime, begin: str, rest: str, campaign_id: UUID, run_id: UUID) -> None:
    """Note in a run's record what happened at a host, unless something that begins so is there. Two at once may both be noted."""
    query = select(Event.id).where(Event.run_id == run_id, Event.kind == "host")
    known = query.where(Event.data["detail"].as_string().startswith(begin, autoescape=True))
    if unit.session.scalar(known.limit(1)) is None:
        add_event(unit, now, "host", {"detail": begin + rest}, campaign_id, run_id)


_ADD_RUN_EVENTS = text("""
    INSERT INTO events (at, kind, campaign_id, run_id, data) SELECT :at, 'run', :campaign_id, run_id, CAST(data AS jsonb)
    FROM unnest(CAST(:ids AS uuid[]), CAST(:data AS text[])) AS wanted(run_id, data)
""")


def add_run_events(unit: Unit, now: datetime, data: Mapping[UUID, Mapping[str, Any]], campaign_id: UUID) -> None:
    """Log an event `run` for each of many runs of one campaign, with its data."""
    full = [orjson.dumps(_full(event, campaign_id, run_id)).decode() for run_id, event in data.items()]
    values = {"at": now, "campaign_id": campaign_id, "ids": list(data), "data": full}
    unit.session.execute(_ADD_RUN_EVENTS, values)


def _full(data: Mapping[str, Any], campaign_id: UUID | None, run_id: UUID | None) -> dict[str, Any]:
    ids = {"campaign_id": str(campaign_id) if campaign_id else None, "run_id": str(run_id) if run_id else None}
    return {key: value for key, value in {**ids, **data}.items() if value is not None}


def horizon(unit: Unit) -> Cursor:
    """The position before which nothing can appear later: where a reader starts who wants only what comes from now on."""
    return Cursor(_end(unit) + 1)


def _end(unit: Unit) -> int:
    """The last place that can be read. A statement of its own, before the one that reads: what that sees was committed by then."""
    return int(unit.session.execute(_END).scalar_one())


def newest(unit: Unit) -> tuple[Cursor, bool]:
    """The position of the last event that can be read, and whether that is the last one: no other commit was under way."""
    end = {"end": str(_end(unit))}
    row = unit.session.execute(_NEWEST, end).one_or_none()
    is_hidden = unit.session.execute(_IS_HIDDEN, end).scalar_one()
    return Cursor(int(row[0]), row[1]) if row else Cursor(), not is_hidden


def hidden_since(unit: Unit) -> datetime | None:
    """Return when the first event was logged that a commit under way hides from readers; None if none is hidden."""
    since: datetime | None = unit.session.execute(_HIDDEN_SINCE, {"end": str(_end(unit))}).scalar_one()
    return since


def after(unit: Unit, cursor: Cursor, campaign_id: UUID | None, limit: int) -> list[Entry]:
    """Up to limit events after the cursor, oldest first: all of them, or one campaign's and those of agents."""
    values = {
        "xact": str(cursor.xact),
        "id": cursor.id,
        "end": str(_end(unit)),
        "campaign": campaign_id,
        "limit": limit,
    }
    rows = unit.session.execute(_SELECT, values)
    return [Entry(Cursor(int(xact), id_), kind, data) for xact, id_, kind, data in rows]


def logged_expectations(unit: Unit, run_id: UUID) -> set[int]:
    """Return the expectations, as numbers of the campaign's list, of which it is logged that this run lies outside."""
    query = select(Event.data["expectation"].as_integer()).where(Event.run_id == run_id, Event.kind == "unexpected")
    return set(unit.session.scalars(query))


def run_events(unit: Unit, run_id: UUID) -> Sequence[Event]:
    """A run's record, oldest first."""
    query = select(Event).where(Event.run_id == run_id, Event.kind.not_in(FLEETING)).order_by(Event.id)
    return unit.session.scalars(query).all()
