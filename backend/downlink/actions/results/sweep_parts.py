"""Parts of sweeps are sent, again where they were lost, and given up. The conductor needs no more of sweeps than this."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from downlink.storage.notices.events import add_event
from downlink.storage.results import sweep_store
from downlink.storage.tables import Sweep, SweepPart
from downlink.storage.unit import Unit

JOB = "sweep_part"
LANES = 8
"""Parts of a sweep that are sent at a time: more would make the jobs of runs wait behind them."""
RESEND = timedelta(seconds=60)
MAX_TRIES = 5
NEVER_DONE = (
    f"A trace was not finished after {MAX_TRIES} tries of a minute each. Workers may be missing or busy; if the trace fails, "
    "their logs say why. Start the sweep again."
)


def next_due(unit: Unit, now: datetime) -> Sequence[UUID]:
    """Begin sweeps; return their parts to send: those that were lost, and as many new ones as fill each sweep's lanes."""
    due: list[UUID] = []
    for asked in sweep_store.unfinished_sweeps(unit):
        under_way = sweep_store.parts_under_way(unit, asked.id)
        lost = [part for part in under_way if part.sent_at and part.sent_at < now - RESEND]
        if any(part.tries >= MAX_TRIES for part in lost):
            fail(unit, asked, NEVER_DONE, now)
            continue
        if asked.state == "queued":
            asked.state = "running"
            tell(unit, asked, now)
        due += mark_sent([*lost, *sweep_store.unsent_parts(unit, asked.id, LANES - len(under_way))], now)
    return due


def mark_sent(parts: Sequence[SweepPart], now: datetime) -> Sequence[UUID]:
    """Count one more try of each part; return their ids."""
    for part in parts:
        part.sent_at, part.tries = now, part.tries + 1
    return [part.id for part in parts]


def fail(unit: Unit, asked: Sweep, reason: str, now: datetime) -> None:
    asked.state, asked.reason, asked.ended_at = "failed", reason, now
    tell(unit, asked, now)


def tell(unit: Unit, asked: Sweep, now: datetime) -> None:
    done, total = sweep_store.progress(unit, [asked.id])[asked.id]
    data = {"sweep_id": str(asked.id), "state": asked.state, "done": done, "total": total}
    add_event(unit, now, "sweep", data, asked.campaign_id)
    asked.told_at = now
