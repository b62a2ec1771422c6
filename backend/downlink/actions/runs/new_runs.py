"""The rows of a run, made here alone: for a launch, for another attempt, and for a file of another tool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

from downlink.actions.people.secrets import TICKET, make_hop_secret, make_secret
from downlink.domain.campaigns.campaign import Campaign, Condition
from downlink.domain.campaigns.flow_plan import INTCP, PROBE, Intcp, Probe, Split, Transport
from downlink.domain.campaigns.placing import PlannedRun
from downlink.domain.campaigns.run_size import deadline_s, most_bytes
from downlink.domain.fleet.setting import ALWAYS_ASKED
from downlink.domain.links.link import Link
from downlink.domain.links.weather import LinkWindow, link_seed, link_window
from downlink.domain.runs.run import HostPhase, RunState
from downlink.storage.runs import run_store
from downlink.storage.tables import Run, RunFlow, RunHost
from downlink.storage.unit import Unit

Columns = Mapping[str, Any]
PAGE = 1_000
"""Runs whose rows are sent at once."""
_PLANNED = (
    "campaign_id", "link", "condition", "cycle", "position", "stop", "deadline_s", "expected_s", "base_rtt_ms",
    "nominal_rate_bps", "is_emulated", "is_host_wide", "link_seed", "link_window",
    "trigger",
)  # fmt: skip
_ASKED_OF_FLOWS = (
    "flow",
    "sender",
    "receiver",
    "asked_cc",
    "cc_options",
    "start_s",
    "pacing_rate_bps",
    "carrier",
    "offer",
    "relays",
    "receiver_number",
    "content",
    "most_bytes",
)
_ASKED_OF_HOSTS = ("agent", "roles", "settings_asked")


@dataclass(frozen=True, slots=True)
class RunRows:
    """The rows of a run to be inserted: its own columns, and those of its flows and hosts."""

    columns: Columns
    flows: Sequence[Columns]
    hosts: Sequence[Columns] = ()


def add_run(unit: Unit, columns: Columns, flows: Iterable[Columns], hosts: Iterable[Columns] = ()) -> Run:
    """One run with its flows and hosts: the first attempt, and planned, unless the columns say otherwise."""
    run = Run(**{**_new_run(), **columns})
    unit.session.add(run)
    unit.session.add_all([RunFlow(run_id=run.id, **flow) for flow in flows])
    unit.session.add_all([RunHost(run_id=run.id, **_NEW_HOST, **host) for host in hosts])
    return run


def add_runs(unit: Unit, wanted: Iterable[RunRows]) -> list[UUID]:
    """Many runs at once, in pages; their ids, in their order. All have the same columns."""
    ids: list[UUID] = []
    left = iter(wanted)
    while page := list(islice(left, PAGE)):
        runs = [{**_new_run(), **each.columns} for each in page]
        made = list(zip((run["id"] for run in runs), page, strict=True))
        flows = [{"run_id": run_id, **flow} for run_id, each in made for flow in each.flows]
        hosts = [{"run_id": run_id, **_NEW_HOST, **host} for run_id, each in made for host in each.hosts]
        run_store.add_rows(unit, runs, flows, hosts)
        ids += [run_id for run_id, _ in made]
    return ids


def _new_run() -> dict[str, Any]:
    return {"id": uuid4(), "attempt": 1, "tries": 0, "state": RunState.PLANNED}


_NEW_HOST: Columns = {"phase": HostPhase.ASSIGNED, "differences": []}


def add_planned_run(
    unit: Unit,
    campaign_id: UUID,
    condition: Condition,
    link: Link,
    planned: PlannedRun,
    launched_at: datetime,
    campaign_seed: int,
) -> Run:
    wanted = _planned_rows(campaign_id, condition, link, planned, launched_at, campaign_seed)
    return add_run(unit, wanted.columns, wanted.flows, wanted.hosts)


def add_planned_runs(
    unit: Unit,
    campaign_id: UUID,
    campaign: Campaign,
    planned: Sequence[PlannedRun],
    links: Mapping[str, Link],
    now: datetime,
    cycles: int,
    trigger: Columns | None = None,
) -> None:
    """The runs of a plan. cycles: how many the campaign has at most, over which a path's stretches are spread.

    trigger: what started them.
    """
    conditions = {condition.name: condition for condition in campaign.conditions}
    longest = {name: [deadline_s(each, link) for each in campaign.conditions] for name, link in links.items()}
    add_runs(
        unit,
        (
            _planned_rows(
                campaign_id, conditions[run.condition], links[run.link], run, now, campaign.timetable.seed,
                link_window(run.cycle, cycles, longest[run.link]), trigger,
            )
            for run in planned
        ),
    )  # fmt: skip


def _planned_rows(
    campaign_id: UUID,
    condition: Condition,
    link: Link,
    planned: PlannedRun,
    launched_at: datetime,
    campaign_seed: int,
    window: LinkWindow | None = None,
    trigger: Columns | None = None,
) -> RunRows:
    """All that is asked of a run is written down before it starts."""
    stop = condition.stop
    columns = {
        "campaign_id": campaign_id,
        "link": link.name,
        "condition": condition.name,
        "cycle": planned.cycle,
        "position": planned.position,
        "state_at": launched_at,
        "due_at": launched_at + timedelta(seconds=planned.due_s),
        "stop": stop.to_dict(),
        "deadline_s": deadline_s(condition, link),
        "expected_s": planned.duration_s,
        "base_rtt_ms": link.base_rtt_ms,
        "nominal_rate_bps": link.nominal_rate_bps,
        "is_emulated": link.is_emulated,
        "is_host_wide": condition.is_host_wide,
        "link_seed": link_seed(campaign_seed, planned.cycle) if link.is_emulated else None,
        "link_window": asdict(window) if window and link.is_emulated else None,
        "hop_secret": make_hop_secret() if condition.passes_relays else None,
        "trigger": trigger,
    }
    most = most_bytes(link.nominal_rate_bps, deadline_s(condition, link))
    flows = [{**flow, "most_bytes": most} for flow in _flows(condition, link)]
    return RunRows(columns, flows, list(_hosts(condition, link)))


def add_attempts(unit: Unit, again: Mapping[UUID, datetime], now: datetime) -> list[UUID]:
    """Add another attempt at each of these runs, due at its moment; return the new ids, in their order. The runs themselves stay as
    they are."""
    return add_runs(unit, _attempts(unit, again, now))


def _attempts(unit: Unit, again: Mapping[UUID, datetime], now: datetime) -> Iterator[RunRows]:
    left = iter(again)
    while page := list(islice(left, PAGE)):
        runs = {run.id: run for run in run_store.get_runs(unit, page)}
        flows, hosts = defaultdict[UUID, list[RunFlow]](list), defaultdict[UUID, list[RunHost]](list)
        for flow in run_store.flows_of_runs(unit, page):
            flows[flow.run_id].append(flow)
        for host in run_store.hosts_of_runs(unit, page):
            hosts[host.run_id].append(host)
        for run_id in page:
            yield _attempt(runs[run_id], flows[run_id], hosts[run_id], again[run_id], now)


def _attempt(run: Run, flows: Sequence[RunFlow], hosts: Sequence[RunHost], due_at: datetime, now: datetime) -> RunRows:
    columns = {**_copied(run, _PLANNED), "attempt": run.attempt + 1, "state_at": now, "due_at": due_at}
    return RunRows(
        {**columns, "hop_secret": make_hop_secret() if any(flow.relays for flow in flows) else None},
        [{**_copied(flow, _ASKED_OF_FLOWS), "ticket": make_secret(TICKET)} for flow in flows],
        [_copied(host, _ASKED_OF_HOSTS) for host in hosts],
    )


def _copied(row: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _flows(condition: Condition, link: Link) -> Iterator[Columns]:
    for number, flow in enumerate(condition.flows, 1):
        yield {
            "flow": number,
            "sender": link.senders[flow.sender - 1],
            "receiver": link.receivers[flow.receiver - 1],
            "receiver_number": flow.receiver,
            "content": flow.content and _first_of(condition, flow.content),
            **_carried(flow.transport),
            "start_s": flow.start_s,
            "offer": flow.offer and asdict(flow.offer),
            "relays": list(link.relays) if flow.passes_relays else [],
            "ticket": make_secret(TICKET),
        }


def _first_of(condition: Condition, content: int) -> int:
    """The number of the first flow that asks for a content."""
    return next(number for number, flow in enumerate(condition.flows, 1) if flow.content == content)


def _carried(transport: Transport) -> Columns:
    if isinstance(transport, Probe):
        return {"asked_cc": PROBE, "cc_options": asdict(transport), "pacing_rate_bps": None, "carrier": None}
    if isinstance(transport, Intcp):
        carrier = {"kind": INTCP}
        return {"asked_cc": INTCP, "cc_options": asdict(transport), "pacing_rate_bps": None, "carrier": carrier}
    return {
        "carrier": {"kind": "split", "relay_cc": transport.relay_cc} if isinstance(transport, Split) else None,
        "asked_cc": transport.cc,
        "cc_options": dict(transport.options),
        "pacing_rate_bps": transport.pacing_rate_bps,
    }


def _hosts(condition: Condition, link: Link) -> Iterator[Columns]:
    sending = [(link.senders[number - 1], "sender", condition.sender) for number in condition.senders]
    receiving = [(link.receivers[number - 1], "receiver", condition.receiver) for number in condition.receivers]
    for agent, role, settings in (*receiving, *sending):
        yield {"agent": agent, "roles": [role], "settings_asked": {**settings, **ALWAYS_ASKED}}
    for relay in link.relays if condition.passes_relays else ():
        yield {"agent": relay, "roles": ["relay"], "settings_asked": dict(condition.relay)}
