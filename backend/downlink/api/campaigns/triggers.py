"""Triggers of campaigns: what they wait for, the secret of their calls, and the calls themselves."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import ValidationError

from downlink.actions.campaigns import triggers
from downlink.api.http.deps import (
    Clock,
    Now,
    Reader,
    ReadUnit,
    UnitOfWork,
    Units,
    address_of,
    may_with_campaign,
    problems,
)
from downlink.api.schemas.triggers import CallAnswer, CallBody, Firing, TriggerSecret, TriggerState
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.trigger import Called, free_at, is_over, waiting_for
from downlink.domain.errors import DeniedError, InvalidError
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.campaigns import trigger_store
from downlink.storage.unit import UnitFactory

router = APIRouter(tags=["campaigns"])
MOST_FIRINGS = 20
MOST_BYTES = 4096
"""Bytes of a call at most."""


@router.get("/campaigns/{campaign_id}/trigger", responses=problems(401, 404))
def get_trigger(campaign_id: UUID, caller: Reader, unit: ReadUnit, now: Now) -> TriggerState:
    """Return the campaign's trigger: what it waits for, when it last fired, and why it did not. 404 `trigger_not_found` without one."""
    trigger, campaign, row = triggers.get_trigger(unit, campaign_id)
    fired = trigger_store.fired_before(unit, campaign_id, now)
    is_waiting = campaign.state == CampaignState.RUNNING and not is_over(trigger, fired, now)
    free = free_at(trigger, fired)
    return TriggerState(
        is_waiting=is_waiting,
        waiting_for=waiting_for(trigger),
        waits=row.waits if row and is_waiting else None,
        fired=fired.total,
        most=trigger.most,
        free_at=free if is_waiting and free and free > now else None,
        refused_at=row.refused_at if row else None,
        refusal=row.refusal if row else None,
        takes_calls=isinstance(trigger.when, Called),
        has_secret=bool(row and row.secret),
        firings=[Firing.model_validate(each) for each in trigger_store.last_firings(unit, campaign_id, MOST_FIRINGS)],
    )


@router.post("/campaigns/{campaign_id}/trigger/secret", status_code=201, responses=problems(401, 403, 404, 409))
def make_trigger_secret(
    campaign_id: UUID, caller: Annotated[Caller, may_with_campaign(Verb.RUN_CAMPAIGN)], unit: UnitOfWork
) -> TriggerSecret:
    """Create the secret that signs calls; the previous one stops working. Shown only once."""
    return TriggerSecret(secret=triggers.make_call_secret(unit, campaign_id, caller.account_id))


@router.post(
    "/campaigns/{campaign_id}/trigger/call",
    responses=problems(401, 403, 404, 413, 429),
    openapi_extra={
        "requestBody": {"content": {"application/json": {"schema": CallBody.model_json_schema()}}, "required": False}
    },
)
async def call_trigger(
    campaign_id: UUID,
    request: Request,
    units: Units,
    clock: Clock,
    stamp: Annotated[str, Header(alias="Downlink-Timestamp", max_length=20, description="Seconds since 1970")] = "",
    signed: Annotated[
        str,
        Header(
            alias="Downlink-Signature",
            max_length=100,
            description="HMAC-SHA256, hexadecimal, over the timestamp, a full stop and the body",
        ),
    ] = "",
) -> CallAnswer:
    """Start the campaign's runs by a signed call, for programs without an account. Each call needs a later second than the one
    before; calls of one address are limited before any lookup."""
    request.app.state.gate.check(address_of(request), time.monotonic())
    body = await _body(request)
    return await run_in_threadpool(_call, units, campaign_id, stamp, signed, body, clock)


async def _body(request: Request) -> bytes:
    """InvalidError for more than a call needs."""
    held = bytearray()
    async for piece in request.stream():
        held += piece
        if len(held) > MOST_BYTES:
            raise InvalidError("call_too_long", f"A call has at most {MOST_BYTES} bytes.")
    return bytes(held)


def _call(
    units: UnitFactory, campaign_id: UUID, stamp: str, signed: str, body: bytes, clock: Callable[[], datetime]
) -> CallAnswer:
    if not stamp or not signed:
        raise DeniedError(
            "not_signed", "Send Downlink-Timestamp and Downlink-Signature; docs/campaign-file.md says how to sign."
        )
    with units() as unit:
        answer = triggers.take_call(unit, campaign_id, stamp, signed, body, lambda: _value(body), clock())
    return CallAnswer(is_fired=answer.number is not None, number=answer.number, reason=answer.reason)


def _value(body: bytes) -> float | None:
    """Read once it is known who says it."""
    if not body:
        return None
    try:
        return CallBody.model_validate_json(body).value
    except ValidationError:
        raise InvalidError("call_invalid", 'The body must be JSON such as {"value": 0.5}, or empty.') from None
