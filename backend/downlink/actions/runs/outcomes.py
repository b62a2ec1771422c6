"""The outcomes that an agent reports of its part of a run, and what follows for the run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from downlink.domain.errors import InvalidError
from downlink.domain.runs.outcome import FlowOutcome, LinkOutcome
from downlink.domain.runs.run import Ending, HostPhase, Reason, RunState
from downlink.domain.runs.way import shortened
from downlink.domain.traces.point import Point
from downlink.storage.fleet.agent_store import agents_by_name
from downlink.storage.notices.events import add_event
from downlink.storage.runs import run_store
from downlink.storage.tables import Run, RunFlow, RunHost
from downlink.storage.unit import Unit

BAD_ENDS: Mapping[tuple[str, str], tuple[Reason, str]] = {
    ("sender", "link_lost"): (Reason.LINK_LOST, "the link was lost"),
    ("receiver", "link_lost"): (Reason.LINK_LOST, "the link was lost"),
    # Both ends say `stop_rule` of a transfer that ended as it should.
    ("sender", "peer_closed"): (Reason.LINK_LOST, "the receiver closed the connection before the stop rule"),
    ("receiver", "peer_closed"): (Reason.LINK_LOST, "the sender closed the connection before the stop rule"),
    ("sender", "deadline"): (Reason.DEADLINE, "the transfer did not end before its deadline"),
    ("receiver", "deadline"): (Reason.DEADLINE, "the transfer did not end before its deadline"),
    ("sender", "aborted"): (Reason.INTERNAL, "the agent stopped the transfer"),
    ("receiver", "aborted"): (Reason.INTERNAL, "the agent stopped the transfer"),
    ("sender", "over_budget"): (Reason.OVER_BUDGET, "what was left for the run is used up"),
    ("receiver", "over_budget"): (Reason.OVER_BUDGET, "what was left for the run is used up"),
    ("receiver", "content_wrong"): (Reason.CONTENT_WRONG, "a byte was not the content's"),
    ("receiver", "refused"): (Reason.RELAY_REFUSED, "the neighbour upstream refused the flow"),
    # Of a relay whose neighbour has gone, the neighbour says why.
    ("relay", "link_lost"): (Reason.LINK_LOST, "a neighbour was lost"),
    ("relay", "refused"): (Reason.RELAY_REFUSED, "the neighbour upstream refused the flow"),
    ("relay", "deadline"): (Reason.DEADLINE, "the transfer did not end before its deadline"),
    ("relay", "aborted"): (Reason.INTERNAL, "the agent stopped relaying"),
    ("relay", "over_budget"): (Reason.OVER_BUDGET, "what was left for the run is used up"),
}


def note_outcomes(unit: Unit, run: Run, host: RunHost, event: Mapping[str, Any], *, is_new: bool = True) -> None:
    """Keep the outcomes of an event that may have some; of a repeat only check them. InvalidError for a flow that is not this agent's."""
    flows, own = run_store.flows_of(unit, run.id), host.agent
    reported = [(_own_flow(flows, outcome, own), outcome) for outcome in flow_outcomes(event)]
    if not is_new:
        return
    shy = _shortening(unit, {name for flow in flows for name in flow.way}) if reported else set()
    for (flow, point), outcome in reported:
        flow.note_outcome(point, shortened(outcome, own=own in shy, peers=_peer(flow, own) in shy))
        _doubt(unit, run, flow, host, outcome)
    if event.get("link") and run.link_outcome is None:  # of two that say they sit beside the link, the first
        run.link_outcome = LinkOutcome.read({"agent": own, **event["link"]})


def flow_outcomes(event: Mapping[str, Any]) -> list[FlowOutcome]:
    """The outcomes that an event brings; of most events there are none."""
    return [FlowOutcome.read(each) for each in event.get("flows", ())]


def _shortening(unit: Unit, agents: Collection[str]) -> set[str]:
    """The agents whose owners let the server keep only the network of their addresses."""
    registered = agents_by_name(unit, agents)
    return {
        name for name, agent in registered.items() if ((agent.host or {}).get("policy") or {}).get("shorten_addresses")
    }


def _peer(flow: RunFlow, agent: str) -> str:
    """Return the peer whose address an end saw: towards the receiver, and at the receiver towards the sender."""
    index = flow.way.index(agent)
    return flow.way[index + 1] if index + 1 < len(flow.way) else flow.way[index - 1]


def _doubt(unit: Unit, run: Run, flow: RunFlow, host: RunHost, outcome: FlowOutcome) -> None:
    """Note a claim beyond what the link carries: volumes count the other end's word instead, or what the link carries."""
    said_bytes = outcome.app_bytes
    if flow.most_bytes is None or said_bytes is None or said_bytes <= flow.most_bytes:
        return
    heard_at = host.heard_at or run.state_at
    detail = (
        f"{host.agent}: flow {flow.flow} is said to have moved {said_bytes / 1e6:,.0f} MB; the link carries "
        f"{flow.most_bytes / 1e6:,.0f} MB at most in this time. Volumes count no more than the other end says, or than that."
    )
    add_event(unit, heard_at, "host", {"detail": detail}, run.campaign_id, run.id)


def phase_after(event: Mapping[str, Any]) -> HostPhase:
    """Return the phase of a host that has broken off and left a run: the samples that it reports are wanted."""
    return HostPhase.RESTORED if event.get("flows") else HostPhase.DONE


def _own_flow(flows: Iterable[RunFlow], outcome: FlowOutcome, agent: str) -> tuple[RunFlow, Point]:
    """The flow that an outcome is of, and where. InvalidError where its agent has no such part in the run."""
    for flow in flows:
        if flow.flow == outcome.flow and (point := flow.point_of(agent)) and point == outcome.point:
            return flow, point
    raise InvalidError("flow_unknown", f"{agent} is not the {outcome.point} of flow {outcome.flow} in this run.")


def ending_said_by(agent: str, outcomes: Iterable[FlowOutcome]) -> Ending | None:
    """Return the ending to which these outcomes condemn the run, by the first flow that ended badly."""
    for outcome in outcomes:
        where = f"{agent}, flow {outcome.flow}"
        role = "relay" if outcome.is_at_relay else outcome.point
        if bad := BAD_ENDS.get((str(role), str(outcome.ended))):
            words = f" ({outcome.detail})" if outcome.detail else ""
            return Ending(RunState.FAILED, bad[0], f"{where}: {bad[1]}{words}.")
        if outcome.samples == 0:
            return Ending(RunState.FAILED, Reason.NO_SAMPLES, f"{where}: not one sample was taken.")
    return None


def note_missing(host: RunHost, event: Mapping[str, Any]) -> None:
    """A repeat without them, of an agent that has dropped them meanwhile, does not take back what it said."""
    if missing := event.get("missing"):
        host.missing = missing


def note_restored(host: RunHost, event: Mapping[str, Any]) -> None:
    for key in ("settings_after", "is_restored", "differences"):
        setattr(host, key, event[key])
