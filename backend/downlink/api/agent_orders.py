"""From an order and its rows to the protocol's message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from downlink.actions.channel import OrderFacts
from downlink.domain.agent import OrderKind
from downlink.domain.campaign import RECEIVER_MS, SENDER_MS
from downlink.domain.run import HostPhase, RunState
from downlink.protocol.messages import (
    AbortOrder,
    AnyOrder,
    DiscardOrder,
    FlowOrder,
    GoOrder,
    LinkWindow,
    Peer,
    PrepareOrder,
    ProbeTransport,
    Role,
    Sampling,
    TcpTransport,
    UploadOrder,
)
from downlink.storage.tables import RunFlow


def order_message(facts: OrderFacts) -> AnyOrder:
    run_id, attempt = facts.order.run_id, facts.attempt
    match facts.order.kind:
        case OrderKind.PREPARE:
            return _prepare(facts)
        case OrderKind.GO:
            return _go(facts)
        case OrderKind.ABORT:
            return AbortOrder(run_id=run_id, attempt=attempt, reason=facts.reason)
        case OrderKind.UPLOAD:
            return UploadOrder(run_id=run_id, attempt=attempt)
        case OrderKind.DISCARD:
            return DiscardOrder(run_id=run_id, attempt=attempt, reason=facts.reason, delete=_may_delete(facts))


def _may_delete(facts: OrderFacts) -> bool:
    """Whether nobody can want an agent's chunks any more: a person deleted or cancelled the run, or its samples are here."""
    if facts.run is None or facts.host is None:
        return True
    return RunState.CANCELLED in (facts.run.state, facts.run.verdict) or facts.host.phase == HostPhase.UPLOADED


def _prepare(facts: OrderFacts) -> PrepareOrder:
    run, host = facts.run, facts.host
    if run is None or host is None:
        raise ValueError("a run that is prepared has a row")
    return PrepareOrder(
        run_id=run.id,
        attempt=run.attempt,
        roles=cast(list[Role], host.roles),
        stop=run.stop,
        deadline_s=run.deadline_s,
        base_rtt_ms=run.base_rtt_ms,
        settings=host.settings_asked,
        link_seed=run.link_seed,
        link_window=LinkWindow.model_validate(run.link_window) if run.link_window else None,
        sampling=Sampling(mode=facts.sampling.value, sender_ms=SENDER_MS, receiver_ms=RECEIVER_MS),
        flows=[_flow(flow, host.agent, facts.data_hosts) for flow in facts.flows],
    )


def _flow(flow: RunFlow, agent: str, data_hosts: Mapping[str, str]) -> FlowOrder:
    sender, receiver = (Peer(agent=name, host=data_hosts.get(name)) for name in (flow.sender, flow.receiver))
    return FlowOrder(
        flow=flow.flow,
        role="sender" if flow.sender == agent else "receiver",
        transport=_transport(flow),
        start_s=flow.start_s,
        ticket=flow.ticket or "",
        sender=sender,
        receivers=[receiver],
    )


def _transport(flow: RunFlow) -> TcpTransport | ProbeTransport:
    if flow.is_probe:
        return ProbeTransport(**flow.cc_options)
    return TcpTransport(cc=flow.asked_cc, options=flow.cc_options, pacing_rate_bps=flow.pacing_rate_bps)


def _go(facts: OrderFacts) -> GoOrder:
    run, addresses = facts.run, facts.addresses
    if run is None or run.start_at is None or facts.host is None:
        raise ValueError("a run that starts has a row and a zero")
    receiving = [flow for flow in facts.flows if flow.receiver == facts.host.agent]
    peers = {str(flow.flow): addresses[flow.sender] or "" for flow in receiving}
    return GoOrder(run_id=run.id, attempt=run.attempt, start_at=run.start_at, peers=peers)
