"""The agent protocol's messages. What agents write is bounded, and control characters in it are refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isfinite
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    AliasChoices,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import ErrorDetails

from downlink.domain.campaigns.opening import Hours
from downlink.domain.fleet.agent import PROTOCOL
from downlink.domain.fleet.enrolment import AGENT_NAME
from downlink.domain.moment import in_utc
from downlink.domain.runs.run import Reason
from downlink.domain.traces.point import POINT

MAX_LIST = 256
EXACT = 2**53
"""Up to here each reader of JSON has every whole number (RFC 8259, section 6)."""
MAX_FACTS_BYTES = 64 * 1024
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _refuse_controls(text: str) -> str:
    if _CONTROLS.search(text):
        raise ValueError("control characters are not allowed")
    return text


def _iso_us(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _plain(value: Any, depth: int = 3) -> Any:
    """A bounded tree of plain values, for facts whose shape is the agent's own."""
    match value:
        case dict() if depth and len(value) <= MAX_LIST:
            return {_text(key): _plain(item, depth - 1) for key, item in value.items()}
        case list() if depth and len(value) <= MAX_LIST:
            return [_plain(item, depth - 1) for item in value]
        case str():
            return _text(value)
        case int() if abs(value) > EXACT:
            raise ValueError("a whole number is beyond 2^53")
        case float() if not isfinite(value):
            raise ValueError("a number is not finite")
        case None | bool() | int() | float():
            return value
    raise ValueError("too deep, too long, or no plain value")


def _text(text: str) -> str:
    if len(text) > 1000:
        raise ValueError("a text is longer than 1000 characters")
    return _refuse_controls(text)


Word = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_refuse_controls)]
Sentence = Annotated[str, Field(max_length=2000), AfterValidator(_refuse_controls)]
Address = Annotated[
    str, Field(min_length=3, max_length=100, pattern=r"^(\[[0-9a-fA-F:.%a-z0-9]+\]|[A-Za-z0-9.-]+):\d{1,5}$")
]
Moment = Annotated[AwareDatetime, AfterValidator(in_utc), PlainSerializer(_iso_us, when_used="json", return_type=str)]
SettingValues = Annotated[
    dict[Word, Annotated[str, Field(max_length=200), AfterValidator(_refuse_controls)]], Field(max_length=64)
]


def _quiet_hours(text: str) -> str:
    Hours.parse(text)
    return text


QuietHours = Annotated[str, Field(max_length=100), AfterValidator(_quiet_hours)]
Facts = Annotated[dict[str, Any], AfterValidator(_plain)]
Count = Annotated[int, Field(ge=0, le=2**62)]
Difference = Annotated[int, Field(ge=-(2**53), le=2**53)]
Duration = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Attempt = Annotated[int, Field(ge=1, le=1000)]
Protocol = Annotated[int, Field(ge=1, le=1000)]
OLDEST = 1
"""The protocol of agents that do not say which they speak."""
LinkSeed = Annotated[int, Field(ge=0, lt=2**53)]
Measure = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Status = Literal["idle", "preparing", "ready", "running", "restoring", "restored", "uploading", "blocked"]
PointName = Annotated[str, Field(pattern=f"^({POINT})$", description="Where samples are taken")]
Role = Literal["sender", "receiver", "relay"]


class Message(BaseModel):
    """Unknown keys are ignored, so that a newer agent can speak to this backend."""

    model_config = ConfigDict(extra="ignore")


class ControlOption(Message):
    choices: Annotated[list[Word], Field(max_length=64)]
    min: Count
    max: Count


class ClockFacts(Message):
    """What must be added to a host's clock to get the server's, and half the round trip of the exchange that gave it."""

    offset_ms: Annotated[float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]
    error_ms: Measure


class MonthFacts(BaseModel):
    """What all runs of a month may move at a host, what of it is used, and on which day by its clock the next month begins."""

    limit_bytes: Annotated[int, Field(ge=1, le=2**62)]
    used_bytes: Count
    resets_on: date


class PolicyFacts(BaseModel):
    """What a host's owner allows; what is null is not bounded."""

    model_config = ConfigDict(extra="allow")
    max_seconds: Annotated[Duration | None, Field(exclude_if=lambda most: most is None)] = None
    max_bytes: Annotated[int | None, Field(gt=0, le=2**62, exclude_if=lambda most: most is None)] = None
    max_rate_bps: Annotated[int | None, Field(gt=0, le=2**62, exclude_if=lambda most: most is None)] = None
    month: Annotated[MonthFacts | None, Field(exclude_if=lambda month: month is None)] = None
    quiet_hours: Annotated[list[QuietHours], Field(max_length=64, exclude_if=lambda hours: not hours)] = Field(
        default=[], description="In which no run is taken, by the host's own clock"
    )
    utc_offset_s: Annotated[int, Field(ge=-86_400, le=86_400, description="The host's clock is so much ahead of UTC")]
    shorten_addresses: Annotated[bool, Field(exclude_if=lambda wanted: not wanted)] = Field(
        default=False, description="Of the addresses of its flows the network alone is kept"
    )

    def model_post_init(self, _context: Any) -> None:
        _plain(dict(self.model_extra or {}))


class PathTrace(Message):
    """A path trace (docs/paths.md), and how long it is."""

    name: Word
    lasts_s: Duration


class Host(BaseModel):
    """Facts of a host. Facts that only a newer agent knows are kept as they are."""

    model_config = ConfigDict(extra="allow")
    boot_id: Word
    hostname: Word
    kernel: Word
    os: Sentence
    arch: Word
    cpus: Annotated[int, Field(ge=1, le=100_000)]
    roles: Annotated[list[Role], Field(max_length=3)]
    congestion_controls: Annotated[list[Word], Field(max_length=MAX_LIST)]
    controls_unavailable: Annotated[dict[Word, Sentence], Field(max_length=64)] = Field(
        default={}, description="The agent's own controls that this host cannot run, each with the reason"
    )
    control_options: Annotated[
        dict[Word, Annotated[dict[Word, ControlOption], Field(max_length=64)]] | None, Field(max_length=64)
    ] = Field(
        default=None,
        description="What each of the agent's own controls takes: by control and option one of the choices or, "
        "where there are none, a whole number from min to max; null: the agent does not say",
    )
    transports: Annotated[list[Word], Field(max_length=64)] = Field(
        default=["tcp"], description="The kinds of flow that the agent carries"
    )
    transport_options: Annotated[
        dict[Word, Annotated[dict[Word, ControlOption], Field(max_length=64)]] | None,
        Field(max_length=64, exclude_if=lambda options: options is None),
    ] = Field(default=None, description="What the kinds take, by kind and option, as control_options; null: not said")
    offers: Annotated[
        dict[Word, ControlOption] | None, Field(max_length=8, exclude_if=lambda offers: offers is None)
    ] = Field(
        default=None,
        description="Bounds of message_bytes and every_ms where the agent sends messages at a fixed rate; null: it does not",
    )
    holds_budget: Annotated[bool, Field(exclude_if=lambda holds: not holds)] = Field(
        default=False, description="The agent ends a run that has moved what its order's budget allows"
    )
    data_mtu: Annotated[int | None, Field(ge=0, le=2**31, exclude_if=lambda mtu: mtu is None)] = Field(
        default=None, description="Largest IP packet of the interface of data_host, in bytes; null: not said"
    )
    per_ack_refused: Annotated[str | None, Field(max_length=2000, exclude_if=lambda why: not why)] = Field(
        default=None,
        description="Why the agent records no ACKs of the kernel's controls; null: it does, or does not say",
    )
    settings_refused: Annotated[dict[Word, Sentence], Field(max_length=64, exclude_if=lambda refused: not refused)] = (
        Field(default={}, description="Settings that the agent cannot make here, each with the reason")
    )
    path_trace: Annotated[PathTrace | None, Field(exclude_if=lambda trace: trace is None)] = Field(
        default=None,
        description="What the emulated link beside the agent replays; null: there is none, or it is not up",
    )
    settings: SettingValues
    settings_writable: Annotated[list[Word], Field(max_length=64)]
    tcp_info_bytes: Count
    data_host: Word
    spool_free_bytes: Count
    clock: Annotated[ClockFacts | None, Field(exclude_if=lambda clock: clock is None)] = None
    policy: Annotated[PolicyFacts | None, Field(exclude_if=lambda policy: policy is None)] = None

    def model_post_init(self, _context: Any) -> None:
        facts = _plain(dict(self.model_extra or {}))
        if len(json.dumps(facts)) > MAX_FACTS_BYTES:
            raise ValueError(f"facts of a host have more than {MAX_FACTS_BYTES} bytes")


class JoinRequest(Message):
    protocol: Protocol = OLDEST
    token: Annotated[str, Field(max_length=200), AfterValidator(_refuse_controls)]
    name: Annotated[str, Field(pattern=f"^{AGENT_NAME}$")]
    version: Word
    host: Host


class JoinResponse(Message):
    agent_id: UUID
    secret: str
    server_now: Moment


class SpoolEntry(Message):
    run_id: UUID
    attempt: Attempt
    chunks: Count


class FlowProgress(Message):
    flow: Annotated[int, Field(ge=1, le=1000)]
    acked_bytes: Count
    rtt_us: Count
    cwnd_bytes: Count


class RunProgress(Message):
    elapsed_s: Measure
    bytes: Count
    flows: Annotated[list[FlowProgress], Field(max_length=64)] = Field(
        default=[], exclude_if=lambda flows: not flows, description="The agent's sending connections as they are now"
    )


class UploadProgress(Message):
    chunks_done: Count
    chunks_total: Count


class PollRequest(Message):
    protocol: Protocol = OLDEST
    status: Status
    run_id: UUID | None
    attempt: Attempt | None = None
    detail: Sentence | None
    reason: Annotated[Word | None, Field(exclude_if=lambda reason: reason is None)] = None
    progress: RunProgress | UploadProgress | None
    spool: Annotated[list[SpoolEntry], Field(max_length=10_000)]
    host: Host | None
    wait_s: Annotated[float, Field(ge=0, le=25)]


SamplingMode = Literal["polled", "per_ack"]


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
    downstream: Annotated[list[Neighbour], Field(max_length=64, exclude_if=lambda downstream: not downstream)] = []
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


class PollResponse(Message):
    protocol: Protocol = PROTOCOL
    server_now: Moment
    order: AnyOrder | None
    hold_upload: Annotated[bool, Field(exclude_if=lambda hold: not hold)] = Field(
        default=False,
        description="A run holds a link that the upload crosses, or the host: it ends, and is asked for again",
    )


class Event(Message):
    attempt: Attempt
    at: Moment
    lease: Annotated[
        str | None, Field(max_length=64, pattern=r"^[0-9a-f]*$", exclude_if=lambda lease: lease is None)
    ] = None


class ReadyEvent(Event):
    kind: Literal["ready"] = "ready"
    data_address: Address | None
    settings_before: SettingValues
    settings_during: SettingValues
    fingerprint: Facts


class HystartExits(Message):
    """Of all sockets beside the flow on its host."""

    train: Difference
    delay: Difference


class WrongAt(Message):
    """The first byte that is not the content's, and the last hop whose packets were the neighbour's own."""

    offset: Count
    hop: Annotated[int, Field(ge=1, le=999)]


class Delivery(Message):
    """A flow's delivery table as one end has it: rows and chunks of the point `sent` or `delivered`.

    dropped_rows: blocks that the host could not stamp. zero_us: the run's zero on the host's monotonic clock.
    """

    block_bytes: Annotated[int, Field(ge=1, le=2**31)]
    rows: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    dropped_rows: Count
    zero_us: Annotated[int | None, Field(ge=-(2**62), le=2**62, exclude_if=lambda zero: zero is None)] = None


class SiteTable(Message):
    """What an emulated link's sites did of a flow: rows and chunks of the point `sites`.

    dropped_rows: those for which there was no room.
    """

    rows: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    dropped_rows: Count


class Way(Message):
    """A host's own part of a flow's path: source address, interface, and first hop, empty where the peer is on the same network."""

    source: Annotated[str, Field(max_length=100), AfterValidator(_refuse_controls)]
    interface: Word
    next_hop: Annotated[str, Field(max_length=100), AfterValidator(_refuse_controls)] = ""


class FlowOutcome(Message):
    flow: Annotated[int, Field(ge=1, le=1000)]
    point: Annotated[PointName, Field(validation_alias=AliasChoices("point", "end"))]  # the latter in version 1
    asked_cc: Annotated[str, Field(max_length=100), AfterValidator(_refuse_controls)]
    actual_cc: Annotated[str, Field(max_length=100), AfterValidator(_refuse_controls)]
    cc_version: Count | None = None
    hystart_exits: HystartExits | None = None
    started_us: Count | None
    first_byte_us: Count | None
    last_byte_us: Count | None
    app_bytes: Count
    local_address: Sentence
    peer_address: Sentence
    way: Annotated[Way | None, Field(exclude_if=lambda way: way is None)] = None
    way_at_end: Annotated[Way | None, Field(exclude_if=lambda way: way is None)] = None
    handshake_rtt_us: Annotated[int | None, Field(ge=0, le=2**62)] = None
    tcp_info_bytes: Count
    samples: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    sampling: SamplingMode = "polled"
    dropped_samples: Count = 0
    achieved_rate_hz: Measure
    lateness_mean_us: Measure
    lateness_max_us: Measure
    ended: Literal[
        "stop_rule", "peer_closed", "link_lost", "aborted", "deadline", "over_budget", "content_wrong", "refused"
    ]
    detail: Sentence | None
    wrong_at: Annotated[WrongAt | None, Field(exclude_if=lambda wrong: wrong is None)] = None
    delivery: Annotated[Delivery | None, Field(exclude_if=lambda delivery: delivery is None)] = None
    sites: Annotated[SiteTable | None, Field(exclude_if=lambda sites: sites is None)] = None


class LinkLoss(Message):
    """Packets that an emulated link lost on one way for one cause; flow: None for packets of none."""

    flow: Annotated[int | None, Field(ge=1, le=1000)]
    way: Literal["down", "up"]
    cause: Word
    packets: Count


class LinkPath(Message):
    """A path trace, and where in it the run's zero was."""

    name: Word
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    at_us: Count


FlowNumber = Annotated[int, Field(ge=1, le=1000)]


class LinkOutcome(Message):
    """What came of an emulated link's restart for a run, and of its log (docs/agent-protocol.md section 6)."""

    profile: Word
    seed: LinkSeed
    phase_us: Count
    path: Annotated[LinkPath | None, Field(exclude_if=lambda path: path is None)] = None
    samples: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    dropped_samples: Count
    drained_packets: Count
    late_samples: Count
    late_limit_us: Count
    lateness_max_us: Count
    lost: Annotated[list[LinkLoss], Field(max_length=1000)]
    counted_flows: Annotated[
        list[FlowNumber] | None, Field(max_length=1000, exclude_if=lambda flows: flows is None)
    ] = None
    detail: Sentence | None


class Recorded(Event):
    """What an agent has of a run that was broken off while data moved."""

    flows: Annotated[list[FlowOutcome], Field(max_length=64, exclude_if=lambda flows: not flows)] = []
    link: Annotated[LinkOutcome | None, Field(exclude_if=lambda link: link is None)] = None


class FailedEvent(Recorded):
    kind: Literal["failed"] = "failed"
    reason: Reason
    detail: Sentence


class FinishedEvent(Event):
    kind: Literal["finished"] = "finished"
    flows: Annotated[list[FlowOutcome], Field(max_length=64)]
    link: Annotated[LinkOutcome | None, Field(exclude_if=lambda link: link is None)] = None


class RestoredEvent(Recorded):
    kind: Literal["restored"] = "restored"
    settings_after: SettingValues
    is_restored: bool
    differences: Annotated[list[Any], Field(max_length=64), AfterValidator(_plain)]


class Missing(Message):
    """Announced chunks of one flow at one point, from first to last, that their agent does not have any more."""

    flow: Annotated[int, Field(ge=0, le=1000)]
    point: PointName
    first: Annotated[int, Field(ge=0, le=1_000_000)]
    last: Annotated[int, Field(ge=0, le=1_000_000)]
    why: Literal["damaged", "refused", "gone", "too_old", "too_much"]


class UploadedEvent(Event):
    kind: Literal["uploaded"] = "uploaded"
    missing: Annotated[list[Missing], Field(max_length=1000, exclude_if=lambda missing: not missing)] = []


AnyEvent = Annotated[ReadyEvent | FailedEvent | FinishedEvent | RestoredEvent | UploadedEvent, Discriminator("kind")]


class ChunkStored(Message):
    stored: bool


class ChunkAnswer(Message):
    """status: what the PUT of this chunk would have answered; `stored` with 200, else `code` and `message`."""

    flow: int
    point: PointName
    sequence: int
    status: int
    stored: Annotated[bool | None, Field(exclude_if=lambda stored: stored is None)] = None
    code: Annotated[str | None, Field(exclude_if=lambda code: code is None)] = None
    message: Annotated[str | None, Field(exclude_if=lambda message: message is None)] = None


class ChunksAnswer(Message):
    chunks: list[ChunkAnswer]


class ObservedValue(Message):
    """One value of a quantity of the agent's link."""

    quantity: Annotated[str, Field(max_length=100)]
    unit: Word
    source: Word
    at: Moment
    value: Annotated[float, Field(ge=-1.7e308, le=1.7e308, allow_inf_nan=False)]  # what it may be, its quantity says


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What came in place of an observed value, by its first error."""

    error: ErrorDetails


def _each_alone(said: Any, read: ValidatorFunctionWrapHandler) -> ObservedValue | Unreadable:
    """A value that cannot be read costs none of the others."""
    try:
        value: ObservedValue = read(said)
    except ValidationError as error:
        return Unreadable(error.errors(include_url=False)[0])
    return value


class ObservationsRequest(Message):
    """link: None for every link that the agent receives for. `Unreadable` may be among the values."""

    link: Word | None = None
    observations: Annotated[list[Annotated[ObservedValue, WrapValidator(_each_alone)]], Field(max_length=2000)]


class ObservationsHold(Message):
    hold: Annotated[bool, Field(description="A run of others holds a link that observations would cross, or the host")]


class RefusedValue(Message):
    place: Annotated[int, Field(description="In the request's list, from 0")]
    code: str
    message: str


class ObservationsAnswer(Message):
    stored: int
    refused_count: Annotated[
        int, Field(description="Values that are not stored", exclude_if=lambda count: not count)
    ] = 0
    refused: Annotated[
        list[RefusedValue], Field(description="The first 20 of them", exclude_if=lambda refused: not refused)
    ] = []
