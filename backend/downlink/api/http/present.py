"""Translation of rows to the shapes that the API gives."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from downlink.actions.campaigns.campaigns import Preview
from downlink.actions.fleet.instances import rival_of
from downlink.api.schemas import agents as agent_shapes
from downlink.api.schemas import campaigns as campaign_shapes
from downlink.api.schemas import links as link_shapes
from downlink.api.schemas import runs as run_shapes
from downlink.api.schemas.campaign_preview import CampaignPreview
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.expectation import checks_of, sentence
from downlink.domain.campaigns.placing import PlannedRun
from downlink.domain.fleet.agent import PROTOCOL, AgentStatus, is_present
from downlink.domain.links.allowance import Allowance
from downlink.domain.runs.outcome import FlowOutcome, LinkOutcome, TableOutcome
from downlink.domain.traces.point import ENDS, HALVES, NO_FLOW, Point
from downlink.storage.campaigns.campaign_store import Overview, campaign_of
from downlink.storage.fleet.agent_store import pause_of
from downlink.storage.runs.run_details import RunDetails, RunRow
from downlink.storage.tables import Agent, Link, Metric, Run, RunFlow, Trace
from downlink.views.campaigns.campaign_now import CampaignNow
from downlink.views.campaigns.precision import Precision

PREVIEW_RUNS = 500
"""Runs of a preview, as many as a page of a list has; the estimate has their number."""


def agent(row: Agent, links: list[str], measuring: Container[UUID], now: datetime) -> agent_shapes.Agent:
    """measuring: the runs that hold leases."""
    facts = {column.key: getattr(row, column.key) for column in Agent.__table__.columns}
    is_in_run = row.run_id in measuring
    online = row.revoked_at is None and is_present(AgentStatus(row.status), row.last_seen_at, is_in_run, now)
    pause = pause_of(row, now)
    own = {"links": links, "is_online": online, "is_too_old": row.protocol < PROTOCOL, "pause": pause}
    own["rival"] = rival_of(row, now)
    return agent_shapes.Agent.model_validate({**facts, **own})


def link(row: Link, run_id: UUID | None, month: Allowance | None) -> link_shapes.Link:
    shown = month and {"used_bytes": month.used_bytes, "left_bytes": month.left_bytes, "resets_at": month.resets_at}
    return link_shapes.Link.model_validate({**_columns(row), "run_id": run_id, "month": shown})


def campaign(overview: Overview) -> campaign_shapes.Campaign:
    return campaign_shapes.Campaign.model_validate(_campaign(overview))


def campaign_detail(overview: Overview, precision: Precision | None) -> campaign_shapes.CampaignDetail:
    row = overview.campaign
    own = {"spec": row.spec, "source": row.source, "estimate": row.estimate, "precision": precision}
    return campaign_shapes.CampaignDetail.model_validate({**_campaign(overview), **own})


def _campaign(overview: Overview) -> dict[str, Any]:
    row, spec = overview.campaign, campaign_of(overview.campaign)
    return {
        **{
            key: getattr(row, key)
            for key in (
                "id",
                "name",
                "notes",
                "tags",
                "state",
                "is_recorded",
                "origin",
                "created_at",
                "launched_at",
                "ended_at",
                "quick_link",
                "splits_by_address",
                "owner_id",
            )
        },
        "links": spec.links,
        "conditions": [condition.name for condition in spec.conditions],
        # A draft has no runs yet: its plan says how many there will be.
        "runs_total": overview.slots or (0 if spec.trigger and row.launched_at else row.estimate["runs"]),
        "runs_ended": overview.slots_ended,
        "counts": overview.counts,
        "next_due_at": overview.next_due_at if row.state == CampaignState.RUNNING else None,
        "report_at": overview.report_at,
        "being_removed": overview.being_removed,
    }


def run_summary(row: RunRow) -> run_shapes.RunSummary:
    rates = {"throughput_bps": row.throughput_bps, "goodput_bps": row.goodput_bps}
    return run_shapes.RunSummary.model_validate({**_columns(row.run), **rates, "unexpected": _unexpected(row.run)})


def campaign_now(now: CampaignNow) -> run_shapes.CampaignNow:
    return run_shapes.CampaignNow(
        active=[run_summary(row) for row in now.active],
        next=[run_summary(row) for row in now.next],
        waits=[run_shapes.RunWait(run_id=run_id, waits_for=reason) for run_id, reason in now.waits.items()],
        ends_at=now.ends_at,
        used_bytes=now.used_bytes,
        limit_bytes=now.limit_bytes,
    )


def run(details: RunDetails, waits_for: str | None = None) -> run_shapes.Run:
    overall = [metric for metric in details.metrics if metric.phase == "overall"]
    return run_shapes.Run.model_validate(
        {
            **_columns(details.run),
            **asdict(details.surroundings),
            "started_at": details.run.start_at,
            "unexpected": _unexpected(details.run),
            "waits_for": waits_for,
            "throughput_bps": _total([metric.throughput_bps for metric in overall]),
            "goodput_bps": _total([metric.goodput_bps for metric in overall]),
            "flows": [_flow(row, details) for row in details.flows],
            "link_log": _link_log(details),
            "hosts": [_columns(row) for row in details.hosts],
            "events": [
                {"at": event.at, "kind": event.data.get("run_state") or event.kind, "detail": event.data.get("detail")}
                for event in details.events
            ],
            "metrics": [_metrics(row.flow, details.metrics) for row in details.flows],
        }
    )


def _unexpected(run: Run) -> list[dict[str, Any]]:
    return [{**each.to_dict(), "detail": sentence([each])} for each in checks_of(run.checks) if not each.is_met]


def _columns(row: Any) -> dict[str, Any]:
    """The row's columns that are read with it; the moment a run's zero was set is called started_at outside."""
    columns = {each.key: getattr(row, each.key) for each in row.__mapper__.column_attrs if not each.deferred}
    return {**columns, "started_at": columns["start_at"]} if "start_at" in columns else columns


def _total(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _flow(row: RunFlow, details: RunDetails) -> dict[str, Any]:
    sender, receiver = row.sender_outcome or FlowOutcome(), row.receiver_outcome or FlowOutcome()
    overall = next(
        (metric for metric in details.metrics if metric.flow == row.flow and metric.phase == "overall"), None
    )
    return {
        **_columns(row),
        **{
            key: getattr(sender, key)
            for key in ("actual_cc", "cc_version", "hystart_exits", "sampling", "dropped_samples")
        },
        "throughput_bps": overall.throughput_bps if overall else None,
        "goodput_bps": overall.goodput_bps if overall else None,
        "app_bytes": sender.app_bytes if receiver.app_bytes is None else receiver.app_bytes,
        "first_byte_us": sender.first_byte_us,
        "ended": sender.ended or receiver.ended,
        "detail": sender.detail or receiver.detail,
        "traces": {point: _trace(row.flow, point, row.announced_at(point), details) for point in ENDS},
        "proxy": details.proxies.get(row.flow),
        "hops": [_hop(row, point, details) for point in row.points if point.rank],
        "delivery": {
            half: _trace(row.flow, half, outcome, details) for half in HALVES if (outcome := row.announced_at(half))
        }
        or None,
        "sites": (sites := row.announced_at(Point.SITES)) and _trace(row.flow, Point.SITES, sites, details),
    }


def _hop(row: RunFlow, point: Point, details: RunDetails) -> dict[str, Any]:
    outcome = row.outcomes.get(point)
    return {
        "point": point,
        "agent": row.relays[(point.rank or 1) - 1],
        **{key: getattr(outcome, key, None) for key in ("app_bytes", "ended", "detail")},
        "trace": _trace(row.flow, point, outcome, details),
    }


def _link_log(details: RunDetails) -> dict[str, Any] | None:
    outcome = details.run.link_outcome
    return outcome and {**outcome.to_json(), "trace": _trace(NO_FLOW, Point.LINK, outcome, details)}


def _trace(
    flow: int, point: Point, outcome: FlowOutcome | TableOutcome | LinkOutcome | None, details: RunDetails
) -> dict[str, Any]:
    """Return a trace's announcement and, once it is sealed, its contents."""
    sealed: Trace | None = next((trace for trace in details.traces if (trace.flow, trace.point) == (flow, point)), None)
    state = "expected" if outcome is None else "open"
    announced = sealed or outcome
    if sealed:
        state = "incomplete" if sealed.missing or not sealed.chunks else "sealed"
        state = "removed" if details.run.traces_removed_at and sealed.chunks else state
    return {
        "state": state,
        "samples": (announced and announced.samples) or 0,
        "chunks": (announced and announced.chunks) or 0,
        "missing_chunks": sealed.missing if sealed else [],
        **{key: getattr(outcome, key, None) for key in ("achieved_rate_hz", "lateness_mean_us", "lateness_max_us")},
    }


def _metrics(flow: int, metrics: Any) -> dict[str, Any]:
    by_phase: dict[str, Metric] = {metric.phase: metric for metric in metrics if metric.flow == flow}
    return {"flow": flow, **{phase: by_phase.get(phase) for phase in ("startup", "steady", "overall")}}


def _planned(run: PlannedRun, launched_at: datetime) -> dict[str, Any]:
    return {**asdict(run), "due_at": launched_at + timedelta(seconds=run.due_s)}


def preview(made: Preview) -> CampaignPreview:
    plan = made.plan
    return CampaignPreview.model_validate(
        {
            "campaign": made.campaign.to_dict(),
            "runs": [_planned(run, made.at) for run in plan.runs[:PREVIEW_RUNS]],
            "time_zones": made.time_zones,
            "estimate": plan.estimate,
            "conflicts": plan.conflicts,
            "hosts": made.hosts,
            "sharing": made.sharing,
            "forecast": made.forecast,
        }
    )
