"""The state of this server: its reports to people and to monitoring."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import structlog

from downlink.domain.watch import API, CONDUCTOR, is_beating
from downlink.storage import heartbeats
from downlink.storage.notices.events import add_event
from downlink.storage.unit import Unit

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ServiceState:
    """is_conducting: due runs are started and deadlines watched. ticked_at: when that was done last."""

    is_conducting: bool
    ticked_at: datetime | None


def service_state(unit: Unit, now: datetime) -> ServiceState:
    pulse = heartbeats.find_pulse(unit, CONDUCTOR)
    return ServiceState(is_beating(pulse, now), pulse.at if pulse else None)


def mark_api(unit: Unit, now: datetime, was_conducting: bool | None) -> bool:
    """Mark that the api is there, and tell open pages when the conductor stops or is back; whether it ticks."""
    heartbeats.beat(unit, API, now)
    is_conducting = service_state(unit, now).is_conducting
    if was_conducting is not None and was_conducting != is_conducting:
        add_event(unit, now, "service", {"is_conducting": is_conducting})
        (log.info if is_conducting else log.error)("conductor_ticks" if is_conducting else "conductor_silent")
    return is_conducting
