"""A run's sealed traces, opened to be judged: columns by name, read and decoded once, and only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any
from uuid import UUID

from downlink.analysis.delays import End, FlowDelays, common_clock, flow_delays, joint_error_ms
from downlink.analysis.exits.capacity import LinkRate
from downlink.analysis.exits.flow import flow_trace
from downlink.analysis.exits.trace import AckTrace
from downlink.analysis.imported_series import counted_from_zero, imported_series
from downlink.analysis.linklog import hop_log
from downlink.analysis.probes import probe_series
from downlink.analysis.series import FlowSeries, relayed_series, sender_series
from downlink.codec.parquet import Columns, Ints, ParquetTrace
from downlink.domain.campaigns.campaign import Phases
from downlink.domain.campaigns.flow_plan import INTCP, SPLIT, TCP
from downlink.domain.runs.outcome import FlowOutcome
from downlink.domain.traces.point import ENDS, NO_FLOW, TABLES, Point
from downlink.storage.campaigns import campaign_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Run, RunFlow
from downlink.storage.traces import trace_store
from downlink.storage.unit import Unit

RECEIVED = frozenset({"elapsed_us", "received_bytes", "rcv_wnd_bytes"})
"""Columns of a receiver's trace that a judge asks for, imported files left out."""
SENT = frozenset({"elapsed_us", "sent_bytes", "retransmitted_bytes"})
"""Columns of a relay's trace."""


class LazyColumns(Mapping[str, Ints]):
    """One trace by column; empty when there is none. `together` are decoded at once with the first of them, others one by one."""

    def __init__(self, read: Callable[[], list[bytes]], together: Collection[str] | None) -> None:
        self._read = read
        self._together = together
        self._decoded: Columns = {}

    @cached_property
    def _trace(self) -> ParquetTrace:
        return ParquetTrace(self._read())

    @property
    def _names(self) -> tuple[str, ...]:
        return self._trace.names

    def __getitem__(self, name: str) -> Ints:
        if name not in self._decoded:
            if name not in self._names:
                raise KeyError(name)
            group = self._names if self._together is None else [each for each in self._names if each in self._together]
            is_first = name in group and name not in self._decoded
            self._decoded.update(self._trace.columns(group if is_first else [name]))
        return self._decoded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


@dataclass(frozen=True)
class FlowTrace:
    """One flow of a run with its samples at both ends.

    nominal: the link's rate, where the flow had it to itself and it is known. link: the log of an emulated link; else empty.
    hops: the traces of its relays, in order from the sender. sites: the table of an emulated link's relays by site; else empty.
    sent, delivered: the halves of its delivery table.
    """

    run: Run
    flow: RunFlow
    sender: Mapping[str, Ints]
    receiver: Mapping[str, Ints]
    nominal: LinkRate | None
    link: Mapping[str, Ints]
    hops: Sequence[Mapping[str, Ints]] = ()
    sites: Mapping[str, Ints] = field(default_factory=dict)
    sent: Mapping[str, Ints] = field(default_factory=dict)
    delivered: Mapping[str, Ints] = field(default_factory=dict)

    @cached_property
    def rate(self) -> LinkRate | None:
        """The link's rate where the flow had it to itself, with the log of its hop where there is one."""
        if self.nominal is None or not self.link:
            return self.nominal
        return replace(self.nominal, log=hop_log(self.link, self.first_byte_us))

    @property
    def is_imported(self) -> bool:
        return self.run.import_source is not None

    @property
    def is_judged(self) -> bool:
        """True if there is something to judge: a byte was sent, and the sender's trace exists. One end is enough for an imported
        flow."""
        counts = self.receiver if self.flow.relays else self.sender
        return self.is_imported or (self._first_byte_us is not None and bool(counts))

    @property
    def first_byte_us(self) -> int:
        """The first data byte on the clock of the sender's samples; the run's zero where none is known."""
        return self._first_byte_us or 0

    @property
    def _first_byte_us(self) -> int | None:
        return self._outcome and self._outcome.first_byte_us

    @property
    def last_byte_us(self) -> int | None:
        return self._outcome and self._outcome.last_byte_us

    @property
    def duration_s(self) -> float | None:
        """Seconds for which the flow should send by its run's stop rule; None for a rule by bytes."""
        seconds = self.run.stop.get("seconds")
        return None if seconds is None else float(seconds - self.flow.start_s)

    @property
    def keeps_deliveries(self) -> bool:
        """True if an end reports that it kept its half of a delivery table."""
        return any(each and each.delivery for each in (self.flow.sender_outcome, self.flow.receiver_outcome))

    @property
    def _outcome(self) -> FlowOutcome | None:
        """The outcome of the sender; of the receiver if the sender has none of an INTCP flow."""
        if self.flow.kind == INTCP and self.flow.first_byte_us is None:
            return self.flow.receiver_outcome
        return self.flow.sender_outcome

    @cached_property
    def counted(self) -> Mapping[str, Ints]:
        """The sender's samples; of an imported flow from time 0 on."""
        return counted_from_zero(self.sender) if self.is_imported else self.sender

    @cached_property
    def series(self) -> FlowSeries:
        if self.is_imported:
            return imported_series(self.sender, self.receiver)
        if self.flow.is_probe:
            return probe_series(self.sender, self.first_byte_us, self.duration_s)
        if self.flow.relays:
            ends = (self.sender, self.receiver, self.hops)
            return relayed_series(self.flow.kind, *ends, self.first_byte_us, self.duration_s)
        span = (self.first_byte_us, self.duration_s, self.last_byte_us)
        return sender_series(self.sender, *span, is_full=self.has_full_segments)

    @property
    def has_full_segments(self) -> bool:
        """True if TCP cuts a stream into segments of its own size; messages at a fixed rate may be smaller."""
        return self.flow.offer is None

    @cached_property
    def acks(self) -> AckTrace:
        """Return the input of detectors. Raise InvalidError `trace_invalid` if the trace does not allow a replay."""
        return flow_trace(self.sender, self.flow.cc, self.first_byte_us)


@dataclass(frozen=True)
class RunTrace:
    """All flows of a run, the phases of its campaign, and the log of its emulated link; empty where there is none.

    hosts: by agent, what it said of its host when it was ready.
    """

    run: Run
    phases: Phases
    flows: Sequence[FlowTrace]
    link: Mapping[str, Ints]
    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def zero_us(self) -> int:
        """The zero of the phases' seconds, on the run's clock in microseconds: the first data byte of the flow that begins first,
        less its start."""
        firsts = [(each.flow.start_s, each.first_byte_us) for each in self.judged]
        start_s, first_us = min(firsts, default=(0.0, 0))
        return first_us - round(start_s * 1e6)

    @cached_property
    def delays(self) -> Mapping[int, FlowDelays]:
        """The delays of each flow that kept a delivery table, by its number."""
        return {each.flow.flow: self._delays(each) for each in self.judged if each.keeps_deliveries}

    def _delays(self, each: FlowTrace) -> FlowDelays:
        every_us = 1000 * each.flow.offer["every_ms"] if each.flow.offer else None
        return flow_delays(
            each.sent, each.delivered, common_clock(*self._ends(each.flow)), each.first_byte_us, every_us
        )

    def _ends(self, flow: RunFlow) -> tuple[End, End]:
        return self._end(flow.sender, flow.sender_outcome), self._end(flow.receiver, flow.receiver_outcome)

    def _end(self, agent: str | None, outcome: FlowOutcome | None) -> End:
        host, table = self.hosts.get(agent or "", {}), outcome and outcome.delivery
        return End(host.get("boot_id"), table and table.zero_us, _number(host.get("clock_error_ms")))

    def clock_error_ms(self, flow: RunFlow) -> float | None:
        """Return by how many milliseconds the clocks of a flow's ends may differ: their errors, as the agents reported them when they
        were ready."""
        return joint_error_ms(*self._ends(flow))

    @cached_property
    def judged(self) -> Sequence[FlowTrace]:
        return [each for each in self.flows if each.is_judged]

    @cached_property
    def tcp(self) -> Sequence[FlowTrace]:
        """The flows that have a congestion window."""
        return [each for each in self.judged if each.flow.kind == TCP or (each.flow.kind == SPLIT and each.sender)]


def open_run(unit: Unit, run: Run, together: Collection[str] | None = None) -> RunTrace:
    """together: the sender's columns that will be asked for; all of them unless named."""
    return open_runs(unit, run.campaign_id, [run], together)[0]


def open_runs(
    unit: Unit, campaign_id: UUID, of_campaign: Sequence[Run], together: Collection[str] | None
) -> list[RunTrace]:
    """Runs of one campaign, as open_run does it."""
    phases = campaign_store.campaign_of(campaign_store.find_campaign(unit, campaign_id)).phases
    flows: dict[UUID, list[RunFlow]] = {run.id: [] for run in of_campaign}
    for flow in run_store.flows_of_runs(unit, flows):
        flows[flow.run_id].append(flow)
    return [_run_trace(unit, run, phases, flows[run.id], together) for run in of_campaign]


def _run_trace(
    unit: Unit, run: Run, phases: Phases, flows: Sequence[RunFlow], together: Collection[str] | None
) -> RunTrace:
    link, with_data = _link_of(unit, run), _with_data(flows)
    opened = [_open(unit, run, flow, with_data, link, together) for flow in flows]
    return RunTrace(run, phases, opened, link, run_store.fingerprints(unit, run.id))


def open_link(unit: Unit, run: Run) -> Mapping[str, Ints]:
    """The log of a run's emulated link; empty where there is none."""
    return LazyColumns(partial(_parts, unit, run, NO_FLOW, Point.LINK), None)


def open_flow(unit: Unit, run: Run, flow: RunFlow) -> FlowTrace:
    return _open(unit, run, flow, _with_data(run_store.flows_of(unit, run.id)), _link_of(unit, run), None)


def _link_of(unit: Unit, run: Run) -> Mapping[str, Ints]:
    return open_link(unit, run) if run.link_outcome else {}


def _with_data(flows: Sequence[RunFlow]) -> int:
    """Count the flows that share the link; probes take next to nothing of it."""
    return sum(not flow.is_probe for flow in flows)


def _open(
    unit: Unit, run: Run, flow: RunFlow, flows: int, link: Mapping[str, Ints], together: Collection[str] | None
) -> FlowTrace:
    groups = (together, together and RECEIVED)
    sender, receiver = (
        LazyColumns(partial(_parts, unit, run, flow.flow, point), group)
        for point, group in zip(ENDS, groups, strict=True)
    )
    hops = [LazyColumns(partial(_parts, unit, run, flow.flow, each), SENT) for each in flow.points if each.rank]
    sent, delivered, sites = (LazyColumns(partial(_parts, unit, run, flow.flow, table), None) for table in TABLES)
    return FlowTrace(run, flow, sender, receiver, _link_rate(run, flows), link, hops, sites, sent, delivered)


def _number(value: object) -> float | None:
    """Return an agent's value as a number; None if it is none."""
    return float(value) if isinstance(value, int | float) else None


def _parts(unit: Unit, run: Run, flow: int, point: Point) -> list[bytes]:
    return list(trace_store.sealed_parts(unit, run.id, flow, point))


def _link_rate(run: Run, flows: int) -> LinkRate | None:
    """The rate that a run's flow had to itself; None where nobody knows it, or where several flows shared it."""
    if run.nominal_rate_bps is None or flows > 1:
        return None
    return LinkRate(run.nominal_rate_bps, is_emulated=bool(run.is_emulated))
