"""Campaigns, their runs, and what each run holds."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Computed, ForeignKey, Index, Sequence, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import INT8RANGE, JSONB, ExcludeConstraint, Range
from sqlalchemy.orm import Mapped, mapped_column

from downlink.domain.campaigns.flow_plan import INTCP, PROBE
from downlink.domain.traces.point import HALVES, TABLES, Point
from downlink.storage.tables.base import Json, Table

lease_slots = Sequence("lease_slots", metadata=Table.metadata)


class Campaign(Table):
    """spec is the parsed campaign file. The report is wanted in version report_wanted and stored in reports.version.

    origin: measured (here), recorded (elsewhere, loaded from an archive), or imported (from files of other tools).
    quick_link: the link whose quick tests it keeps, None for a campaign with a file of its own. owner_id: who made it.
    """

    __tablename__ = "campaigns"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str]
    notes: Mapped[str]
    tags: Mapped[list[str]] = mapped_column(default=list, server_default="{}")
    state: Mapped[str]
    origin: Mapped[str] = mapped_column(default="measured", server_default="measured")
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
    quick_link: Mapped[str | None]
    splits_by_address: Mapped[bool] = mapped_column(default=False, server_default="false")
    owner_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    __table_args__ = (
        Index("ix_campaigns_created_at", "created_at"),
        Index("ix_campaigns_quick_link", "quick_link", postgresql_where=text("quick_link IS NOT NULL")),
    )

    @property
    def is_recorded(self) -> bool:
        return self.origin == "recorded"


class Run(Table):
    """verdict: the state that it will end in, once that is settled (`domain.run.Ending`).

    needs: the job that is due (`seal`, `analyse`), sent last at needs_sent_at; the tick sends it again when it is lost.

    nominal_rate_bps, is_emulated: of its link when it was planned; an analysis years later, or elsewhere, finds no link to ask.
    wake_at: when the tick looks at it, None for not before something happens; of planned runs, the first on each link has one.
    import_source: {file, source, sha256} of an imported run, whose nominal rate nobody knows.
    link_seed: what an emulated link is restarted with (domain/links/weather.py). link_window: which part of a
        path trace it flies.
    link_outcome: what happened to the emulated link, and the `agent` that reported it.
    traces_removed_at, series_removed_at: when retention took its raw samples and its seconds; its numbers cannot be computed again.
    trigger: what started it, of a campaign with a trigger: {name, at, value, unit, source} (domain/campaigns/trigger.py).
    checks: its numbers held against what its campaign expects (domain/campaigns/expectation.py); None where that was not done.
    way: which one its flows took (domain/runs/way.py).
    implausible: what it says and its link cannot give (domain/results/plausible.py).
    decision: whether it counts, by a person: {keeps, why, by, at}; None while nobody has decided, and it counts.
    budget: what it may carry, settled at its start: {bytes, of} (domain/runs/budget.py); None where nothing limits it.
    lease: rebuilt when the run's agents are leased, so that a server that was restored from a copy orders under another one.
    hop_secret: what the keys of hops are derived from; None where nothing passes relays, and once the run is over.
    """

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
    nominal_rate_bps: Mapped[int | None]
    is_emulated: Mapped[bool | None]
    is_host_wide: Mapped[bool]
    live: Mapped[Json | None]
    wake_at: Mapped[datetime | None]
    needs: Mapped[str | None]
    needs_sent_at: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    analysis_version: Mapped[str | None]
    import_source: Mapped[Json | None]
    link_seed: Mapped[int | None]
    link_window: Mapped[Json | None]
    budget: Mapped[Json | None]
    hop_secret: Mapped[str | None]
    lease: Mapped[str | None]
    trigger: Mapped[Json | None]
    checks: Mapped[list[Json] | None]
    way: Mapped[Json | None]
    implausible: Mapped[list[str] | None] = mapped_column(JSONB)
    decision: Mapped[Json | None]
    link_outcome: Mapped[Json | None]
    traces_removed_at: Mapped[datetime | None]
    series_removed_at: Mapped[datetime | None]
    __table_args__ = (
        UniqueConstraint("campaign_id", "link", "cycle", "position", "attempt", name="uq_runs_place"),
        Index("ix_runs_unfinished", "state", "due_at", postgresql_where=text("ended_at IS NULL")),
        Index("ix_runs_wake_at", "wake_at", postgresql_where=text("wake_at IS NOT NULL")),
        Index("ix_runs_needs", "needs_sent_at", postgresql_where=text("needs IS NOT NULL")),
        Index(
            "ix_runs_planned", "campaign_id", "link", "due_at", "cycle", "position", "attempt",
            postgresql_where=text("state = 'planned'"),
        ),
        Index("ix_runs_clock", text("coalesce(start_at, due_at)")),
        Index("ix_runs_ended_at", "ended_at"),
        Index("ix_runs_link_ended", "link", text("coalesce(released_at, ended_at)")),
        Index("ix_runs_series", "campaign_id", "link", text("coalesce(released_at, ended_at)"), "id"),
    )  # fmt: skip


LEFT_OUT = Run.decision["keeps"].astext == "false"
"""Of a run that a person left out of all numbers; NULL while nobody has decided."""

_SENT, _RECEIVED = "(sender_outcome ->> 'app_bytes')::bigint", "(receiver_outcome ->> 'app_bytes')::bigint"
CARRIED_BYTES = (
    f"coalesce(CASE WHEN greatest({_SENT}, {_RECEIVED}) > most_bytes "
    f"THEN least({_SENT}, {_RECEIVED}, CASE WHEN num_nulls({_SENT}, {_RECEIVED}) > 0 THEN most_bytes END) "
    f"ELSE greatest({_SENT}, {_RECEIVED}) END, 0)"
)
"""What both ends say is believed; of what one end alone says no more than most_bytes."""


class RunFlow(Table):
    """A flow's parameters, and the result at each end.

    object_times_s: to 1, 2, ... MB, from the first data byte until the sender knew. received_times_s: from the connection request
    until the receiver had them; NULL where it was not judged yet. Thousands of numbers: read only where they are asked for.
    carrier: of a flow that passes relays the `kind` of its transport and, where it has one, its `relay_cc`; None for others.
    offer: the messages that it sends; None for as fast as it can. relays: in order from the sender.
    hop_outcomes: by point, the result at each relay. receiver_number: its receiver's among the link's, from 1. content: the
    flow whose content it asks for; None for one of its own.
    carried_bytes: what the end that has more says, within most_bytes: a claim beyond that takes the other end's word, or the limit.
    Sums over many runs read its index, and not the outcomes. most_bytes: what the link may carry in the time that the run has.
    """

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
    carrier: Mapped[Json | None]
    offer: Mapped[Json | None]
    relays: Mapped[list[str]] = mapped_column(server_default="{}", default=list)
    hop_outcomes: Mapped[Json | None]
    receiver_number: Mapped[int] = mapped_column(server_default="1", default=1)
    content: Mapped[int | None]
    time_to_steady_s: Mapped[float | None]
    object_times_s: Mapped[list[float] | None] = mapped_column(deferred=True, deferred_raiseload=True)
    received_times_s: Mapped[list[float] | None] = mapped_column(deferred=True, deferred_raiseload=True)
    most_bytes: Mapped[int | None]
    carried_bytes: Mapped[int] = mapped_column(Computed(CARRIED_BYTES, persisted=True), deferred=True)
    __table_args__ = (Index("ix_run_flows_carried", "run_id", postgresql_include=["carried_bytes"]),)

    @property
    def is_probe(self) -> bool:
        """True for an echo over UDP instead of data over TCP; its options are its interval."""
        return self.asked_cc == PROBE

    @property
    def kind(self) -> str:
        """The transport: `tcp`, `split`, `intcp` or `probe`."""
        return PROBE if self.is_probe else (self.carrier or {}).get("kind", "tcp")

    def point_of(self, agent: str) -> Point | None:
        """Return the point at which an agent takes its samples; None if it has no part in the flow."""
        if agent in (self.sender, self.receiver):
            return Point.SENDER if agent == self.sender else Point.RECEIVER
        return Point.hop(self.relays.index(agent) + 1) if agent in (self.relays or ()) else None

    @property
    def way(self) -> tuple[str, ...]:
        """Agents from the sender over the relays to the receiver."""
        return (self.sender, *(self.relays or ()), self.receiver)

    @property
    def points(self) -> tuple[Point, ...]:
        """The points at which samples are taken, from the sender to the receiver."""
        return (Point.SENDER, *(Point.hop(place + 1) for place in range(len(self.relays or ()))), Point.RECEIVER)

    def keeper_of(self, table: Point) -> Point | None:
        """Return the point of the agent that keeps this one of TABLES. For sites the first relay that reports it; None before that."""
        if table in HALVES:
            return HALVES[table]
        hops = [point for point in self.points if point.place] if self.kind == INTCP else []
        return next((point for point in hops if (self.outcome_at(point) or {}).get("sites")), None)

    def outcome_at(self, point: Point) -> Json | None:
        """The result there; of a table that an agent keeps beside its samples the rows as samples, None where none was kept."""
        if point.place is not None:
            return (self.hop_outcomes or {}).get(point)
        if point in TABLES:
            keeper = self.keeper_of(point)
            outcome = (self.outcome_at(keeper) if keeper else None) or {}
            table = outcome.get("sites" if point == Point.SITES else "delivery")
            return table and {**table, "samples": table["rows"]}
        of_end: Json | None = getattr(self, f"{point}_outcome")
        return of_end

    def note_outcome(self, point: Point, outcome: Json) -> None:
        if point.place is not None:
            self.hop_outcomes = {**(self.hop_outcomes or {}), point: outcome}
        else:
            setattr(self, f"{point}_outcome", outcome)

    @property
    def cc(self) -> str:
        """The congestion control that ran; until that is known, the one that was asked for."""
        return (self.sender_outcome or {}).get("actual_cc") or self.asked_cc


class RunHost(Table):
    """upload_orders: since its last chunk, which was stored at stored_at; the last one was given at upload_asked_at.

    missing: chunks that its agent says it cannot deliver.
    """

    __tablename__ = "run_hosts"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    agent: Mapped[str] = mapped_column(primary_key=True, index=True)
    roles: Mapped[list[str]]
    phase: Mapped[str]
    heard_at: Mapped[datetime | None]
    upload_orders: Mapped[int] = mapped_column(default=0, server_default="0")
    upload_asked_at: Mapped[datetime | None]
    stored_at: Mapped[datetime | None]
    stored_bytes: Mapped[int] = mapped_column(default=0, server_default="0")
    data_address: Mapped[str | None]
    settings_asked: Mapped[Json]
    settings_before: Mapped[Json | None]
    settings_during: Mapped[Json | None]
    settings_after: Mapped[Json | None]
    is_restored: Mapped[bool | None]
    differences: Mapped[list[Any]] = mapped_column(default=list)
    fingerprint: Mapped[Json | None]
    missing: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")


class Wake(Table):
    """Something has happened that may let planned runs on this link start; the tick takes the row away and looks at them."""

    __tablename__ = "wakes"
    id: Mapped[int] = mapped_column(primary_key=True)
    link: Mapped[str]


class LinkShare(Table):
    """The interval of a campaign's last run on a link, in the link's own count of seconds (domain/campaigns/line.py)."""

    __tablename__ = "link_shares"
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    link: Mapped[str] = mapped_column(primary_key=True, index=True)
    from_s: Mapped[float]
    to_s: Mapped[float]


class Lease(Table):
    """A run's right to a link, an agent or a host.

    An exclusive lease spans every slot, a shared one a slot of its own: overlap is what the database refuses.
    """

    __tablename__ = "leases"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    resource: Mapped[str] = mapped_column(primary_key=True)
    slots: Mapped[Range[int]] = mapped_column(INT8RANGE)
    __table_args__ = (ExcludeConstraint(("resource", "="), ("slots", "&&"), name="ex_leases_resource", using="gist"),)
