"""Triggers fire: a campaign's set of runs is planned from now on, within its limits, and each run keeps what started it."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

import structlog

from downlink.actions.campaigns.preview import plan_now
from downlink.actions.campaigns.states import complete_campaign
from downlink.actions.people.secrets import TRIGGER, is_secret, make_secret
from downlink.actions.runs.new_runs import add_planned_runs
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.placing import SLACK_S
from downlink.domain.campaigns.plan import Plan
from downlink.domain.campaigns.trigger import (
    Called,
    Cause,
    Fired,
    NotYet,
    SlotBegins,
    Trigger,
    is_over,
    judge_quantity,
    judge_slot,
    refusal,
)
from downlink.domain.errors import ConflictError, DeniedError, NotFoundError
from downlink.domain.links.link import Link
from downlink.storage.advisory_lock import order_work
from downlink.storage.campaigns import campaign_store, trigger_store
from downlink.storage.campaigns.single_row import find_own, take_own
from downlink.storage.links import link_store
from downlink.storage.notices.events import add_event
from downlink.storage.results import report_store
from downlink.storage.runs import plan_store, volumes
from downlink.storage.runs.planned import wake_links
from downlink.storage.tables import Campaign as CampaignRow
from downlink.storage.tables import Trigger as TriggerRow
from downlink.storage.unit import Unit

CLOCKS_APART = timedelta(minutes=5)
"""A call's moment and the server's clock may differ by this."""
NOTE_AGAIN = timedelta(minutes=1)
"""The same refusal is not written down with every tick."""
MOST_SHOWN = 500
log = structlog.get_logger()


def look(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """One look at a running campaign's trigger: fire it, note why it waits, or end the campaign when it is over."""
    row = find_own(unit, TriggerRow, campaign_id, is_locked=True)
    campaign = campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    trigger = campaign_store.campaign_of(campaign).trigger
    if row is None or trigger is None or campaign.state != CampaignState.RUNNING:
        return
    fired = trigger_store.fired_before(unit, campaign_id, now)
    if is_over(trigger, fired, now):
        if not report_store.is_behind(unit, campaign):
            complete_campaign(unit, campaign_id, now)
        return
    verdict = _judge(unit, trigger, now)
    if isinstance(verdict, NotYet):
        if row.waits != verdict.why:
            row.waits = verdict.why
        return
    if isinstance(trigger.when, SlotBegins) and refusal(trigger, fired, now):
        return  # a slot that begins in the pause is nothing that was refused
    _fire(unit, row, campaign, trigger, fired, verdict, now)


def _judge(unit: Unit, trigger: Trigger, now: datetime) -> Cause | NotYet:
    when = trigger.when
    if isinstance(when, Called):
        return NotYet("No call has come.")
    if isinstance(when, SlotBegins):
        return judge_slot(when, now)
    return judge_quantity(when, trigger_store.seen_lately(unit, when, now), now)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call. number: of the firing. reason: why there is none."""

    number: int | None
    reason: str | None


def _fire(
    unit: Unit, row: TriggerRow, campaign: CampaignRow, trigger: Trigger, fired: Fired, cause: Cause, now: datetime
) -> Answer:
    spec = campaign_store.campaign_of(campaign)
    known = link_store.domain_links(unit, spec.links)
    why = refusal(trigger, fired, now) or _not_ready(unit, campaign, spec, now)
    plan = _plan(unit, campaign, spec, known, now) if why is None else None
    if plan is not None:
        why = _unplannable(unit, campaign, spec, plan)
    if plan is None or why is not None:
        if row.refusal != why or row.refused_at is None or now - row.refused_at >= NOTE_AGAIN:
            row.refusal, row.refused_at = why, now
        return Answer(None, why)
    cycles = trigger.most * (spec.timetable.cycles or 1)
    add_planned_runs(unit, campaign.id, spec, plan.runs, known, now, cycles, cause.to_dict())
    number = fired.total + 1
    trigger_store.add_firing(unit, campaign.id, number, now, cause.to_dict(), plan.runs[0].cycle, len(plan.runs))
    row.waits = None
    unit.session.flush()
    wake_links(unit, spec.links)
    order_work(unit)
    add_event(
        unit, now, "campaign", {"campaign_state": campaign.state, "detail": f"Triggered by {cause.name}."}, campaign.id
    )
    log.info("trigger_fired", campaign_id=str(campaign.id), number=number, cause=cause.name)
    return Answer(number, None)


def _not_ready(unit: Unit, campaign: CampaignRow, spec: Campaign, now: datetime) -> str | None:
    start = spec.timetable.start
    if start and now < start.after_days(0):
        return f"The campaign is to start at {start}."
    if plan_store.unfinished_in_campaign(unit, campaign.id):
        return "Runs of the last firing have not ended."
    return None


def _plan(unit: Unit, campaign: CampaignRow, spec: Campaign, known: Mapping[str, Link], now: datetime) -> Plan:
    """The timetable once, from now on, its cycles counted on."""
    before = plan_store.last_cycle(unit, campaign.id)
    once = replace(spec.timetable, start=None, repeat=None, seed=spec.timetable.seed + before)
    plan, _ = plan_now(unit, replace(spec, timetable=once), now, known)
    return replace(plan, runs=tuple(replace(run, cycle=run.cycle + before) for run in plan.runs))


def _unplannable(unit: Unit, campaign: CampaignRow, spec: Campaign, plan: Plan) -> str | None:
    """Return why this plan is not begun."""
    beyond = [each for each in plan.conflicts if each.is_blocking or each.code == "allowance_exceeded"]
    if beyond:
        return " ".join(each.message for each in beyond)[:MOST_SHOWN]
    if not plan.runs or plan.runs[0].due_s > SLACK_S:
        return "The opening hours leave no time for its runs now."
    used = volumes.used_bytes(unit, [campaign.id]).get(campaign.id, 0)
    if spec.limits.bytes is not None and used + plan.estimate.bytes > spec.limits.bytes:
        left = max(0, spec.limits.bytes - used)
        return f"Its runs may take {plan.estimate.bytes / 1e6:,.0f} MB, and {left / 1e6:,.0f} MB are left of the campaign's limit."
    return None


def make_call_secret(unit: Unit, campaign_id: UUID, account_id: UUID | None) -> str:
    """A new secret for signed calls, which replaces the one before. ConflictError where the campaign waits for none."""
    trigger = campaign_store.campaign_of(campaign_store.find_campaign(unit, campaign_id)).trigger
    if trigger is None or not isinstance(trigger.when, Called):
        raise ConflictError(
            "trigger_takes_no_calls", "This campaign's file does not say `trigger: {when: {call: true}}`."
        )
    row = take_own(unit, TriggerRow, campaign_id)
    row.account_id = account_id
    row.secret, row.called_at = make_secret(TRIGGER), None  # calls that the old one signed no longer count
    return row.secret


def signature(secret: str, stamp: str, body: bytes) -> str:
    """HMAC-SHA256 over `stamp.body`, in hexadecimal."""
    return hmac.new(secret.encode(), stamp.encode() + b"." + body, sha256).hexdigest()


def take_call(
    unit: Unit, campaign_id: UUID, stamp: str, signed: str, body: bytes, read: Callable[[], float | None], now: datetime
) -> Answer:
    """A signed call. stamp: seconds since 1970, later than that of any call before. read: the value in its body,
    once its sender is known. DeniedError without the secret."""
    at = _moment(stamp, now)
    row = find_own(unit, TriggerRow, campaign_id, is_locked=True)
    secret = row.secret if row and is_secret(TRIGGER, row.secret) else None
    wanted = signature(secret or make_secret(TRIGGER), stamp, body)
    if not hmac.compare_digest(wanted.encode(), signed.encode()) or row is None or secret is None:
        raise _denied()
    if row.called_at and at <= row.called_at:
        message = "A call with this time or a later one was taken before; each call needs a later second."
        raise DeniedError("call_repeated", message)
    campaign = campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    trigger = campaign_store.campaign_of(campaign).trigger
    value = read()
    row.called_at = at
    if trigger is None or campaign.state != CampaignState.RUNNING:
        return Answer(None, f"The campaign is {campaign.state}; it must be running.")
    fired = trigger_store.fired_before(unit, campaign_id, now)
    return _fire(unit, row, campaign, trigger, fired, Cause(trigger.name, at, value, "", "call"), now)


def _moment(stamp: str, now: datetime) -> datetime:
    """DeniedError for what is not a moment of now."""
    # Eleven digits reach the year 5138, and twelve beyond the last one that can be read, 9999.
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 11):
        raise _denied()
    at = datetime.fromtimestamp(int(stamp), now.tzinfo)
    if abs(at - now) > CLOCKS_APART:
        raise DeniedError(
            "call_out_of_time", "The call's time is more than 5 minutes from the server's; set the clock."
        )
    return at


def _denied() -> DeniedError:
    return DeniedError(
        "not_signed", "The signature is not one of this campaign's trigger; docs/campaign-file.md says how to sign."
    )


def get_trigger(unit: Unit, campaign_id: UUID) -> tuple[Trigger, CampaignRow, TriggerRow | None]:
    """NotFoundError where the campaign has none."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    trigger = campaign_store.campaign_of(campaign).trigger
    if trigger is None:
        raise NotFoundError("trigger_not_found", "This campaign has no trigger; its runs follow its timetable.")
    return trigger, campaign, find_own(unit, TriggerRow, campaign_id)
