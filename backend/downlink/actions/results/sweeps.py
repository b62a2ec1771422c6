"""A detector swept over its parameters, on every decidable trace of a campaign: each trace is a job, so that all workers share it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from downlink.actions.campaigns.retention import refuse_without_traces
from downlink.actions.results import sweep_parts
from downlink.analysis.exits.outcomes import Timing
from downlink.analysis.exits.sweep import Outcome, combinations, parameter_sets, rates, sweep
from downlink.domain.errors import ConflictError, InvalidError
from downlink.judging.traces import open_flow
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import sweep_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Sweep, SweepPart
from downlink.storage.unit import Unit

Grid = Mapping[str, Sequence[float]]
TELL_EVERY = timedelta(seconds=1)
UNDECIDABLE = "-"
LETTERS = {timing: timing.value[0] for timing in Timing}
TIMINGS = {letter: timing for timing, letter in LETTERS.items()}


def create_sweep(unit: Unit, campaign_id: UUID, detector: str, version: str, values: Grid, now: datetime) -> Sweep:
    """Ask for a sweep; the tick begins it. InvalidError for a grid that cannot be, ConflictError where no trace can decide."""
    campaign_store.find_campaign(unit, campaign_id)
    parameter_sets(detector, version, values)
    refuse_without_traces(unit, campaign_id, "no detector can be replayed over it")
    flows = sweep_store.decidable_flows(unit, campaign_id, detector, version)
    if not flows:
        raise ConflictError("nothing_decidable", _why_nothing(detector, version))
    asked = {name: list(each) for name, each in values.items()}
    made = Sweep(
        campaign_id=campaign_id, detector=detector, version=version, grid=asked, state="queued", created_at=now
    )
    sweep_store.add_sweep(unit, made, flows)
    sweep_parts.tell(unit, made, now)
    return made


def sweep_part(unit: Unit, part_id: UUID, now: datetime) -> None:
    """Sweep one trace, store what came out, and send the next one. Safe to run twice: the lock comes after the computing."""
    part = sweep_store.get_part(unit, part_id)
    asked = sweep_store.get_sweep(unit, part.sweep_id)
    if part.timings is not None or asked.state != "running":
        return
    try:
        outcomes = _outcomes(unit, part, asked)
    except InvalidError as error:
        sweep_parts.fail(unit, sweep_store.get_sweep(unit, asked.id, is_locked=True), _refusal(part, error), now)
        return
    asked, part = sweep_store.get_sweep(unit, asked.id, is_locked=True), sweep_store.get_part(unit, part_id)
    if part.timings is None and asked.state == "running":
        part.timings = "".join(UNDECIDABLE if each.timing is None else LETTERS[each.timing] for each in outcomes)
        part.headrooms_us = [each.hr_us for each in outcomes]
        _go_on(unit, asked, now)


def _go_on(unit: Unit, asked: Sweep, now: datetime) -> None:
    """The next part, or after the last one the result. The sweep is locked."""
    done, total = sweep_store.progress(unit, [asked.id])[asked.id]
    if done == total:
        asked.cells = list(_cells(asked, sweep_store.done_parts(unit, asked.id)))
        asked.state, asked.ended_at = "complete", now
    else:
        for part_id in sweep_parts.mark_sent(sweep_store.unsent_parts(unit, asked.id, 1), now):
            unit.enqueue(sweep_parts.JOB, part_id)
    if done == total or asked.told_at is None or now - asked.told_at >= TELL_EVERY:
        sweep_parts.tell(unit, asked, now)


def _outcomes(unit: Unit, part: SweepPart, asked: Sweep) -> list[Outcome]:
    flow = next(each for each in run_store.flows_of(unit, part.run_id) if each.flow == part.flow)
    trace = open_flow(unit, run_store.get_run(unit, part.run_id), flow)
    return sweep(trace.acks, parameter_sets(asked.detector, asked.version, asked.grid), trace.rate)


def _cells(asked: Sweep, parts: Sequence[SweepPart]) -> Iterator[dict[str, Any]]:
    """One for each combination: what it did over all traces."""
    for rank, parameters in enumerate(combinations(asked.grid)):
        outcomes = [_outcome(part, rank) for part in parts]
        estimates = rates(outcomes)
        shares = {kind.value: asdict(share) for kind, share in estimates.shares.items()} if estimates.n else None
        yield {"parameters": parameters, "n": estimates.n, "shares": shares, "headroom_s": estimates.hr_s}


def _outcome(part: SweepPart, rank: int) -> Outcome:
    letter = (part.timings or "")[rank]
    return Outcome(None, (part.headrooms_us or [])[rank], TIMINGS.get(letter))


def _refusal(part: SweepPart, error: InvalidError) -> str:
    return f"Flow {part.flow} of run {part.run_id} cannot be swept: {error.message}"


def _why_nothing(detector: str, version: str) -> str:
    need = (
        "HyStart needs every ACK: measure with `sampling: per_ack`."
        if detector == "hystart"
        else "SEARCH needs a complete run whose sender was sampled at least ten times within each of its bins."
    )
    return f"No complete run of this campaign has a trace on which {detector} {version} can decide. {need}"
