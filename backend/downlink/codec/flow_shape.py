"""The part of a campaign file that says what a flow is: what carries it, from which sender, and what it offers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from downlink.codec.campaign_parts import STORABLE, WHOLE, LaterSeconds, Part, at, shown
from downlink.domain.campaigns.flow_plan import (
    INTCP,
    INTCP_CHOICES,
    INTCP_RANGES,
    INTCP_UNSET,
    PROBE,
    PROBE_EVERY_MS,
    SPLIT,
    FlowPlan,
    Intcp,
    Offer,
    Probe,
    Scalar,
    Split,
    Tcp,
    Transport,
)
from downlink.domain.links.link import MAX_RECEIVERS, MAX_SENDERS
from downlink.domain.text import is_storable

MAX_RATE_BPS = 10**12
MAX_OPTION = 2**63
MAX_CONTENT = 64
# TCP_CA_NAME_MAX is 16 with the closing zero.
CC_NAME = r"[A-Za-z0-9_-]{1,15}"


def _option(value: Any) -> Scalar:
    if not isinstance(value, (str, int, float, bool)) or not is_storable(str(value)):
        raise ValueError("must be a name with a text, a number, true or false.")
    if isinstance(value, (int, float)) and not abs(value) < MAX_OPTION:
        raise ValueError("must be a finite number, below 2^63.")
    return value


Option = Annotated[Any, PlainValidator(_option), WithJsonSchema({"type": ["string", "number", "boolean"]})]


class ProbePart(Part):
    """Instead of data, a light echo over UDP: round-trip times and losses that do not come from TCP."""

    every_ms: Annotated[int, Field(strict=True, ge=PROBE_EVERY_MS[0], le=PROBE_EVERY_MS[1]), WHOLE] = Field(
        default=Probe.every_ms, description="Milliseconds from one probe to the next"
    )


class OfferPart(Part):
    """Send messages at a fixed rate instead of as fast as possible."""

    message_bytes: Annotated[int, Field(strict=True, ge=1, le=65_536), WHOLE] = Field(
        description="Size of a message, bytes"
    )
    every_ms: Annotated[int, Field(strict=True, ge=1, le=1_000), WHOLE] = Field(
        description="Milliseconds from one message to the next"
    )


class FlowPart(Part):
    """One flow of a condition."""

    probe: ProbePart | None = None
    transport: Literal["tcp", "split", "intcp"] = Field(
        default="tcp", description="Transport: TCP, TCP split at each relay, or INTCP"
    )
    relay_cc: Annotated[str, Field(strict=True, pattern=f"^{CC_NAME}$"), STORABLE] | None = Field(
        default=None, description="Congestion control of a split flow's relays; the sender's by default"
    )
    offer: OfferPart | None = None

    cc: Annotated[str, Field(strict=True, pattern=f"^{CC_NAME}$"), STORABLE] = Field(
        default=Tcp.cc, description="Congestion control"
    )
    sender: Annotated[int, Field(strict=True, ge=1, le=MAX_SENDERS), WHOLE] = Field(
        default=1, description="Number of the link's sender"
    )
    receiver: Annotated[int, Field(strict=True, ge=1, le=MAX_RECEIVERS), WHOLE] = Field(
        default=1, description="Number of the link's receiver"
    )
    content: Annotated[int, Field(strict=True, ge=1, le=MAX_CONTENT), WHOLE] | None = Field(
        default=None, description="INTCP flows with the same number request the same bytes"
    )
    start_s: LaterSeconds = Field(default=0.0, description="Start, seconds after the start of the run")
    options: dict[
        Annotated[str, STORABLE],
        Option,
    ] = Field(default_factory=dict, description="Options of the congestion control, or of INTCP, by name")
    pacing_rate_bps: Annotated[int, Field(strict=True, ge=8, le=MAX_RATE_BPS), WHOLE] | None = Field(
        default=None, description="Maximum rate of the sender, bit/s"
    )

    @model_validator(mode="after")
    def _is_one_kind(self) -> FlowPart:
        if self.cc == PROBE:
            raise at("cc", "names a congestion control; write probe: {every_ms: 100} for a probe flow.")
        if self.probe is not None:
            for key in ("cc", "options", "pacing_rate_bps"):
                if key in self.model_fields_set:
                    raise at(key, "does not go with probe: a probe flow has no congestion control.")
            for key in ("transport", "relay_cc", "offer", "content"):
                if key in self.model_fields_set:
                    raise at(key, "does not go with probe: a probe flow carries no data.")
        return self

    @model_validator(mode="after")
    def _is_carried(self) -> FlowPart:
        if self.relay_cc is not None and self.transport != SPLIT:
            raise at("relay_cc", "goes with transport: split alone, where TCP ends at each relay.")
        if self.cc == INTCP:
            raise at("cc", "names a congestion control; write transport: intcp for an INTCP flow.")
        if self.transport != INTCP:
            if self.content is not None:
                raise at("content", "goes with transport: intcp alone, whose relays may keep what passed for others.")
            return self
        for key in ("cc", "pacing_rate_bps"):
            if key in self.model_fields_set:
                raise at(key, "does not go with transport: intcp, whose hops have a rate law of their own.")
        for name, value in self.options.items():
            if fault := _intcp_fault(name, value):
                raise at(f"options.{name}", fault)
        return self

    def to_domain(self) -> FlowPlan:
        offer = Offer(self.offer.message_bytes, self.offer.every_ms) if self.offer else None
        return FlowPlan(self._transport(), self.sender, self.start_s, self.receiver, offer, self.content)

    def _transport(self) -> Transport:
        if self.probe is not None:
            return Probe(self.probe.every_ms)
        if self.transport == INTCP:
            return Intcp(**self.options)
        tcp = (self.cc, dict(self.options), self.pacing_rate_bps)
        return Split(*tcp, self.relay_cc or self.cc) if self.transport == SPLIT else Tcp(*tcp)


def _intcp_fault(name: str, value: Any) -> str | None:
    """Explain the fault of an INTCP option; None if there is none."""
    if choices := INTCP_CHOICES.get(name):
        return None if value in choices else f"{name} must be one of {', '.join(choices)}, not {shown(value)}."
    if name not in INTCP_RANGES:
        return f"INTCP has no option {shown(name)}; it has {', '.join((*INTCP_RANGES, *INTCP_CHOICES))}."
    least, most = INTCP_RANGES[name]
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    may_be_unset = name in INTCP_UNSET
    if is_whole and (least <= value <= most or (may_be_unset and value == 0)):
        return None
    unset = "0 or " if may_be_unset else ""
    return f"{name} must be {unset}a whole number from {least} to {most}, not {shown(value)}."
