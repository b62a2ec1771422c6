"""Events of a run as moments on its clock: charts of its samples mark them with flags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from downlink.analysis.linklog import interruptions
from downlink.domain.doc import Doc
from downlink.domain.traces.sample import WayName
from downlink.judging.traces import open_link
from downlink.storage.campaigns.annotation_store import annotations_over
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Exit, Run
from downlink.storage.unit import Unit

MomentKind = Literal["first_byte", "slow_start_exit", "first_loss", "end", "outage", "handover", "annotation"]
MOST_MOMENTS = 2_000
"""Moments at most, more than anybody tells apart; the link's log has all of them."""
MOST_NOTED = 50
JUDGED: dict[str, MomentKind] = {"observed_exit": "slow_start_exit", "first_loss": "first_loss"}
"""Detectors that say what the flow itself did."""


@dataclass(frozen=True)
class RunMoment:
    kind: MomentKind
    flow: Annotated[int | None, Doc("Null for what the link did, and for an annotation")]
    way: Annotated[WayName | None, Doc("Of the link; null for all else")]
    at_us: Annotated[int, Doc("From the run's zero")]
    until_us: Annotated[int | None, Doc("The end of an outage, a handover gap or an annotation, within the run")]
    text: Annotated[str | None, Doc("Of an annotation")]


@dataclass(frozen=True)
class RunMoments:
    run_id: UUID
    moments: list[RunMoment]
    left_out: Annotated[int, Doc("How many more there are, after these")]


def run_moments(unit: Unit, run_id: UUID) -> RunMoments:
    """NotFoundError `run_not_found` for a run that is not there; of one that did not begin no moments."""
    run = run_store.get_run(unit, run_id)
    moments = [*_of_flows(unit, run), *_of_link(unit, run), *_noted(unit, run)]
    moments.sort(key=lambda each: (each.at_us, each.kind, each.flow or 0))
    return RunMoments(run_id, moments[:MOST_MOMENTS], max(0, len(moments) - MOST_MOMENTS))


def _of_flows(unit: Unit, run: Run) -> Iterator[RunMoment]:
    verdicts = [
        row for row in judgement_store.rows(unit, Exit, [run.id], ("reason", "quantities")) if row.detector in JUDGED
    ]
    for flow in run_store.flows_of(unit, run.id):
        outcome, first_us = flow.sender_outcome, flow.first_byte_us
        if outcome is None or first_us is None:
            continue
        yield RunMoment("first_byte", flow.flow, None, first_us, None, None)
        for verdict in verdicts:
            if verdict.flow == flow.flow and verdict.is_decidable and verdict.exit_us is not None:
                yield RunMoment(JUDGED[verdict.detector], flow.flow, None, first_us + verdict.exit_us, None, None)
        if outcome.last_byte_us is not None:
            yield RunMoment("end", flow.flow, None, outcome.last_byte_us, None, None)


def _of_link(unit: Unit, run: Run) -> Iterator[RunMoment]:
    columns = open_link(unit, run) if run.link_outcome else {}
    if columns:
        for each in interruptions(columns):
            yield RunMoment(each.kind, None, each.way, each.from_us, each.to_us, None)


def _noted(unit: Unit, run: Run) -> Iterator[RunMoment]:
    """Annotations of the campaign and of the link that touch the run."""
    if run.start_at is None or run.ended_at is None:
        return

    def from_zero_us(at: datetime, zero: datetime) -> int:
        return round((at - zero).total_seconds() * 1e6)

    for row in annotations_over(unit, run.campaign_id, [run.link], run.start_at, run.ended_at, MOST_NOTED):
        if row.link in (None, run.link):
            until_us = from_zero_us(row.to_at, run.start_at) if row.to_at and row.to_at <= run.ended_at else None
            yield RunMoment(
                "annotation", None, None, max(0, from_zero_us(row.from_at, run.start_at)), until_us, row.text
            )
