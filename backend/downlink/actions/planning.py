"""Planned runs become rows: all that is asked of each is written down before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from downlink.actions.secrets import TICKET, make_secret
from downlink.domain.campaign import Condition
from downlink.domain.link import Link
from downlink.domain.plan import PlannedRun
from downlink.domain.run import HostPhase, RunState, transfer_deadline_s
from downlink.storage.tables import Run, RunFlow, RunHost
from downlink.storage.unit import Unit

ALWAYS_ASKED = {"net.ipv4.tcp_no_metrics_save": "1"}


def add_planned_run(
    unit: Unit, campaign_id: UUID, condition: Condition, link: Link, planned: PlannedRun, launched_at: datetime
) -> None:
    """One run with its flows and hosts."""
    run_id = uuid4()
    unit.session.add(_run(run_id, campaign_id, condition, link, planned, launched_at))
    unit.session.add_all(_flows(run_id, condition, link))
    unit.session.add_all(_hosts(run_id, condition, link))


def _run(
    run_id: UUID, campaign_id: UUID, condition: Condition, link: Link, planned: PlannedRun, launched_at: datetime
) -> Run:
    stop = condition.stop
    last_start_s = max(flow.start_s for flow in condition.flows)
    return Run(
        id=run_id,
        campaign_id=campaign_id,
        link=link.name,
        condition=condition.name,
        cycle=planned.cycle,
        position=planned.position,
        attempt=1,
        tries=0,
        state=RunState.PLANNED,
        state_at=launched_at,
        due_at=launched_at + timedelta(seconds=planned.due_s),
        stop=stop.to_dict(),
        deadline_s=transfer_deadline_s(stop.seconds, stop.bytes, last_start_s, link.base_rtt_ms, link.nominal_rate_bps),
        expected_s=planned.duration_s,
        base_rtt_ms=link.base_rtt_ms,
        nominal_rate_bps=link.nominal_rate_bps,
        is_emulated=link.is_emulated,
        is_host_wide=condition.is_host_wide,
    )


def _flows(run_id: UUID, condition: Condition, link: Link) -> Iterator[RunFlow]:
    for number, flow in enumerate(condition.flows, 1):
        yield RunFlow(
            run_id=run_id,
            flow=number,
            sender=link.senders[flow.sender - 1],
            receiver=link.receiver,
            asked_cc=flow.cc,
            cc_options=dict(flow.options),
            start_s=flow.start_s,
            pacing_rate_bps=flow.pacing_rate_bps,
            ticket=make_secret(TICKET),
        )


def _hosts(run_id: UUID, condition: Condition, link: Link) -> Iterator[RunHost]:
    sending = [(link.senders[place - 1], "sender", condition.sender) for place in condition.senders]
    for agent, role, settings in ((link.receiver, "receiver", condition.receiver), *sending):
        asked = {**settings, **ALWAYS_ASKED}
        yield RunHost(
            run_id=run_id, agent=agent, roles=[role], phase=HostPhase.ASSIGNED, settings_asked=asked, differences=[]
        )
