"""Charts of the hops of a run's flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from downlink.analysis.hops import COURSES, HopSteps, flow_hops
from downlink.codec.tables import csv_pieces
from downlink.domain.doc import Doc
from downlink.domain.errors import NotFoundError
from downlink.judging.traces import FlowTrace, open_run
from downlink.storage.runs import run_store
from downlink.storage.tables import Run
from downlink.storage.unit import Unit, UnitFactory
from downlink.views.traces.traces import refuse_removed

CarrierName = Literal["split", "intcp"]
HEADER = ("flow", "hop", "from", "to", "time_s", "node", *COURSES)


@dataclass(frozen=True)
class HopCourse(HopSteps):
    """Each list has a value for each step, null where there is none; the list is null for what is not recorded."""

    begins_at: Annotated[str | None, Doc("The agent at its upstream end; null: a site of an emulated link")]
    ends_at: str | None


@dataclass(frozen=True)
class FlowHops:
    flow: int
    kind: CarrierName
    is_summed: Annotated[bool, Doc("True: over the sites of an emulated link, the agent gave sums of all of them")]
    is_of_content: Annotated[
        bool,
        Doc(
            "True: other flows ask for the same bytes, and what the sender and relays counted is of all these flows together"
        ),
    ]
    time_s: Annotated[list[float], Doc("Where each step begins, from the run's zero")]
    end_s: float
    hops: Annotated[list[HopCourse], Doc("From the sender to the receiver")]


@dataclass(frozen=True)
class RunHops:
    run_id: UUID
    flows: Annotated[list[FlowHops], Doc("Those that pass relays")]


def run_hops(unit: Unit, run_id: UUID) -> RunHops:
    """The hops of each flow that passes relays. NotFoundError `hops_not_found` where none does or nothing is sealed."""
    return RunHops(run_id, _flows(unit, run_store.get_run(unit, run_id)))


def hops_csv(units: UnitFactory, run_id: UUID) -> Iterator[str]:
    """The same, a line for each step of each hop. hop: empty for the last one where the way changes its length."""
    with units(is_read_only=True) as unit:
        flows = _flows(unit, run_store.get_run(unit, run_id))
    return csv_pieces(HEADER, (line for flow in flows for hop in flow.hops for line in _lines(flow, hop)))


def _lines(flow: FlowHops, hop: HopCourse) -> Iterator[tuple[Any, ...]]:
    nothing = [None] * len(flow.time_s)
    columns = [getattr(hop, name) or nothing for name in ("nodes", *COURSES)]
    for time_s, *values in zip(flow.time_s, *columns, strict=True):
        yield (flow.flow, hop.place, hop.begins_at, hop.ends_at, time_s, *values)


def _flows(unit: Unit, run: Run) -> list[FlowHops]:
    refuse_removed(unit, run.id)
    flows = [each for each in open_run(unit, run).flows if each.flow.relays and any((each.receiver, *each.hops))]
    if not flows:
        message = f"Run {run.id} has no sealed trace of a flow over relays; flows of split TCP and INTCP have."
        raise NotFoundError("hops_not_found", message)
    shared = Counter(each.flow.content for each in flows if each.flow.content is not None)
    return [_shown(run, each, is_of_content=shared[each.flow.content or 0] > 1) for each in flows]


def _shown(run: Run, each: FlowTrace, *, is_of_content: bool) -> FlowHops:
    """is_summed: the relays are sites of an emulated link, and no table separates them. is_of_content: other flows ask for the same."""
    is_further = each.flow.receiver_number > 1
    course = flow_hops((each.sender, *each.hops, each.receiver), each.sites, is_further=is_further)
    flow, has_sites = each.flow, bool(each.sites)
    names = (flow.sender, *("" for _ in course.hops[1:]), flow.receiver) if has_sites else flow.way
    return FlowHops(
        flow=flow.flow,
        kind=cast(CarrierName, flow.kind),
        is_summed=not has_sites and bool(run.link_outcome and run.link_outcome.path),
        is_of_content=is_of_content,
        time_s=course.time_s,
        end_s=course.end_s,
        hops=[
            HopCourse(**_members(hop), begins_at=begins or None, ends_at=ends or None)
            for hop, begins, ends in zip(course.hops, names, names[1:], strict=False)
        ],
    )


def _members(hop: HopSteps) -> dict[str, Any]:
    return {each.name: getattr(hop, each.name) for each in fields(hop)}
