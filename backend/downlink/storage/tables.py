"""Every table. There are no relationships to walk: a query joins what it needs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import (
    ARRAY,
    BigInteger,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    Sequence,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy import Double as DoubleType
from sqlalchemy.dialects.postgresql import INT8RANGE, JSONB, ExcludeConstraint, Range
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import UserDefinedType

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
Json = dict[str, Any]


class Xid8(UserDefinedType[str]):
    """PostgreSQL's 64-bit transaction number."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "xid8"


class Table(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        str: Text,
        int: BigInteger,
        float: DoubleType,
        bytes: LargeBinary,
        Json: JSONB(none_as_null=True),
        list[Json]: JSONB(none_as_null=True),
        list[Any]: JSONB(none_as_null=True),
        list[str]: ARRAY(Text),
        list[int]: ARRAY(BigInteger),
        list[float]: ARRAY(DoubleType),
    }


lease_slots = Sequence("lease_slots", metadata=Table.metadata)


ischema_names["xid8"] = Xid8  # so that alembic knows the column it compares


class User(Table):
    __tablename__ = "users"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    username: Mapped[str] = mapped_column(unique=True)
    password_hash: Mapped[str]
    created_at: Mapped[datetime]


class SetupToken(Table):
    """The first-run right to make the admin; removed when it is used."""

    __tablename__ = "setup_tokens"
    token_hash: Mapped[bytes] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime]


class Session(Table):
    """A browser's sign-in. Removing the row ends it."""

    __tablename__ = "sessions"
    secret_hash: Mapped[bytes] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class LoginFailure(Table):
    """Counted for the rate limit, for a quarter of an hour."""

    __tablename__ = "login_failures"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    key: Mapped[str]
    at: Mapped[datetime]
    __table_args__ = (Index("ix_login_failures_key_at", "key", "at"),)


class ApiToken(Table):
    __tablename__ = "api_tokens"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str]
    prefix: Mapped[str]
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class Audit(Table):
    """Who changed what about access. Rows are only ever added."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    at: Mapped[datetime]
    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]


class Enrolment(Table):
    """A single-use right to join as an agent."""

    __tablename__ = "enrolments"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Agent(Table):
    """boot_id names the host: agents with the same one share kernel-wide settings."""

    __tablename__ = "agents"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(unique=True)
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    version: Mapped[str]
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


class Link(Table):
    __tablename__ = "links"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(unique=True)
    orbit: Mapped[str]
    operator: Mapped[str]
    nominal_rate_bps: Mapped[int]
    base_rtt_ms: Mapped[float]
    receiver: Mapped[str]
    senders: Mapped[list[str]]
    allowance_bytes: Mapped[int | None]
    is_emulated: Mapped[bool]
    profile: Mapped[str | None]
    created_at: Mapped[datetime]


class Campaign(Table):
    """spec is the parsed campaign file. The report is wanted in version report_wanted and stored in reports.version."""

    __tablename__ = "campaigns"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str]
    notes: Mapped[str]
    state: Mapped[str]
    is_recorded: Mapped[bool] = mapped_column(default=False)
    source: Mapped[str]
    spec: Mapped[Json]
    estimate: Mapped[Json]
    created_at: Mapped[datetime]
    launched_at: Mapped[datetime | None]
    paused_at: Mapped[datetime | None]
    resumed_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    report_wanted: Mapped[int] = mapped_column(default=0)
    report_sent_at: Mapped[datetime | None]
    __table_args__ = (Index("ix_campaigns_created_at", "created_at"),)


class Run(Table):
    """needs: the job that is due (`seal`, `analyse`), sent last at needs_sent_at; the tick sends it again when it is lost."""

    __tablename__ = "runs"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    link: Mapped[str]
    condition: Mapped[str]
    cycle: Mapped[int]
    position: Mapped[int]
    attempt: Mapped[int] = mapped_column(default=1)
    state: Mapped[str]
    state_at: Mapped[datetime]
    verdict: Mapped[str | None]
    reason: Mapped[str | None]
    detail: Mapped[str | None]
    due_at: Mapped[datetime]
    start_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    released_at: Mapped[datetime | None]
    stop: Mapped[Json]
    deadline_s: Mapped[float]
    expected_s: Mapped[float]
    base_rtt_ms: Mapped[float]
    nominal_rate_bps: Mapped[int]
    is_host_wide: Mapped[bool]
    live: Mapped[Json | None]
    needs: Mapped[str | None]
    needs_sent_at: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    analysis_version: Mapped[str | None]
    __table_args__ = (
        UniqueConstraint("campaign_id", "link", "cycle", "position", "attempt", name="uq_runs_place"),
        Index("ix_runs_unfinished", "state", "due_at", postgresql_where=text("ended_at IS NULL")),
    )


class RunFlow(Table):
    """The outcome of each end stands beside what was asked."""

    __tablename__ = "run_flows"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    sender: Mapped[str]
    receiver: Mapped[str]
    asked_cc: Mapped[str]
    cc_options: Mapped[Json]
    start_s: Mapped[float]
    pacing_rate_bps: Mapped[int | None]
    ticket: Mapped[str | None]
    sender_outcome: Mapped[Json | None]
    receiver_outcome: Mapped[Json | None]
    time_to_steady_s: Mapped[float | None]
    object_times_s: Mapped[list[float] | None]

    @property
    def cc(self) -> str:
        """The congestion control that ran; until that is known, the one that was asked for."""
        return (self.sender_outcome or {}).get("actual_cc") or self.asked_cc


class RunHost(Table):
    __tablename__ = "run_hosts"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    agent: Mapped[str] = mapped_column(primary_key=True, index=True)
    roles: Mapped[list[str]]
    phase: Mapped[str]
    heard_at: Mapped[datetime | None]
    data_address: Mapped[str | None]
    settings_asked: Mapped[Json]
    settings_before: Mapped[Json | None]
    settings_during: Mapped[Json | None]
    settings_after: Mapped[Json | None]
    is_restored: Mapped[bool | None]
    differences: Mapped[list[Any]] = mapped_column(default=list)
    fingerprint: Mapped[Json | None]


class Lease(Table):
    """A run's right to a link, an agent or a host.

    An exclusive lease spans every slot, a shared one a slot of its own: overlap is what the database refuses.
    """

    __tablename__ = "leases"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    resource: Mapped[str] = mapped_column(primary_key=True)
    slots: Mapped[Range[int]] = mapped_column(INT8RANGE)
    __table_args__ = (ExcludeConstraint(("resource", "="), ("slots", "&&"), name="ex_leases_resource", using="gist"),)


class Chunk(Table):
    """A trace's chunk: as it was uploaded until the trace is sealed (`packed`), then as Parquet, never changed again."""

    __tablename__ = "chunks"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    end: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[bytes]
    samples: Mapped[int]
    packed: Mapped[bytes | None] = mapped_column(deferred=True)
    parquet: Mapped[bytes | None] = mapped_column(deferred=True)
    stored_at: Mapped[datetime]


class Trace(Table):
    """What sealing found. missing: announced chunks that never came."""

    __tablename__ = "traces"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    end: Mapped[str] = mapped_column(primary_key=True)
    samples: Mapped[int]
    chunks: Mapped[int]
    missing: Mapped[list[int]]
    sealed_at: Mapped[datetime]


class SeriesBin(Table):
    """One second of one flow. A missing value is NULL, never zero."""

    __tablename__ = "series"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    bin_s: Mapped[int] = mapped_column(primary_key=True)
    throughput_bps: Mapped[float | None]
    goodput_bps: Mapped[float | None]
    rtt_ms: Mapped[float | None]
    rwnd_bytes: Mapped[float | None]
    cwnd_bytes: Mapped[float | None]
    retransmission_percent: Mapped[float | None]
    in_flight_bytes: Mapped[float | None]


class Metric(Table):
    """A flow's means over one phase."""

    __tablename__ = "metrics"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    phase: Mapped[str] = mapped_column(primary_key=True)
    throughput_bps: Mapped[float | None]
    goodput_bps: Mapped[float | None]
    rtt_ms: Mapped[float | None]
    rwnd_bytes: Mapped[float | None]
    cwnd_bytes: Mapped[float | None]
    retransmission_percent: Mapped[float | None]
    in_flight_bytes: Mapped[float | None]
    utilisation_ratio: Mapped[float | None]


class SlowStart(Table):
    """Paper 002's times of one flow, microseconds since origin_us, the trace's first row. refusal: why nothing was judged."""

    __tablename__ = "slow_starts"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    origin_us: Mapped[int | None]
    cg_us: Mapped[int | None]
    ex_us: Mapped[int | None]
    dp_us: Mapped[int | None]
    hr_us: Mapped[int | None]
    is_success: Mapped[bool | None]
    refusal: Mapped[str | None]
    analysis_version: Mapped[str]


class Exit(Table):
    """What one detector says about one flow. place: in the panel's order. timing: early, good, late, open; NULL when it cannot be said."""

    __tablename__ = "exits"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True)
    detector: Mapped[str]
    version: Mapped[str]
    exit_us: Mapped[int | None]
    cwnd_segments: Mapped[int | None]
    parameters: Mapped[Json]
    reason: Mapped[str]
    quantities: Mapped[Json]
    is_decidable: Mapped[bool]
    timing: Mapped[str | None]


class Report(Table):
    """body: the report as JSON, sent as it is. version: the campaign's report_wanted that it answers."""

    __tablename__ = "reports"
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int]
    analysis_version: Mapped[str]
    computed_at: Mapped[datetime]
    body: Mapped[bytes]


class Event(Table):
    """What happened, for live pages and run records. `xact` orders rows by commit-safe transaction numbers (storage/events.py)."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    xact: Mapped[str] = mapped_column(Xid8, server_default=text("pg_current_xact_id()"))
    at: Mapped[datetime]
    kind: Mapped[str]
    campaign_id: Mapped[UUID | None] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    run_id: Mapped[UUID | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    data: Mapped[Json]
    __table_args__ = (
        Index("ix_events_order", "xact", "id"),
        Index("ix_events_run_id", "run_id", "id"),
        Index("ix_events_progress", "at", postgresql_where=text("kind = 'progress'")),
    )
