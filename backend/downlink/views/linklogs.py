"""An emulated link's log of one run, to be drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from downlink.analysis.linklog import drawn_link, hop_log, queueing
from downlink.domain.errors import NotFoundError
from downlink.domain.sample import WAYS
from downlink.storage import campaigns, runs
from downlink.storage.unit import Unit
from downlink.traces import open_link


def link_course(unit: Unit, run_id: UUID) -> dict[str, Any]:
    """NotFoundError `link_log_not_found` for a run without a sealed log."""
    run = runs.get_run(unit, run_id)
    columns = open_link(unit, run)
    if not columns:
        message = f"Run {run_id} has no log of its link; emulated links that restart for each run have one."
        raise NotFoundError("link_log_not_found", message)
    drawn = drawn_link(columns, WAYS)
    phases = campaigns.campaign_of(campaigns.find_campaign(unit, run.campaign_id)).phases
    end_s = run.stop.get("seconds") or drawn.end_s
    hop, waiting = hop_log(columns, 0), columns["down_waiting_bytes"]
    windows = {"startup": (0.0, phases.startup_s), "steady": (end_s - phases.steady_s, end_s), "overall": (0.0, end_s)}
    waits = {name: asdict(queueing(hop, waiting, *window)) for name, window in windows.items()}
    return {"run_id": run_id, **asdict(drawn), "queueing": waits}
