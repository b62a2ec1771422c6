"""Every table, by subject. There are no relationships to walk: a query joins what it needs."""

from downlink.storage.tables.access import ApiToken, Audit, Invitation, LoginFailure, Session, SetupToken, Share, User
from downlink.storage.tables.annotations import Annotation
from downlink.storage.tables.base import Json, Table
from downlink.storage.tables.campaigns import Campaign
from downlink.storage.tables.events import Event
from downlink.storage.tables.fleet import Agent, Enrolment, Link
from downlink.storage.tables.identities import Identity, ProviderVisit
from downlink.storage.tables.notifications import Channel, Notification
from downlink.storage.tables.observations import LinkQuantity, Observation, WeatherPlace
from downlink.storage.tables.paths import SatellitePath
from downlink.storage.tables.results import (
    Exit,
    FlowDelay,
    FlowLimit,
    FlowLoss,
    FlowProxy,
    LinkPhase,
    Metric,
    Report,
    ReportAnswer,
    SlowStart,
    StoredSeries,
)
from downlink.storage.tables.retentions import Retention
from downlink.storage.tables.runs import (
    LEFT_OUT,
    Lease,
    LinkShare,
    Run,
    RunFlow,
    RunHost,
    Wake,
    lease_slots,
)
from downlink.storage.tables.service import Heartbeat
from downlink.storage.tables.sweeps import Sweep, SweepPart
from downlink.storage.tables.traces import Chunk, Trace, TraceFolder
from downlink.storage.tables.triggers import Firing, Trigger

__all__ = [
    "LEFT_OUT",
    "Agent",
    "Annotation",
    "ApiToken",
    "Audit",
    "Campaign",
    "Channel",
    "Chunk",
    "Enrolment",
    "Event",
    "Exit",
    "Firing",
    "FlowDelay",
    "FlowLimit",
    "FlowLoss",
    "FlowProxy",
    "Heartbeat",
    "Identity",
    "Invitation",
    "Json",
    "Lease",
    "Link",
    "LinkPhase",
    "LinkQuantity",
    "LinkShare",
    "LoginFailure",
    "Metric",
    "Notification",
    "Observation",
    "ProviderVisit",
    "Report",
    "ReportAnswer",
    "Retention",
    "Run",
    "RunFlow",
    "RunHost",
    "SatellitePath",
    "Session",
    "SetupToken",
    "Share",
    "SlowStart",
    "StoredSeries",
    "Sweep",
    "SweepPart",
    "Table",
    "Trace",
    "TraceFolder",
    "Trigger",
    "User",
    "Wake",
    "WeatherPlace",
    "lease_slots",
]
