"""Translation of an order and its rows to the protocol's message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from downlink.actions.fleet.agent_channel import OrderFacts
from downlink.actions.people.secrets import content_seed, hop_key
from downlink.domain.campaigns.campaign import RECEIVER_MS, SENDER_MS
from downlink.domain.campaigns.flow_plan import INTCP, SPLIT
from downlink.domain.fleet.agent import OrderKind
from downlink.domain.runs.run import HostPhase, RunState
from downlink.protocol.base import Role
from downlink.protocol.orders import (
    AbortOrder,
    AnyOrder,
    DiscardOrder,
    FlowOrder,
    GoOrder,
    IntcpTransport,
    LinkWindow,
    Neighbour,
    Offer,
    Peer,
    PrepareOrder,
    ProbeTransport,
    RunBudget,
    Sampling,
    SplitTransport,
    TcpTransport,
    UploadOrder,
)
from downlink.storage.tables import RunFlow


def order_message(facts: OrderFacts) -> AnyOrder:
    own = {"run_id": facts.order.run_id, "attempt": facts.attempt, "lease": facts.run.lease if facts.run else None}
    match facts.order.kind:
        case OrderKind.PREPARE:
            return _prepare(facts)
        case OrderKind.GO:
            return _go(facts)
        case OrderKind.ABORT:
            return AbortOrder.model_validate({**own, "reason": facts.reason})
        case OrderKind.UPLOAD:
            return UploadOrder.model_validate(own)
        case OrderKind.DISCARD:
            return DiscardOrder.model_validate({**own, "reason": facts.reason, "delete": _may_delete(facts)})


def _may_delete(facts: OrderFacts) -> bool:
    """Return whether nobody can want an agent's chunks: a person deleted or cancelled the run, or its samples are here."""
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
        lease=run.lease,
        roles=cast(list[Role], host.roles),
        stop=run.stop,
        deadline_s=run.deadline_s,
        base_rtt_ms=run.base_rtt_ms,
        settings=host.settings_asked,
        leaves_unset=facts.is_best_effort,
        link_seed=run.link_seed,
        link_window=LinkWindow.model_validate(run.link_window) if run.link_window else None,
        budget=RunBudget(bytes=facts.budget.bytes, of=facts.budget.of.value) if facts.budget else None,
        sampling=Sampling(
            mode=facts.sampling.value,
            sender_ms=SENDER_MS,
            receiver_ms=RECEIVER_MS,
            deliveries=facts.keeps_deliveries,
            sites=_relays_intcp(facts.flows, host.agent),
        ),
        flows=[_flow(flow, host.agent, facts) for flow in facts.flows],
    )


def _relays_intcp(flows: Sequence[RunFlow], agent: str) -> bool:
    points = [flow.point_of(agent) for flow in flows if flow.kind == INTCP]
    return any(point is not None and point.rank for point in points)


def _flow(flow: RunFlow, agent: str, facts: OrderFacts) -> FlowOrder:
    hosts = facts.data_hosts
    sender, receiver = (Peer(agent=name, host=hosts.get(name)) for name in (flow.sender, flow.receiver))
    point = flow.point_of(agent)
    order = FlowOrder(
        flow=flow.flow,
        role="sender" if flow.sender == agent else "receiver" if flow.receiver == agent else "relay",
        transport=_transport(flow),
        start_s=flow.start_s,
        ticket=flow.ticket or "",
        sender=sender,
        receivers=[receiver],
        offer=Offer.model_validate(flow.offer) if flow.offer else None,
        place=point.rank if point else None,
        content=flow.content,
    )
    if flow.relays:
        _name_neighbours(order, flow, agent, facts)
    return order


def _name_neighbours(order: FlowOrder, flow: RunFlow, agent: str, facts: OrderFacts) -> None:
    """Add the agent's neighbours, with the keys of its own hops; the ends of an INTCP flow get the seed of its bytes."""
    secret = facts.run.hop_secret if facts.run else None
    is_intcp = flow.kind == INTCP and secret is not None
    way = flow.way
    at = way.index(agent)

    def neighbour(index: int, hop: int) -> Neighbour:
        key = hop_key(secret, hop) if is_intcp and secret else None
        return Neighbour(agent=way[index], host=facts.data_hosts.get(way[index]), hop=hop, key=key)

    if at > 0:
        order.upstream = neighbour(at - 1, _hop_after(flow, at - 1))
    if at + 1 < len(way):
        order.downstream = [neighbour(at + 1, _hop_after(flow, at))]
    if is_intcp and secret and order.role != "relay":
        order.content_seed = content_seed(secret, flow.content or flow.flow)


def _hop_after(flow: RunFlow, at: int) -> int:
    """The number of the hop behind a place of the way: behind the last relay each of the link's receivers has its own."""
    return at + (flow.receiver_number if at + 2 == len(flow.way) else 1)


def _transport(flow: RunFlow) -> TcpTransport | ProbeTransport | SplitTransport | IntcpTransport:
    if flow.is_probe:
        return ProbeTransport(**flow.cc_options)
    if flow.kind == INTCP:
        return IntcpTransport(options=flow.cc_options)
    if flow.kind == SPLIT:
        relay_cc = (flow.carrier or {})["relay_cc"]
        return SplitTransport(
            cc=flow.asked_cc, options=flow.cc_options, pacing_rate_bps=flow.pacing_rate_bps, relay_cc=relay_cc
        )
    return TcpTransport(cc=flow.asked_cc, options=flow.cc_options, pacing_rate_bps=flow.pacing_rate_bps)


def _go(facts: OrderFacts) -> GoOrder:
    run, addresses = facts.run, facts.addresses
    if run is None or run.start_at is None or facts.host is None:
        raise ValueError("a run that starts has a row and a zero")
    agent = facts.host.agent
    dialling = [flow for flow in facts.flows if flow.sender != agent]
    peers = {str(flow.flow): addresses[flow.way[flow.way.index(agent) - 1]] or "" for flow in dialling}
    return GoOrder(
        lease=facts.run.lease if facts.run else None,
        run_id=run.id,
        attempt=run.attempt,
        start_at=run.start_at,
        peers=peers,
    )
