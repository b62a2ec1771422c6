"""A campaign's report is rebuilt, with the answers that are stored beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import orjson

from downlink.actions.campaigns import precision
from downlink.actions.campaigns.states import complete_campaign
from downlink.storage.campaigns import campaign_store
from downlink.storage.notices.events import add_event
from downlink.storage.results import report_store
from downlink.storage.unit import Unit
from downlink.views.results.delays import campaign_delays
from downlink.views.results.exits import campaign_exits
from downlink.views.results.flows import complete_flows
from downlink.views.results.limits import campaign_limits
from downlink.views.results.material import Made, report_and_records
from downlink.views.results.rates import campaign_rates
from downlink.views.results.reports import FROM_REPORT, KEPT, campaign_values
from downlink.views.results.reproduction import campaign_reproduction


def refresh_report(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """Make the report that the campaign wants, unless it is there, and look whether it ends. Safe to run twice and at once."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    wanted = campaign.report_wanted
    there = report_store.find_report(unit, campaign_id)
    if there is None or there.version < wanted:
        seen = report_store.complete_runs_seen(unit, campaign_id)
        made = report_and_records(unit, campaign)
        report, _ = made
        body = orjson.dumps(report.to_dict())
        report_store.store_report(unit, campaign_id, wanted, report.analysis_version, body, now)
        keep_answers(unit, campaign_id, seen, made)
        add_event(unit, now, "report", {}, campaign_id)
    precision.look(unit, campaign_id, now)
    if campaign_store.find_campaign(unit, campaign_id, is_locked=True).report_wanted == wanted:
        complete_campaign(unit, campaign_id, now)


def keep_answers(unit: Unit, campaign_id: UUID, seen: str, made: Made | None = None) -> None:
    """Store what is asked for beside the report. seen: of the complete runs, taken before the answers were made."""
    unit.session.expire_all()
    version = report_store.report_version(unit, campaign_id)
    kept: Mapping[str, Callable[[Unit, UUID], Any]]
    flows = complete_flows(unit, [campaign_id])
    kept = {
        **KEPT,
        "exits": partial(campaign_exits, flows=flows),
        "limits": partial(campaign_limits, flows=flows),
        "delays": partial(campaign_delays, flows=flows),
        "rates": partial(campaign_rates, flows=flows, made=made),
        "reproduction": partial(campaign_reproduction, made=made),
        "values": partial(campaign_values, made=made),
    }
    for name, make in kept.items():
        body = orjson.dumps(make(unit, campaign_id))
        report_store.store_answer(unit, campaign_id, name, version, "" if name in FROM_REPORT else seen, body)
