"""An emulated link's log of one run, to be drawn, and what was judged by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any
from uuid import UUID

from downlink.analysis.linklog import drawn_link
from downlink.domain.errors import NotFoundError
from downlink.domain.results.metric import LINKED, LOST
from downlink.domain.traces.sample import WAYS
from downlink.judging.traces import open_link
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_store
from downlink.storage.tables import FlowLoss, LinkPhase
from downlink.storage.unit import Unit


def link_course(unit: Unit, run_id: UUID) -> dict[str, Any]:
    """`phases`: by phase, empty until the run is analysed. NotFoundError `link_log_not_found` for a run without a sealed log."""
    columns = open_link(unit, run_store.get_run(unit, run_id))
    if not columns:
        message = f"Run {run_id} has no log of its link; emulated links that restart for each run have one."
        raise NotFoundError("link_log_not_found", message)
    phases = {row.phase: _values(row, LINKED) for row in judgement_store.rows(unit, LinkPhase, [run_id])}
    flows = [{"flow": row.flow, **_values(row, LOST)} for row in judgement_store.rows(unit, FlowLoss, [run_id])]
    return {"run_id": run_id, **asdict(drawn_link(columns, WAYS)), "phases": phases, "flows": flows}


def _values(row: object, names: Iterable[str]) -> dict[str, float | None]:
    return {name: getattr(row, name) for name in names}
