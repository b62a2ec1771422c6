"""Outcomes: what an agent reports of its part of a run (docs/agent-protocol.md section 6).

A field is None where the agent did not report it, and never zero. What this program does not read is kept as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self, final

from downlink.domain.traces.point import Point

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A JSON object of which some keys are fields. kept: the object as it came, with all keys in their order."""

    PARTS: ClassVar[Mapping[str, type[Reported]]] = {}
    """Fields that are objects themselves."""
    kept: Json = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, stored: Any) -> Self:
        """Read an object of any version; values are not checked. TypeError where it is none."""
        if not isinstance(stored, dict):
            raise TypeError(f"an outcome is an object, not {stored!r:.100}")
        own = {name: stored[name] for name in cls._fields() if name in stored}
        for name, part in cls.PARTS.items():
            if value := own.get(name):
                own[name] = part.read(value)
        made = object.__new__(cls)  # a campaign has tens of thousands, and __init__ sets one field after the other
        vars(made).update(own, kept=stored)
        return made

    def to_json(self) -> dict[str, Any]:
        """Return the object as it came, with the fields that were replaced since. Absent keys stay absent, null ones null."""
        own = {name: value for name in self._fields() if (value := getattr(self, name)) is not None}
        parts = {name: value.to_json() for name, value in own.items() if isinstance(value, Reported)}
        return {**self.kept, **own, **parts}

    @classmethod
    @cache
    def _fields(cls) -> tuple[str, ...]:
        return tuple(each.name for each in fields(cls) if each.name != "kept")


@dataclass(frozen=True, kw_only=True)
class Announced(Reported):
    """An announcement of the chunks that an agent will upload of one point, and of the samples in them."""

    chunks: int | None = None

    @property
    def announced_chunks(self) -> int:
        """The announced chunks. KeyError where the agent announced nothing: that is not the same as no chunks."""
        if self.chunks is None:
            raise KeyError("chunks")
        return self.chunks


@final
@dataclass(frozen=True, kw_only=True)
class TableOutcome(Announced):
    """A table that an agent keeps beside a flow's samples: deliveries, or what an emulated link's sites did.

    zero_us: the run's zero on the host's monotonic clock.
    """

    rows: int | None = None
    zero_us: int | None = None

    @property
    def samples(self) -> int | None:
        return self.rows


@final
@dataclass(frozen=True, kw_only=True)
class Route(Reported):
    """A host's own part of a flow's path. next_hop: None or empty where the peer is on the same network."""

    source: str | None = None
    interface: str | None = None
    next_hop: str | None = None


@final
@dataclass(frozen=True, kw_only=True)
class FlowOutcome(Announced):
    """One flow at one of its ends, or at a relay.

    actual_cc: the congestion control that ran. first_byte_us, last_byte_us: of the flow's data, on the clock of the samples.
    app_bytes: payload. way, way_at_end: the route at the flow's beginning, and at its end where it changed.
    ended: why. delivery, sites: the tables that the agent keeps.
    """

    PARTS: ClassVar[Mapping[str, type[Reported]]] = {
        "way": Route, "way_at_end": Route, "delivery": TableOutcome, "sites": TableOutcome,
    }  # fmt: skip
    flow: int | None = None
    point: str | None = None
    actual_cc: str | None = None
    cc_version: int | None = None
    hystart_exits: Json | None = None
    first_byte_us: int | None = None
    last_byte_us: int | None = None
    app_bytes: int | None = None
    local_address: str | None = None
    peer_address: str | None = None
    way: Route | None = None
    way_at_end: Route | None = None
    handshake_rtt_us: int | None = None
    samples: int | None = None
    sampling: str | None = None
    dropped_samples: int | None = None
    achieved_rate_hz: float | None = None
    lateness_mean_us: float | None = None
    lateness_max_us: float | None = None
    ended: str | None = None
    detail: str | None = None
    delivery: TableOutcome | None = None
    sites: TableOutcome | None = None

    @property
    def is_at_relay(self) -> bool:
        return self.point is not None and Point(self.point).rank is not None


@final
@dataclass(frozen=True, kw_only=True)
class LinkLoss(Reported):
    """Packets that an emulated link lost on one way for one cause. flow: None for packets of no flow."""

    flow: int | None = None
    way: str
    cause: str
    packets: int


@final
@dataclass(frozen=True, kw_only=True)
class LinkOutcome(Announced):
    """An emulated link in a run, and its log. agent: who reported it.

    path: the stretch of a path trace that it flew. lost: see `losses`. counted_flows: those whose losses it told apart, None
    where the agent does not say. detail: why the log breaks off.
    """

    agent: str | None = None
    path: Json | None = None
    samples: int | None = None
    lateness_max_us: int | None = None
    lost: list[dict[str, Any]] | None = None
    counted_flows: list[int] | None = None
    detail: str | None = None

    @property
    def losses(self) -> list[LinkLoss] | None:
        """Lost packets by flow, way and cause; None where the agent did not count them."""
        return None if self.lost is None else [LinkLoss.read(each) for each in self.lost]
