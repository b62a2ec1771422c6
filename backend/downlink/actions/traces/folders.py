"""Folders of the trace store: those that no trace needs are removed, and traces move from store to store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from downlink.storage.runs import run_store
from downlink.storage.traces import part_store
from downlink.storage.unit import Unit, UnitFactory

JOB = "remove_folder"


def next_due(unit: Unit, _now: datetime) -> Sequence[UUID]:
    """Return the first folder that is due to be removed; its job sends the next one."""
    folder_id = part_store.next_due(unit)
    return [folder_id] if folder_id else []


def remove_folder(unit: Unit, folder_id: UUID, _now: datetime) -> None:
    """Its record goes first, so that the database can refuse; it comes back when the store does not answer."""
    if url := part_store.take_due(unit, folder_id):
        unit.store.delete_folder(url)
    if following := part_store.next_due(unit):
        unit.enqueue(JOB, following)


def move_traces(units: UnitFactory) -> int:
    """Bring every sealed trace to where this server keeps new ones, a run at a time; how many objects or rows that were."""
    with units() as unit:
        run_ids = part_store.runs_elsewhere(unit)
    moved = 0
    for run_id in run_ids:
        with units() as unit:
            run_store.get_run(unit, run_id, is_locked=True)
            moved += part_store.move_parts(unit, run_id)
    return moved
