"""Deletion of old rows, with the time for which each kind is kept. The record of runs and campaigns stays until they are deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, or_

from downlink.domain.notices.event import FLEETING
from downlink.storage.links import observation_store
from downlink.storage.notices import notification_store
from downlink.storage.tables import Audit, Enrolment, Event, LoginFailure, Session
from downlink.storage.unit import Unit

KEEP_FLEETING = timedelta(hours=1)
KEEP_ENROLMENTS = timedelta(days=30)
KEEP_HOST_EVENTS = timedelta(days=90)
KEEP_AUDIT = timedelta(days=730)
KEEP_NOTIFICATIONS = timedelta(days=90)
KEEP_OBSERVATIONS = timedelta(days=730)
KEEP_FAILURES = timedelta(days=1)


def prune(unit: Unit, now: datetime) -> None:
    """Delete what is too old."""
    unused = or_(Enrolment.used_at < now - KEEP_ENROLMENTS, Enrolment.expires_at < now - KEEP_ENROLMENTS)
    for old in (
        delete(Event).where(Event.kind.in_(FLEETING), Event.at < now - KEEP_FLEETING),
        delete(Event).where(Event.kind == "host", Event.at < now - KEEP_HOST_EVENTS),
        delete(Enrolment).where(unused),
        delete(Audit).where(Audit.at < now - KEEP_AUDIT),
        delete(LoginFailure).where(LoginFailure.at < now - KEEP_FAILURES),
        delete(Session).where(Session.expires_at < now),
    ):
        unit.session.execute(old)
    notification_store.forget(unit, now - KEEP_NOTIFICATIONS)
    observation_store.forget(unit, now - KEEP_OBSERVATIONS)
