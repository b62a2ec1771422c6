"""An emulated link's log of one run, to be drawn, and what was judged by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from downlink.analysis.linklog import LinkWays, drawn_link
from downlink.domain.doc import Doc
from downlink.domain.errors import NotFoundError
from downlink.domain.results.metric import LINKED, LOST
from downlink.judging.traces import open_link
from downlink.storage import tables
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_store
from downlink.storage.unit import Unit
from downlink.views.shapes import fill, with_listed


@with_listed(LINKED, float | None)
@dataclass(frozen=True)
class LinkPhase:
    """The link's activity in a phase, on the way to the receiver. Null where its log does not cover the phase."""


@with_listed(LOST, float | None)
@dataclass(frozen=True)
class FlowLoss:
    """The link's losses of a flow on the way to its receiver. Null for a flow that the link did not count."""

    flow: int


@dataclass(frozen=True)
class LinkCourse:
    """An emulated link's log, thinned for a plot: no peak of the queue and no loss is left out."""

    run_id: UUID
    time_s: Annotated[list[float], Doc("Where each step begins, from the run's zero")]
    end_s: float
    path_changes_s: Annotated[
        list[float], Doc("When another path through satellites began, from the run's zero; none for a link without one")
    ]
    ways: LinkWays
    phases: Annotated[dict[str, LinkPhase], Doc("By phase or window; empty until the run is analysed by this version")]
    flows: Annotated[list[FlowLoss], Doc("Empty where the log broke off: not everything was counted")]


def link_course(unit: Unit, run_id: UUID) -> LinkCourse:
    """`phases`: by phase, empty until the run is analysed. NotFoundError `link_log_not_found` for a run without a sealed log."""
    columns = open_link(unit, run_store.get_run(unit, run_id))
    if not columns:
        message = f"Run {run_id} has no log of its link; emulated links that restart for each run have one."
        raise NotFoundError("link_log_not_found", message)
    phases = {
        row.phase: fill(LinkPhase, _values(row, LINKED))
        for row in judgement_store.rows(unit, tables.LinkPhase, [run_id])
    }
    flows = [
        fill(FlowLoss, _values(row, LOST), flow=row.flow)
        for row in judgement_store.rows(unit, tables.FlowLoss, [run_id])
    ]
    drawn = drawn_link(columns)
    return LinkCourse(run_id, drawn.time_s, drawn.end_s, drawn.path_changes_s, drawn.ways, phases, flows)


def _values(row: object, names: Iterable[str]) -> dict[str, float | None]:
    return {name: getattr(row, name) for name in names}
