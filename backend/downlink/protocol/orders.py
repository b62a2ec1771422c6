"""Orders of the server to an agent."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Discriminator, Field

from downlink.protocol.base import Count, LinkSeed, Message, Moment, Role, SamplingMode


class Sampling(Message):
    mode: SamplingMode
    sender_ms: int
    receiver_ms: int
    deliveries: Annotated[
        bool,
        Field(
            description="Keep delivery tables of all flows; those of offers are kept anyway",
            exclude_if=lambda asked: not asked,
        ),
    ] = False
    sites: Annotated[
        bool,
        Field(
            description="Keep a table of sites, where this agent speaks for those of an emulated link",
            exclude_if=lambda asked: not asked,
        ),
    ] = False


class TcpTransport(Message):
    kind: Literal["tcp"] = "tcp"
    cc: str
    options: dict[str, Any]
    pacing_rate_bps: int | None


class ProbeTransport(Message):
    kind: Literal["probe"] = "probe"
    every_ms: int


class SplitTransport(Message):
    """TCP that ends at each relay. cc and options: of the sender; relay_cc: of each relay's own connection onwards."""

    kind: Literal["split"] = "split"
    cc: str
    options: dict[str, Any]
    pacing_rate_bps: int | None
    relay_cc: str


class IntcpTransport(Message):
    kind: Literal["intcp"] = "intcp"
    options: dict[str, Any]


AnyTransport = Annotated[TcpTransport | ProbeTransport | SplitTransport | IntcpTransport, Discriminator("kind")]


class Peer(Message):
    """An agent of a flow. host: its data host, where it is known."""

    agent: str
    host: Annotated[str | None, Field(exclude_if=lambda host: host is None)] = None


class Neighbour(Peer):
    """The other end of a hop, which counts from 1 at the sender. key: of the hop in this run, where the transport has one."""

    hop: Annotated[int, Field(ge=1, le=999)]
    key: Annotated[str | None, Field(pattern=r"^[0-9a-f]{32}$", repr=False, exclude_if=lambda key: key is None)] = None


class Offer(Message):
    """A message of message_bytes is written every every_ms; without one, a flow sends as fast as it can."""

    message_bytes: int
    every_ms: int


class FlowOrder(Message):
    flow: int
    role: Role
    transport: AnyTransport
    start_s: float
    ticket: Annotated[str, Field(pattern=r"^dlt_[A-Za-z0-9_-]{43}$")]
    sender: Peer
    receivers: Annotated[list[Peer], Field(min_length=1, max_length=64)]
    offer: Annotated[Offer | None, Field(exclude_if=lambda offer: offer is None)] = None
    upstream: Annotated[Neighbour | None, Field(exclude_if=lambda upstream: upstream is None)] = None
    downstream: Annotated[list[Neighbour], Field(max_length=64)] = Field(
        default=[], exclude_if=lambda others: not others
    )
    place: Annotated[int | None, Field(ge=1, le=999, exclude_if=lambda place: place is None)] = None
    content_seed: Annotated[
        str | None, Field(pattern=r"^[0-9a-f]{16}$", repr=False, exclude_if=lambda seed: seed is None)
    ] = None
    content: Annotated[int | None, Field(ge=1, le=64, exclude_if=lambda content: content is None)] = None


class LinkWindow(Message):
    """One of several equal shares of an emulated link's path trace, counted from 0; lasts_s: what a run needs of it at most."""

    number: Annotated[int, Field(ge=0)]
    of: Annotated[int, Field(ge=1)]
    lasts_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class RunBudget(BaseModel):
    """The most payload that the agent may send and receive in the run, and whose budget leaves so much."""

    bytes: Count
    of: Literal["campaign", "link"]


class Order(Message):
    """lease: tells orders for one attempt apart that a server gave before and after it was restored from a copy."""

    run_id: UUID
    attempt: int
    lease: Annotated[str | None, Field(exclude_if=lambda lease: lease is None)] = None


class PrepareOrder(Order):
    kind: Literal["prepare"] = "prepare"
    roles: list[Role]
    stop: dict[str, float | int]
    deadline_s: float
    base_rtt_ms: float
    settings: dict[str, str]
    leaves_unset: Annotated[bool, Field(exclude_if=lambda leaves: not leaves)] = Field(
        default=False, description="A setting that this host cannot make stays as it is; the run goes on"
    )
    sampling: Sampling
    link_seed: Annotated[LinkSeed | None, Field(exclude_if=lambda seed: seed is None)] = None
    link_window: Annotated[LinkWindow | None, Field(exclude_if=lambda window: window is None)] = None
    budget: Annotated[RunBudget | None, Field(exclude_if=lambda budget: budget is None)] = None
    flows: list[FlowOrder]


class GoOrder(Order):
    kind: Literal["go"] = "go"
    start_at: Moment
    peers: dict[str, str] = Field(description="Flow number to the data address of the agent's neighbour upstream")


class AbortOrder(Order):
    kind: Literal["abort"] = "abort"
    reason: str


class UploadOrder(Order):
    kind: Literal["upload"] = "upload"


class DiscardOrder(Order):
    kind: Literal["discard"] = "discard"
    reason: str
    delete: bool = Field(default=False, description="The chunks may be deleted; else the agent sets them aside")


AnyOrder = Annotated[PrepareOrder | GoOrder | AbortOrder | UploadOrder | DiscardOrder, Discriminator("kind")]
