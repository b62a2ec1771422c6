"""The plan of a flow: its transport, options, messages and ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Tcp:
    """TCP carries a flow. cc: the congestion control, with its options. pacing_rate_bps: the most, bit/s; None: no limit."""

    cc: str = "cubic"
    options: Mapping[str, Scalar] = field(default_factory=dict)
    pacing_rate_bps: int | None = None


PROBE = "probe"
"""Name of a probe flow, where other flows name their congestion control."""
PROBE_EVERY_MS = (20, 1000)
"""Bounds of the interval: at most 37 kb/s, and one in each second."""


@dataclass(frozen=True)
class Probe:
    """A light echo over UDP, one probe every every_ms: round-trip times and losses that do not come from TCP."""

    every_ms: int = 100


@dataclass(frozen=True)
class Split(Tcp):
    """TCP that ends at each relay. cc and options: of the sender. relay_cc: of each relay's connection onwards."""

    relay_cc: str = "cubic"


@dataclass(frozen=True)
class Intcp:
    """INTCP carries a flow, hop by hop (docs/intcp/README.md).

    buffer_bytes: what may wait at a relay; 0 for what its hops need. window_bytes: what may be asked ahead. cache: relays keep
    what passed. recovery, rate: by each hop, or end to end. handover: a new neighbour is asked at once, or after a timeout.
    """

    buffer_bytes: int = 0
    window_bytes: int = 8 << 20
    cache: str = "on"
    recovery: str = "hop"
    rate: str = "hop"
    handover: str = "ask"
    hole_packets: int = 3


TCP, INTCP, SPLIT = "tcp", "intcp", "split"
"""Kinds of transport; the latter two pass relays. That of INTCP is also what its flows have where others name their congestion control."""
INTCP_RANGES: Mapping[str, tuple[int, int]] = {
    "buffer_bytes": (1_500, 1 << 30),
    "window_bytes": (1_400, 1 << 26),  # as agents take it
    "hole_packets": (1, 16),
}
INTCP_UNSET = frozenset({"buffer_bytes"})
"""Options that may be 0, too: then agents choose."""
INTCP_CHOICES: Mapping[str, tuple[str, ...]] = {
    "cache": ("on", "off"),
    "recovery": ("hop", "end"),
    "rate": ("hop", "end"),
    "handover": ("ask", "timeout"),
}
Transport: TypeAlias = Tcp | Probe | Intcp
"""Transport of a flow; Split is a Tcp."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The messages that a sender writes: message_bytes, one every every_ms."""

    message_bytes: int
    every_ms: int


_OF_FLOWS = ("sender", "receiver", "start_s", "transport", "offer", "content")


@dataclass(frozen=True)
class FlowPlan:
    """One flow of a condition. start_s: offset from the run's zero.

    sender, receiver: the places in the link's senders and receivers, from 1. content: flows of a condition that have the same
    number here ask for the same bytes; None for bytes of its own.
    """

    transport: Transport = field(default_factory=Tcp)
    sender: int = 1
    start_s: float = 0.0
    receiver: int = 1
    offer: Offer | None = None
    content: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the flow as the campaign file writes it, without the defaults: TCP and the link's first receiver."""
        own = asdict(self.transport)
        if self.is_probe:
            own = {PROBE: own}
        elif self.kind != TCP:
            own = {"transport": self.kind, **({"options": own} if self.kind == INTCP else own)}
        offer = {"offer": asdict(self.offer)} if self.offer else {}
        receiver = {"receiver": self.receiver} if self.receiver != 1 else {}
        content = {"content": self.content} if self.content is not None else {}
        return {"sender": self.sender, **receiver, "start_s": self.start_s, **own, **offer, **content}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FlowPlan:
        own = {key: value for key, value in data.items() if key not in _OF_FLOWS}
        offer = Offer(**data["offer"]) if data.get("offer") else None
        return cls(
            _transport(data.get("transport"), own), data["sender"], data["start_s"], data.get("receiver", 1), offer,
            data.get("content"),
        )  # fmt: skip

    @property
    def kind(self) -> str:
        """The transport's name in campaign files and orders."""
        return kind_of(self.transport)

    @property
    def passes_relays(self) -> bool:
        """True if the relays of its link take part; over TCP they only route."""
        return self.kind in (SPLIT, INTCP)

    @property
    def is_probe(self) -> bool:
        return isinstance(self.transport, Probe)

    @property
    def tcp(self) -> Tcp | None:
        """Its sender's control and options; None where it has none."""
        return self.transport if isinstance(self.transport, Tcp) else None


def kind_of(transport: Transport) -> str:
    """`tcp`, `split`, `intcp` or `probe`."""
    if isinstance(transport, Split):
        return SPLIT
    return TCP if isinstance(transport, Tcp) else INTCP if isinstance(transport, Intcp) else PROBE


def _transport(kind: str | None, own: Mapping[str, Any]) -> Transport:
    if PROBE in own:
        return Probe(**own[PROBE])
    if kind == INTCP:
        return Intcp(**own["options"])
    return Split(**own) if kind == SPLIT else Tcp(**own)
