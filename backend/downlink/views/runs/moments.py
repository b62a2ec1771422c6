"""Events of a run as moments on its clock: charts of its samples mark them with flags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from downlink.analysis.linklog import interruptions
from downlink.domain.traces.sample import WAYS
from downlink.judging.traces import open_link
from downlink.storage.campaigns.annotation_store import annotations_over
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Exit, Run
from downlink.storage.unit import Unit

MOST_MOMENTS = 2_000
"""More than anybody tells apart; the link's log has all of them."""
MOST_NOTED = 50
JUDGED = {"observed_exit": "slow_start_exit", "first_loss": "first_loss"}
"""Detectors that say what the flow itself did."""


@dataclass(frozen=True)
class Moment:
    """kind: `first_byte`, `slow_start_exit`, `first_loss` or `end` of a flow; `outage` or `handover` of a way of its emulated link;
    `annotation` that somebody made.

    at_us, until_us: from the run's zero. What began before the run begins with it here.
    """

    kind: str
    flow: int | None
    way: str | None
    at_us: int
    until_us: int | None
    text: str | None = None


@dataclass(frozen=True)
class RunMoments:
    """moments: by their time. left_out: how many more there are."""

    run_id: UUID
    moments: list[Moment]
    left_out: int


def run_moments(unit: Unit, run_id: UUID) -> RunMoments:
    """NotFoundError `run_not_found` for a run that is not there; of one that did not begin no moments."""
    run = run_store.get_run(unit, run_id)
    found = [*_of_flows(unit, run), *_of_link(unit, run), *_noted(unit, run)]
    found.sort(key=lambda each: (each.at_us, each.kind, each.flow or 0))
    return RunMoments(run_id, found[:MOST_MOMENTS], max(0, len(found) - MOST_MOMENTS))


def _of_flows(unit: Unit, run: Run) -> Iterator[Moment]:
    verdicts = [
        row for row in judgement_store.rows(unit, Exit, [run.id], ("reason", "quantities")) if row.detector in JUDGED
    ]
    for flow in run_store.flows_of(unit, run.id):
        outcome, first_us = flow.sender_outcome, flow.first_byte_us
        if outcome is None or first_us is None:
            continue
        yield Moment("first_byte", flow.flow, None, first_us, None)
        for verdict in verdicts:
            if verdict.flow == flow.flow and verdict.is_decidable and verdict.exit_us is not None:
                yield Moment(JUDGED[verdict.detector], flow.flow, None, first_us + verdict.exit_us, None)
        if outcome.last_byte_us is not None:
            yield Moment("end", flow.flow, None, outcome.last_byte_us, None)


def _of_link(unit: Unit, run: Run) -> Iterator[Moment]:
    columns = open_link(unit, run) if run.link_outcome else {}
    if columns:
        for each in interruptions(columns, WAYS):
            yield Moment(each.kind, None, each.way, each.from_us, each.to_us)


def _noted(unit: Unit, run: Run) -> Iterator[Moment]:
    """Annotations of the campaign and of the link that touch the run."""
    if run.start_at is None or run.ended_at is None:
        return

    def from_zero_us(at: datetime, zero: datetime) -> int:
        return round((at - zero).total_seconds() * 1e6)

    for row in annotations_over(unit, run.campaign_id, [run.link], run.start_at, run.ended_at, MOST_NOTED):
        if row.link in (None, run.link):
            until_us = from_zero_us(row.to_at, run.start_at) if row.to_at and row.to_at <= run.ended_at else None
            yield Moment("annotation", None, None, max(0, from_zero_us(row.from_at, run.start_at)), until_us, row.text)
