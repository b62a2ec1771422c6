"""A file of another tool as a run: sealed traces, flows that say what the file says, and the wish to be analysed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from downlink.actions.runs import progress
from downlink.actions.runs.new_runs import add_run
from downlink.domain.partial import told as partly
from downlink.domain.runs.run import Reason, RunState
from downlink.domain.traces.point import Point
from downlink.importers.packed_test import UNKNOWN, SealedFile, SealedTrace, chunk_sizes
from downlink.storage.notices.events import add_event
from downlink.storage.traces import trace_store
from downlink.storage.unit import Unit

LINK = "imported"


def add_imported_run(
    unit: Unit, campaign_id: UUID, file: SealedFile, condition: str, cycle: int, position: int, now: datetime
) -> UUID:
    """The file's run with everything it holds, wanting analysis."""
    run = add_run(unit, _run(campaign_id, file, condition, cycle, position, now), _flows(file))
    unit.session.flush()
    for trace in file.traces:
        _store(unit, run.id, trace, now)
    detail = f"Imported from {file.name} ({file.source})."
    add_event(unit, now, "run", {"run_state": run.state, "detail": detail}, campaign_id, run.id)
    progress.need(unit, run, "analyse")
    return run.id


def _run(
    campaign_id: UUID, file: SealedFile, condition: str, cycle: int, position: int, now: datetime
) -> dict[str, Any]:
    """Nothing was asked of it: no stop rule and no deadline, and what the link could carry is not known."""
    started_at = file.started_at
    return {
        "campaign_id": campaign_id,
        "link": LINK,
        "condition": condition,
        "cycle": cycle,
        "position": position,
        "state": RunState.UPLOADING,
        "state_at": now,
        "due_at": started_at or now,
        "start_at": started_at,
        "ended_at": started_at and started_at + timedelta(seconds=file.duration_s),
        "released_at": now,
        "stop": {},
        "deadline_s": 0,
        "expected_s": file.duration_s,
        "base_rtt_ms": 0,
        "nominal_rate_bps": None,
        "is_host_wide": False,
        "import_source": _source(file),
        **_verdict(file),
    }


def _source(file: SealedFile) -> dict[str, Any]:
    told = {"file": file.name, "source": file.source, "sha256": file.sha256, "test": file.test}
    about = told | {"summaries": [asdict(each) for each in file.summaries]}
    return about | {"partial": partly(file.left_out)} if file.left_out else about


def _verdict(file: SealedFile) -> dict[str, Any]:
    """Return the columns for the end that the run will have when its test's data is analysed."""
    if file.failure is None:
        return {}
    return {"verdict": RunState.FAILED, "reason": Reason.TEST_FAILED, "detail": f"{file.failure}."}


def _flows(file: SealedFile) -> Iterator[dict[str, Any]]:
    outcomes = {(trace.flow, trace.point): trace.outcome for trace in file.traces}
    starts_s = {trace.flow: trace.start_s for trace in file.traces}
    for number, control in file.controls.items():
        yield {
            "flow": number,
            "sender": file.source,
            "receiver": file.source,
            "asked_cc": control or UNKNOWN,
            "cc_options": {},
            "start_s": starts_s[number],
            "sender_outcome": outcomes.get((number, Point.SENDER)),
            "receiver_outcome": outcomes.get((number, Point.RECEIVER)),
        }


def _store(unit: Unit, run_id: UUID, trace: SealedTrace, now: datetime) -> None:
    chunks = 0
    for parquet, samples in trace.parts:
        sizes = chunk_sizes(samples)
        trace_store.add_part(unit, (run_id, trace.flow, trace.point, chunks), sizes, parquet, now)
        chunks += len(sizes)
    trace_store.add_trace(unit, run_id, trace.flow, trace.point, [], chunks, now)
