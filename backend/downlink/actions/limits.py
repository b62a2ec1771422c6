"""What held flows back: judged when a run is analysed, shown per run, and summed up per campaign with the buffers to set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from downlink.actions.exits import sender_columns
from downlink.analysis.intervals import mean_intervals, plain
from downlink.analysis.limits import LIMITS, FlowLimits, judge_limits
from downlink.codec.parquet import Columns
from downlink.domain.run import RunState
from downlink.storage import campaigns, limits, reports
from downlink.storage import runs as run_rows
from downlink.storage.tables import FlowLimit, LimitBin, Run, RunFlow
from downlink.storage.unit import Unit

Row = dict[str, Any]
Held = tuple[Row, list[Row]]
ADVICE = ("bdp_bytes", "is_lower_bound", "max_bytes")
RMEM_START, WMEM_START = "4096 131072", "4096 16384"  # Linux's own least and first sizes: only the maxima change


def flow_duration_s(run: Run, flow: RunFlow) -> float | None:
    """How long the flow was to send by its run's stop rule; None where bytes decide."""
    seconds = run.stop.get("seconds")
    return None if seconds is None else float(seconds - flow.start_s)


def limit_columns(run: Run, flow: RunFlow, columns: Columns) -> Held:
    """One flow's row of shares and advice, and its seconds, to store."""
    first_byte_us = int((flow.sender_outcome or {})["first_byte_us"])
    found = judge_limits(columns, first_byte_us, flow_duration_s(run, flow), float(run.nominal_rate_bps or 0))
    return {"flow": flow.flow, **_shares_row(found), **_advice_row(found)}, _bin_rows(flow.flow, found)


def limit_run(unit: Unit, run_id: UUID) -> None:
    """Judge a run's sealed sender traces and store what was found; for runs that were analysed elsewhere."""
    run = run_rows.get_run(unit, run_id)
    sent = [
        flow for flow in run_rows.flows_of(unit, run_id) if (flow.sender_outcome or {}).get("first_byte_us") is not None
    ]
    found = [(flow, sender_columns(unit, run_id, flow.flow)) for flow in sent]
    store_limits(unit, run_id, [limit_columns(run, flow, columns) for flow, columns in found if columns])


def store_limits(unit: Unit, run_id: UUID, held: Sequence[Held]) -> None:
    limits.replace_limits(unit, run_id, [own for own, _ in held], [row for _, rows in held for row in rows])


def run_limits(unit: Unit, run_id: UUID) -> Row:
    """What held each analysed flow of a run, second by second."""
    run_rows.get_run(unit, run_id)
    bins = {flow: list(rows) for flow, rows in groupby(limits.limit_bins(unit, [run_id]), key=lambda row: row.flow)}
    cc = {flow.flow: flow.cc for flow in run_rows.flows_of(unit, run_id)}
    flows = [
        {"flow": row.flow, "cc": cc[row.flow], "seconds": _seconds(bins.get(row.flow, [])), **_judged(row)}
        for row in limits.flow_limits(unit, [run_id])
    ]
    return {"run_id": run_id, "flows": flows}


def campaign_limits(unit: Unit, campaign_id: UUID) -> Row:
    """Shares over the complete runs, for each flow of each condition on each link, and the buffers to set per link."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    order = {condition["name"]: place for place, condition in enumerate(campaign.spec["conditions"])}
    flows = [(run, flow) for run, flow in reports.flow_rows(unit, campaign_id) if run.state == RunState.COMPLETE]
    held = {(row.run_id, row.flow): row for row in limits.flow_limits(unit, {run.id for run, _ in flows})}
    members: dict[tuple[Any, ...], list[FlowLimit]] = {}
    for run, flow in sorted(flows, key=lambda each: (each[0].link, order[each[0].condition], each[1].flow)):
        if (run.id, flow.flow) in held:
            members.setdefault((run.link, run.condition, flow.flow, flow.cc), []).append(held[run.id, flow.flow])
    groups = [_group(key, rows) for key, rows in members.items()]
    return {"campaign_id": campaign_id, "groups": groups, "advice": list(_advice_per_link(groups))}


def _shares_row(found: FlowLimits) -> Row:
    mean = found.series.mean
    return dict(zip(LIMITS, [None] * len(LIMITS) if mean is None else plain(mean), strict=True))


def _advice_row(found: FlowLimits) -> Row:
    return {name: getattr(found.advice, name, None) for name in ADVICE}


def _bin_rows(flow: int, found: FlowLimits) -> list[Row]:
    return [
        {"flow": flow, "bin_s": bin_s, **dict(zip(LIMITS, shares, strict=True))}
        for bin_s, shares in enumerate(plain(found.series.shares.T))
    ]


def _seconds(rows: Iterable[LimitBin]) -> Row:
    held = list(rows)
    return {name: [getattr(row, name) for row in held] for name in ("bin_s", *LIMITS)}


def _judged(row: FlowLimit) -> Row:
    shares = {name: getattr(row, name) for name in LIMITS}
    return {"shares": None if None in shares.values() else shares, "advice": _advice(row)}


def _advice(row: FlowLimit) -> Row | None:
    return None if row.max_bytes is None else {name: getattr(row, name) for name in ADVICE}


def _group(key: tuple[Any, ...], rows: Sequence[FlowLimit]) -> Row:
    values = [[math.nan if (share := getattr(row, name)) is None else share for name in LIMITS] for row in rows]
    shares = mean_intervals(values, least=0, most=1)
    return {
        **dict(zip(("link", "condition", "flow", "cc"), key, strict=True)),
        "runs": len(rows),
        "shares": {name: shares[place].to_dict() for place, name in enumerate(LIMITS)},
        "advice": _largest(_advice(row) for row in rows),
    }


def _largest(advice: Iterable[Row | None]) -> Row | None:
    return max((each for each in advice if each), key=lambda each: int(each["max_bytes"]), default=None)


def _advice_per_link(groups: Sequence[Row]) -> Iterable[Row]:
    """The largest of each link's advice, as what to type."""
    for link, members in groupby(groups, key=lambda group: str(group["link"])):
        if advice := _largest(group["advice"] for group in members):
            rmem, wmem = f"{RMEM_START} {advice['max_bytes']}", f"{WMEM_START} {advice['max_bytes']}"
            yield {"link": link, **advice, "rmem": rmem, "wmem": wmem, "sentence": _sentence(link, advice, rmem, wmem)}


def _sentence(link: str, advice: Mapping[str, Any], rmem: str, wmem: str) -> str:
    """A plain recommendation with the lines to type, as paper 000 ends with."""
    why = f"2.5 times the measured bandwidth-delay product of {advice['bdp_bytes'] / 1e6:.1f} MB"
    if advice["is_lower_bound"]:
        why = (
            f"{advice['bdp_bytes'] / 1e6:.1f} MB were measured as bandwidth-delay product while a buffer held the flow "
            "back, so that the path has room for more: measure again with these"
        )
    return (
        f"For downloads over {link}, let buffers grow to {advice['max_bytes'] / 1e6:.1f} MB: "
        f'`sysctl -w net.ipv4.tcp_rmem="{rmem}"` at the receiver and `sysctl -w net.ipv4.tcp_wmem="{wmem}"` at the sender '
        f"({why})."
    )
