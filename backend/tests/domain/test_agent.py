"""Orders follow from state alone."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.fleet.agent import (
    AgentReport,
    AgentStatus,
    Assignment,
    Order,
    OrderKind,
    Spooled,
    decide_order,
    phase_after_restart,
)
from downlink.domain.runs.run import ACTIVE, HostPhase, RunState

RUN, OTHER = UUID(int=1), UUID(int=2)
statuses = st.sampled_from(sorted(set(AgentStatus) - {AgentStatus.UNKNOWN}))
reports = st.builds(
    AgentReport, statuses, st.sampled_from((None, RUN, OTHER)), st.lists(st.sampled_from((RUN, OTHER))).map(tuple)
)
assignments = st.none() | st.builds(
    Assignment,
    st.just(RUN),
    st.sampled_from(sorted(ACTIVE)),
    st.sampled_from(list(HostPhase)),
    is_condemned=st.booleans(),
)


@given(reports, assignments)
def test_an_order_to_upload_needs_a_restored_host_and_an_uploading_run(
    report: AgentReport, run: Assignment | None
) -> None:
    order = decide_order(report, run)
    if order and order.kind is OrderKind.UPLOAD:
        assert run is not None
        assert (run.state, run.phase) == (RunState.UPLOADING, HostPhase.RESTORED)


@given(reports, assignments)
def test_a_blocked_agent_gets_no_order(report: AgentReport, run: Assignment | None) -> None:
    if report.status is AgentStatus.BLOCKED:
        assert decide_order(report, run) is None


@given(reports, assignments)
def test_only_the_own_run_is_prepared_started_or_uploaded(report: AgentReport, run: Assignment | None) -> None:
    order = decide_order(report, run)
    if order and order.kind not in (OrderKind.ABORT, OrderKind.DISCARD):
        assert run is not None
        assert order.run_id == run.run_id


@given(reports, assignments, st.dictionaries(st.sampled_from((RUN, OTHER)), st.sampled_from(list(Spooled))))
def test_only_chunks_that_nobody_can_want_are_discarded(
    report: AgentReport, run: Assignment | None, spooled: dict[UUID, Spooled]
) -> None:
    order = decide_order(report, run, spooled)
    if order and order.kind is OrderKind.DISCARD:
        assert spooled[order.run_id] is Spooled.FORGOTTEN


@given(reports, assignments, st.dictionaries(st.sampled_from((RUN, OTHER)), st.sampled_from(list(Spooled))))
def test_late_chunks_are_asked_for_only_while_the_agent_has_no_run(
    report: AgentReport, run: Assignment | None, spooled: dict[UUID, Spooled]
) -> None:
    order = decide_order(report, run, spooled)
    if order and order.kind is OrderKind.UPLOAD and not (run and order.run_id == run.run_id):
        assert run is None
        assert spooled[order.run_id] is Spooled.ASKED


@pytest.mark.parametrize(
    ("status", "run_id", "state", "phase", "kind"),
    [
        ("idle", None, RunState.LEASED, HostPhase.ASSIGNED, OrderKind.PREPARE),
        ("idle", None, RunState.PREPARING, HostPhase.PREPARING, OrderKind.PREPARE),  # the answer was lost
        ("preparing", RUN, RunState.PREPARING, HostPhase.PREPARING, None),
        ("ready", RUN, RunState.PREPARING, HostPhase.READY, None),
        ("ready", RUN, RunState.RUNNING, HostPhase.READY, OrderKind.GO),
        ("running", RUN, RunState.RUNNING, HostPhase.READY, None),
        ("restored", RUN, RunState.RESTORING, HostPhase.RESTORED, None),
        ("restored", RUN, RunState.UPLOADING, HostPhase.RESTORED, OrderKind.UPLOAD),
        ("idle", None, RunState.UPLOADING, HostPhase.RESTORED, OrderKind.UPLOAD),
        ("uploading", RUN, RunState.UPLOADING, HostPhase.RESTORED, None),
        ("running", OTHER, RunState.LEASED, HostPhase.ASSIGNED, OrderKind.ABORT),
        ("restored", OTHER, RunState.LEASED, HostPhase.ASSIGNED, OrderKind.PREPARE),
        ("uploading", OTHER, RunState.LEASED, HostPhase.ASSIGNED, OrderKind.PREPARE),
    ],
)
def test_orders(status: str, run_id: UUID | None, state: RunState, phase: HostPhase, kind: OrderKind | None) -> None:
    order = decide_order(AgentReport(AgentStatus(status), run_id), Assignment(RUN, state, phase))
    assert (order.kind if order else None) is kind


@pytest.mark.parametrize(
    ("status", "kind"), [("running", OrderKind.ABORT), ("ready", OrderKind.ABORT), ("restoring", None)]
)
def test_a_condemned_run_is_aborted(status: str, kind: OrderKind | None) -> None:
    run = Assignment(RUN, RunState.RESTORING, HostPhase.READY, is_condemned=True)
    order = decide_order(AgentReport(AgentStatus(status), RUN), run)
    assert (order.kind if order else None) is kind


def test_forgotten_chunks_are_discarded_one_run_at_a_time() -> None:
    report = AgentReport(AgentStatus.IDLE, None, (OTHER,))
    assert decide_order(report, None) is None
    assert decide_order(report, None, {OTHER: Spooled.FORGOTTEN}) == Order(OrderKind.DISCARD, OTHER)


def test_an_idle_agent_with_a_run_under_way_was_restarted() -> None:
    idle = AgentReport(AgentStatus.IDLE, None)
    assert phase_after_restart(idle, Assignment(RUN, RunState.RUNNING, HostPhase.READY)) is HostPhase.DONE
    assert phase_after_restart(idle, Assignment(RUN, RunState.RESTORING, HostPhase.FINISHED)) is HostPhase.RESTORED
    assert phase_after_restart(idle, Assignment(RUN, RunState.LEASED, HostPhase.ASSIGNED)) is None
