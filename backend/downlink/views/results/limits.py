"""Limits of flows: of a run second by second, and summed up over a campaign with the buffers to set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Annotated
from uuid import UUID

from downlink.analysis.intervals import mean_intervals, plain
from downlink.analysis.limits import BufferAdvice
from downlink.codec.series import unpack_series
from downlink.domain.doc import Doc
from downlink.domain.results.metric import LIMITS
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_store
from downlink.storage.tables import FlowLimit, RunFlow
from downlink.storage.unit import Unit
from downlink.views.results.flows import Flows, Group, complete_flows, run_ids
from downlink.views.shapes import Column, Interval, fill, with_listed

# Linux's own least and first sizes: only the maxima change, and none is below the first size.
RMEM_START, WMEM_START, LEAST_MAX_BYTES = "4096 131072", "4096 16384", 131072


@with_listed(LIMITS, Column)
@dataclass(frozen=True)
class LimitSeconds:
    """Ratios 0 to 1 of each second; null where the kernel does not count these times or samples are missing."""

    bin_s: list[int]


@with_listed(LIMITS, float)
@dataclass(frozen=True)
class LimitShares:
    """Ratios of the flow's time, 1 together."""


@with_listed(LIMITS, Interval)
@dataclass(frozen=True)
class LimitEstimates:
    """Mean ratios over runs."""


@dataclass(frozen=True)
class FlowLimits:
    flow: int
    cc: str
    seconds: LimitSeconds
    shares: LimitShares | None
    advice: BufferAdvice | None


@dataclass(frozen=True)
class RunLimits:
    run_id: UUID
    flows: Annotated[list[FlowLimits], Doc("Those that have been analysed")]


@dataclass(frozen=True)
class LimitGroup:
    """One flow of one condition on one link, over its complete runs."""

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    shares: LimitEstimates
    advice: Annotated[BufferAdvice | None, Doc("The largest of its runs")]


@dataclass(frozen=True)
class LinkAdvice:
    """The largest advice over the groups of a link, ready to type."""

    link: str
    bdp_bytes: Annotated[int, Doc("The measured bandwidth-delay product")]
    is_lower_bound: Annotated[bool, Doc("A buffer held the flow for most seconds: the path has room for more")]
    max_bytes: Annotated[int, Doc("What the maxima of tcp_rmem and tcp_wmem should at least be")]
    rmem: str = field(
        metadata={"description": "For net.ipv4.tcp_rmem at the receiver", "examples": ["4096 131072 26869760"]}
    )
    wmem: str = field(
        metadata={"description": "For net.ipv4.tcp_wmem at the sender", "examples": ["4096 16384 26869760"]}
    )
    sentence: str


@dataclass(frozen=True)
class CampaignLimits:
    campaign_id: UUID
    groups: list[LimitGroup]
    advice: list[LinkAdvice]


def run_limits(unit: Unit, run_id: UUID) -> RunLimits:
    """Return the limits of each analysed flow of a run, second by second."""
    run_store.get_run(unit, run_id)
    of_run = {flow.flow: flow for flow in run_store.flows_of(unit, run_id)}
    flows = [
        FlowLimits(row.flow, of_run[row.flow].cc, _seconds(row), _shares(row), _advice(of_run[row.flow], row))
        for row in judgement_store.rows(unit, FlowLimit, [run_id])
    ]
    return RunLimits(run_id, flows)


def campaign_limits(unit: Unit, campaign_id: UUID, flows: Flows | None = None) -> CampaignLimits:
    """Shares over the complete runs, for each flow of each condition on each link, and the buffers to set per link.

    flows: the campaign's, where they were read just now.
    """
    flows = complete_flows(unit, [campaign_id]) if flows is None else flows
    held = {(row.run_id, row.flow): row for row in judgement_store.rows(unit, FlowLimit, run_ids(flows), ("seconds",))}
    groups = []
    for group, members in flows.items():
        rows = [(flow, held[run.id, flow.flow]) for run, flow in members if (run.id, flow.flow) in held]
        if rows:
            groups.append(_group(group, rows))
    return CampaignLimits(campaign_id, groups, list(_advice_per_link(groups)))


def _seconds(row: FlowLimit) -> LimitSeconds:
    shares = unpack_series(row.seconds, LIMITS, LIMITS)
    return fill(LimitSeconds, dict(zip(LIMITS, plain(shares), strict=True)), bin_s=list(range(shares.shape[1])))


def _shares(row: FlowLimit) -> LimitShares | None:
    shares = {name: getattr(row, name) for name in LIMITS}
    return None if None in shares.values() else fill(LimitShares, shares)


def _advice(flow: RunFlow, row: FlowLimit) -> BufferAdvice | None:
    """None for a flow that sends messages at a fixed rate: it says nothing of how much the path holds."""
    if flow.offer is not None or row.bdp_bytes is None or row.is_lower_bound is None or row.max_bytes is None:
        return None
    return BufferAdvice(row.bdp_bytes, row.is_lower_bound, row.max_bytes)


def _group(group: Group, rows: Sequence[tuple[RunFlow, FlowLimit]]) -> LimitGroup:
    values = [[math.nan if (share := getattr(row, name)) is None else share for name in LIMITS] for _, row in rows]
    shares = mean_intervals(values, least=0, most=1)
    means = fill(LimitEstimates, {name: shares[rank].to_dict() for rank, name in enumerate(LIMITS)})
    return LimitGroup(
        group.link, group.condition, group.flow, group.cc, len(rows), means, _largest(_advice(*each) for each in rows)
    )


def _largest(advice: Iterable[BufferAdvice | None]) -> BufferAdvice | None:
    return max((each for each in advice if each), key=lambda each: each.max_bytes, default=None)


def _advice_per_link(groups: Sequence[LimitGroup]) -> Iterator[LinkAdvice]:
    for link, members in groupby(groups, key=lambda group: group.link):
        if largest := _largest(group.advice for group in members):
            advice = replace(largest, max_bytes=max(largest.max_bytes, LEAST_MAX_BYTES))
            rmem, wmem = f"{RMEM_START} {advice.max_bytes}", f"{WMEM_START} {advice.max_bytes}"
            yield LinkAdvice(link, **asdict(advice), rmem=rmem, wmem=wmem, sentence=_sentence(link, advice, rmem, wmem))


def _sentence(link: str, advice: BufferAdvice, rmem: str, wmem: str) -> str:
    """A plain recommendation with the lines to type, as Peters 2021 (HyStart over a satellite network) ends with."""
    why = f"2.5 times the measured bandwidth-delay product of {advice.bdp_bytes / 1e6:.1f} MB"
    if advice.is_lower_bound:
        why = (
            f"{advice.bdp_bytes / 1e6:.1f} MB were measured as bandwidth-delay product while a buffer held the flow "
            "back, so that the path has room for more: measure again with these"
        )
    return (
        f"For downloads over {link}, let buffers grow to {advice.max_bytes / 1e6:.1f} MB: "
        f'`sysctl -w net.ipv4.tcp_rmem="{rmem}"` at the receiver and `sysctl -w net.ipv4.tcp_wmem="{wmem}"` at the sender '
        f"({why})."
    )
