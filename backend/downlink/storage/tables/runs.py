"""Runs, their flows and hosts, and what they hold of links."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Computed, ForeignKey, Index, Sequence, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import INT8RANGE, JSONB, ExcludeConstraint, Range
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from downlink.domain.campaigns.flow_plan import INTCP, PROBE
from downlink.domain.runs.outcome import FlowOutcome, LinkOutcome, TableOutcome
from downlink.domain.traces.point import HALVES, TABLES, Point
from downlink.storage.tables.base import Json, Table
from downlink.storage.tables.outcomes import CARRIED_BYTES, HopOutcomes, actual_cc

lease_slots = Sequence("lease_slots", metadata=Table.metadata)


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
    link_outcome: Mapped[LinkOutcome | None]
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
"""Condition of a run that a person left out of all numbers; NULL while nobody has decided."""


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
    sender_outcome: Mapped[FlowOutcome | None]
    receiver_outcome: Mapped[FlowOutcome | None]
    carrier: Mapped[Json | None]
    offer: Mapped[Json | None]
    relays: Mapped[list[str]] = mapped_column(server_default="{}", default=list)
    hop_outcomes: Mapped[HopOutcomes | None]
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
        return (Point.SENDER, *(Point.hop(index + 1) for index in range(len(self.relays or ()))), Point.RECEIVER)

    def keeper_of(self, table: Point) -> Point | None:
        """Return the point of the agent that keeps this one of TABLES. For sites the first relay that reports it; None before that."""
        if table in HALVES:
            return HALVES[table]
        outcomes = self.outcomes.items() if self.kind == INTCP else ()
        return next((point for point, outcome in outcomes if point.rank and outcome.sites), None)

    @property
    def outcomes(self) -> Mapping[Point, FlowOutcome]:
        """Outcomes by point, from the sender to the receiver; a point whose agent reported none is left out."""
        hops = self.hop_outcomes or {}
        reported = {Point.SENDER: self.sender_outcome, **hops, Point.RECEIVER: self.receiver_outcome}
        return {point: outcome for point in self.points if (outcome := reported.get(point))}

    def announced_at(self, point: Point) -> FlowOutcome | TableOutcome | None:
        """Announcement of the samples of a point, or of one of TABLES; None where there is none."""
        if point not in TABLES:
            return self.outcomes.get(point)
        outcome = self.outcomes.get(keeper) if (keeper := self.keeper_of(point)) else None
        return outcome and (outcome.sites if point == Point.SITES else outcome.delivery)

    def note_outcome(self, point: Point, outcome: FlowOutcome) -> None:
        if point == Point.SENDER:
            self.sender_outcome = outcome
        elif point == Point.RECEIVER:
            self.receiver_outcome = outcome
        else:
            self.hop_outcomes = {**(self.hop_outcomes or {}), point: outcome}

    @property
    def first_byte_us(self) -> int | None:
        """The first data byte on the clock of the sender's samples; None where none is known."""
        return self.sender_outcome.first_byte_us if self.sender_outcome else None

    @hybrid_property
    def cc(self) -> str:
        """The congestion control that ran; until that is known, the one that was asked for."""
        return (self.sender_outcome and self.sender_outcome.actual_cc) or self.asked_cc

    @cc.inplace.expression
    @classmethod
    def _cc(cls) -> ColumnElement[str]:
        return func.coalesce(func.nullif(actual_cc(cls.sender_outcome), ""), cls.asked_cc)


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
