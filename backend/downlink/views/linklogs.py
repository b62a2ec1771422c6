"""An emulated link's log of one run, to be drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from downlink.analysis.linklog import drawn_link
from downlink.domain.errors import NotFoundError
from downlink.domain.sample import WAYS
from downlink.storage import runs
from downlink.storage.unit import Unit
from downlink.traces import open_link


def link_course(unit: Unit, run_id: UUID) -> dict[str, Any]:
    """NotFoundError `link_log_not_found` for a run without a sealed log."""
    columns = open_link(unit, runs.get_run(unit, run_id))
    if not columns:
        message = f"Run {run_id} has no log of its link; emulated links that restart for each run have one."
        raise NotFoundError("link_log_not_found", message)
    return {"run_id": run_id, **asdict(drawn_link(columns, WAYS))}
