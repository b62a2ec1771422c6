"""Facts that an agent states about its host, and its first message to the server."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from downlink.domain.campaigns.opening import Hours
from downlink.domain.fleet.enrolment import AGENT_NAME
from downlink.protocol.base import (
    MAX_LIST,
    OLDEST,
    Count,
    Duration,
    Measure,
    Message,
    Moment,
    Protocol,
    Role,
    Sentence,
    SettingValues,
    Word,
    plain_value,
    refuse_controls,
)

MAX_FACTS_BYTES = 64 * 1024


def _quiet_hours(text: str) -> str:
    Hours.parse(text)
    return text


QuietHours = Annotated[str, Field(max_length=100), AfterValidator(_quiet_hours)]


class ControlOption(Message):
    choices: Annotated[list[Word], Field(max_length=64)]
    min: Count
    max: Count


class ClockFacts(Message):
    """The offset from a host's clock to the server's, and half the round trip of the exchange that gave it."""

    offset_ms: Annotated[float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]
    error_ms: Measure


class MonthFacts(BaseModel):
    """The monthly limit of a host over all runs, the used part of it, and the day by its clock on which the next month begins."""

    limit_bytes: Annotated[int, Field(ge=1, le=2**62)]
    used_bytes: Count
    resets_on: date


class PolicyFacts(BaseModel):
    """The limits that a host's owner sets; null is no limit."""

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
        plain_value(dict(self.model_extra or {}))


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
        facts = plain_value(dict(self.model_extra or {}))
        if len(json.dumps(facts)) > MAX_FACTS_BYTES:
            raise ValueError(f"facts of a host have more than {MAX_FACTS_BYTES} bytes")


class JoinRequest(Message):
    protocol: Protocol = OLDEST
    token: Annotated[str, Field(max_length=200), AfterValidator(refuse_controls)]
    name: Annotated[str, Field(pattern=f"^{AGENT_NAME}$")]
    version: Word
    host: Host


class JoinResponse(Message):
    agent_id: UUID
    secret: str
    server_now: Moment
