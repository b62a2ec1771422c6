"""The means of runs: agents, how they join, and the links between them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Json, Table


class Enrolment(Table):
    """A single-use right to join as an agent. account_id: whose access made it."""

    __tablename__ = "enrolments"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    account_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))


class Agent(Table):
    """boot_id names the host: agents with the same one share kernel-wide settings. protocol: the version it spoke last.

    paused_by: who paused it on this server, None for nobody; with no paused_until, until somebody resumes it. instance: which of its
    starts it is, {id, seat, hostname, address, since}; rival: another one that was refused, with `seen_at`.
    """

    __tablename__ = "agents"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(unique=True)
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    version: Mapped[str]
    protocol: Mapped[int] = mapped_column(server_default="1")
    boot_id: Mapped[str]
    host: Mapped[Json]
    status: Mapped[str] = mapped_column(default="unknown")
    run_id: Mapped[UUID | None]
    detail: Mapped[str | None]
    progress: Mapped[Json | None]
    spool: Mapped[list[Json]] = mapped_column(default=list)
    created_at: Mapped[datetime]
    last_seen_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    paused_by: Mapped[str | None]
    paused_until: Mapped[datetime | None]
    pause_why: Mapped[str | None]
    instance: Mapped[Json | None]
    rival: Mapped[Json | None]


class Link(Table):
    """time_zone: the IANA name of the one in which the terminal is, for its nights. latitude, longitude: where it is, for its weather.

    reset_day: when the month of its allowance begins. owner_id: who made it. relays: in order from the senders to the receiver.
    further_receivers: in the order in which campaigns count them from 2. rate_tolerance_percent: by so much a run may exceed the
    nominal rate before its numbers are called implausible.
    """

    __tablename__ = "links"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(unique=True)
    orbit: Mapped[str]
    operator: Mapped[str]
    nominal_rate_bps: Mapped[int]
    rate_tolerance_percent: Mapped[float] = mapped_column(server_default="50", default=50.0)
    base_rtt_ms: Mapped[float]
    receiver: Mapped[str]
    senders: Mapped[list[str]]
    relays: Mapped[list[str]] = mapped_column(server_default="{}", default=list)
    further_receivers: Mapped[list[str]] = mapped_column(server_default="{}", default=list)
    allowance_bytes: Mapped[int | None]
    reset_day: Mapped[int] = mapped_column(server_default="1", default=1)
    is_emulated: Mapped[bool]
    profile: Mapped[str | None]
    time_zone: Mapped[str | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    owner_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime]
