"""A quick test: one run more in the campaign that keeps a link's quick tests."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from uuid import UUID

import orjson

from downlink.actions.campaigns.preview import plan_now, refuse_blocked
from downlink.actions.campaigns.states import set_state
from downlink.actions.links.links import get_link
from downlink.actions.runs.new_runs import add_planned_run
from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.plan import Estimate
from downlink.domain.campaigns.quick import kept_file, quick_file
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.links.link import Link
from downlink.storage import tables
from downlink.storage.advisory_lock import order_work
from downlink.storage.campaigns import campaign_store
from downlink.storage.links import link_store
from downlink.storage.runs import plan_store
from downlink.storage.runs.planned import wake_links
from downlink.storage.unit import Unit


def start_quick_test(unit: Unit, link_id: UUID, sender: int, now: datetime) -> tables.Run:
    """One download from a sender of the link, due now; it waits while another run holds the link.

    InvalidError for a sender that the link does not have. ConflictError when it could not run (`plan_blocked`), and while
    the link's last quick test has not ended (`quick_test_under_way`).
    """
    link = link_store.to_domain(get_link(unit, link_id))  # locked: two clicks make one test
    if sender > len(link.senders):
        raise InvalidError("sender_unknown", f"Link {link.name} has {len(link.senders)} senders; there is no {sender}.")
    row = campaign_store.find_quick_tests(unit, link.name)
    _refuse_under_way(unit, row)
    campaign = campaign_from_dict(quick_file(link, sender))
    plan, _ = plan_now(unit, campaign, now, {link.name: link})
    refuse_blocked(plan)
    number = plan_store.last_cycle(unit, row.id) + 1 if row else 1
    row = _keep(unit, row, link, number, plan.estimate, now)
    planned = replace(plan.runs[0], cycle=number)
    run = add_planned_run(unit, row.id, campaign.conditions[0], link, planned, now, campaign.timetable.seed)
    unit.session.flush()
    wake_links(unit, [link.name])
    order_work(unit)
    return run


def _refuse_under_way(unit: Unit, row: tables.Campaign | None) -> None:
    if row is None:
        return
    if unfinished := plan_store.lock_unfinished(unit, row.id):
        raise ConflictError(
            "quick_test_under_way",
            "The last quick test on this link has not ended; wait for it, or cancel it.",
            {"run_id": str(min(unfinished))},
        )


def _keep(
    unit: Unit, row: tables.Campaign | None, link: Link, number: int, each: Estimate, now: datetime
) -> tables.Campaign:
    """The campaign, with this test counted, and running."""
    if row is None:
        row = tables.Campaign(
            name="", notes="", source="", spec={}, estimate={}, state=CampaignState.DRAFT, created_at=now,
            report_wanted=0, quick_link=link.name,
        )  # fmt: skip
        campaign_store.add_campaign(unit, row)
        before = None
    else:
        row = campaign_store.find_campaign(unit, row.id, is_locked=True)
        before = campaign_store.campaign_of(row)
    file = kept_file(link, number, before)
    campaign = campaign_from_dict(file)
    row.name, row.notes = campaign.name, campaign.notes
    row.source = orjson.dumps(file, option=orjson.OPT_INDENT_2).decode()
    row.spec = campaign.to_dict()
    row.estimate = asdict(Estimate(number, each.bytes * number, each.duration_s * number))
    row.launched_at, row.resumed_at, row.ended_at = row.launched_at or now, now, None
    if row.state != CampaignState.RUNNING:
        row.paused_at = None
        set_state(unit, row, CampaignState.RUNNING, now)
    return row
