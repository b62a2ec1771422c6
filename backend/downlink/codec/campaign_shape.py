"""The campaign file, declared once: what its keys are, what they may hold, and the campaign that follows from them.

The JSON Schema, the reference in docs/campaign-file.md and the refusals' sentences are all derived from these models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    PlainValidator,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema

from downlink.codec.campaign_parts import (
    MAX_SECONDS,
    STORABLE,
    WHOLE,
    WINDOW_NAME,
    LaterSeconds,
    Name,
    Part,
    PhaseSeconds,
    at,
    shown,
)
from downlink.codec.expect_shape import MAX_EXPECTED, ExpectPart
from downlink.codec.flow_shape import FlowPart, Option
from downlink.codec.published_shape import MAX_FIGURES, FigurePart
from downlink.codec.timetable_shape import TimetablePart
from downlink.codec.trigger_shape import TriggerPart
from downlink.codec.until_shape import UntilPart
from downlink.domain.campaigns.campaign import (
    LEAST_PHASE_S,
    Campaign,
    Condition,
    Limits,
    Phases,
    Sampling,
    StopRule,
    Varied,
    Window,
)
from downlink.domain.campaigns.flow_plan import SPLIT
from downlink.domain.campaigns.timetable import Timetable
from downlink.domain.fleet.setting import Scope, Setting, settings
from downlink.domain.results.metric import DEFAULT_PRIMARY, PHASES

MAX_CONDITIONS = 64
MAX_LINKS = 64
MAX_FLOWS = 16
MAX_VARIED = 32
MAX_PRIMARY = 10
MAX_WEIGHT = 100
MAX_WINDOWS = 10
MAX_BYTES = 10**13
PRIMARY_NAME = rf"({WINDOW_NAME}\.)?[a-z][a-z0-9_]{{0,39}}"


def _setting_value(setting: Setting) -> Any:
    def accept(value: Any) -> str:
        text = "" if isinstance(value, bool) else " ".join(str(value).split())
        if not setting.accepts(text):
            raise ValueError(f"must be {setting.allowed}, not {shown(value)}.")
        return text

    schema = {"type": ["string", "integer"], "description": _help(setting)}
    return Annotated[str | None, PlainValidator(accept), WithJsonSchema(schema)]


_REACHES = {
    Scope.NAMESPACE: "for its network namespace",
    Scope.HOST: "for the whole host",
    Scope.ROUTE: "for the route",
}


def _help(setting: Setting) -> str:
    return f"{setting.meaning}. Takes {setting.allowed}; set {_REACHES[setting.scope]}"


class _Untitled(GenerateJsonSchema):
    """Names of keys are their titles."""

    def field_title_should_be_set(self, _schema: Any) -> bool:
        return False


class StopPart(Part):
    """The stop rule of a run's flows: after `seconds`, or when each has written `bytes`."""

    seconds: Annotated[float, Field(strict=True, ge=1, le=MAX_SECONDS)] | None = Field(
        default=None, description="Duration from the first data byte"
    )
    bytes: Annotated[int, Field(strict=True, ge=1, le=MAX_BYTES), WHOLE] | None = Field(
        default=None, description="Bytes that each flow transfers"
    )

    @model_validator(mode="after")
    def _is_one(self) -> StopPart:
        if (self.seconds is None) == (self.bytes is None):
            raise ValueError("needs one of seconds and bytes, and not both.")
        return self

    def to_domain(self) -> StopRule:
        return StopRule(self.seconds, self.bytes)


class PhasesPart(Part):
    """Start-up is the first seconds of a run, steady state its last. An unnamed phase is chosen to fit the shortest run."""

    startup_s: PhaseSeconds | None = Field(default=None, description="Length of start-up, seconds")
    steady_s: PhaseSeconds | None = Field(default=None, description="Length of steady state, seconds")


class WindowPart(Part):
    """A further phase, by its own name: the seconds from `from_s` on and before `to_s`."""

    name: Annotated[str, Field(strict=True, pattern=f"^{WINDOW_NAME}$"), STORABLE] = Field(
        description="Name of the phase in tables and primary metrics"
    )
    from_s: LaterSeconds = Field(description="Start, seconds after the start of the run")
    to_s: PhaseSeconds = Field(description="End, seconds after the start of the run")

    @model_validator(mode="after")
    def _holds_a_second(self) -> WindowPart:
        if self.name in PHASES:
            raise at("name", f"{self.name!r} is the name of a phase that every campaign has; choose another.")
        if self.to_s - self.from_s < LEAST_PHASE_S:
            raise at("to_s", f"must be at least {LEAST_PHASE_S:g} s after from_s.")
        return self

    def to_domain(self) -> Window:
        return Window(self.name, self.from_s, self.to_s)


class LimitsPart(Part):
    """Limits of attempts and data volume."""

    attempts: Annotated[int, Field(strict=True, ge=1, le=10), WHOLE] = Field(
        default=Limits.attempts, description="Attempts per run"
    )
    bytes: Annotated[int, Field(strict=True, ge=1, le=10**18), WHOLE] | None = Field(
        default=None, description="Maximum bytes of the whole campaign"
    )

    def to_domain(self) -> Limits:
        return Limits(self.attempts, self.bytes)


_FIELDS: dict[str, Any] = {
    name.replace(".", "_"): (_setting_value(setting), Field(None, alias=name)) for name, setting in settings().items()
}
SettingsPart = create_model("SettingsPart", __base__=Part, __doc__="Settings of a host, by name.", **_FIELDS)


def _values(part: Part) -> dict[str, str]:
    return part.model_dump(by_alias=True, exclude_none=True)


class DefaultsPart(Part):
    """Settings of every condition, unless it has its own."""

    sender: SettingsPart = Field(default_factory=SettingsPart, description="Settings of every sender's host")  # type: ignore[valid-type]
    receiver: SettingsPart = Field(default_factory=SettingsPart, description="Settings of the receiver's host")  # type: ignore[valid-type]
    relay: SettingsPart = Field(  # type: ignore[valid-type]
        default_factory=SettingsPart, description="Settings of every relay's host, in conditions with transport: split"
    )


class VariedPart(Part):
    """Written by `vary`: how this condition was created."""

    key: Annotated[str, Field(strict=True, min_length=1, max_length=60), STORABLE] = Field(description="Varied key")
    value: Option = Field(description="Value of the key")
    of: Name = Field(description="Name of the original condition")


class ConditionPart(DefaultsPart):
    """One combination of settings, which each cycle runs once."""

    name: Name = Field(description="Name, unique in this file")
    stop: StopPart | None = Field(default=None, description="Stop rule of this condition")
    flows: Annotated[list[FlowPart], Field(min_length=1, max_length=MAX_FLOWS)] = Field(
        default=[FlowPart()], description="Flows of a run; by default one Cubic flow of the first sender"
    )
    varied: VariedPart | None = Field(default=None, description="Written by `vary`: how this condition was created")

    @property
    def is_split(self) -> bool:
        """True if TCP ends at its relays."""
        return any(flow.transport == SPLIT for flow in self.flows)

    @model_validator(mode="after")
    def _has_relays(self) -> ConditionPart:
        if "relay" in self.model_fields_set and not self.is_split:
            raise at("relay", "goes with a flow of transport: split, which ends TCP on the relays' hosts.")
        return self

    def to_domain(self, defaults: DefaultsPart, stop: StopPart) -> Condition:
        return Condition(
            name=self.name,
            sender=_values(defaults.sender) | _values(self.sender),
            receiver=_values(defaults.receiver) | _values(self.receiver),
            flows=tuple(flow.to_domain() for flow in self.flows),
            stop=(self.stop or stop).to_domain(),
            varied=Varied(self.varied.key, self.varied.value, self.varied.of) if self.varied else None,
            relay=_values(defaults.relay) | _values(self.relay) if self.is_split else {},
        )


class CampaignFile(Part):
    """A campaign: on which links, under which conditions, how often, and what it asks about."""

    name: Name = Field(description="Title of the campaign")
    notes: Annotated[str, Field(strict=True, max_length=10_000), STORABLE] = Field(
        default="", description="Free text for readers"
    )
    links: Annotated[
        list[Annotated[str, Field(strict=True, min_length=1), STORABLE]], Field(min_length=1, max_length=MAX_LINKS)
    ] = Field(description="Links to measure, by name, in order")
    stop: StopPart | None = Field(
        default=None, description="When runs stop, for conditions without a stop rule of their own"
    )
    phases: PhasesPart = Field(default=PhasesPart())
    windows: Annotated[list[WindowPart], Field(min_length=0, max_length=MAX_WINDOWS)] = Field(
        default=[], description="Further named phases"
    )
    timetable: TimetablePart
    until: UntilPart | None = Field(default=None)
    trigger: TriggerPart | None = Field(default=None)
    limits: LimitsPart = Field(default=LimitsPart())
    weight: Annotated[int, Field(strict=True, ge=1, le=MAX_WEIGHT), WHOLE] = Field(
        default=1, description="Priority when campaigns compete for a link"
    )
    sampling: Sampling = Field(default=Sampling.POLLED, description="How senders sample a flow")
    deliveries: Annotated[bool, Field(strict=True)] = Field(
        default=False,
        description="Keep a delivery table of every flow: when each block left, arrived and was in order. "
        "Flows with an offer always have one",
    )
    settings: Literal["strict", "best_effort"] = Field(
        default="strict",
        description="best_effort: what a host cannot set stays as it is and is noted in the run's record; strict: the run is refused",
    )
    primary_metrics: Annotated[
        list[Annotated[str, Field(strict=True, pattern=f"^{PRIMARY_NAME}$")]],
        Field(min_length=1, max_length=MAX_PRIMARY),
    ] = Field(default=list(DEFAULT_PRIMARY), description="Metrics whose differences are tested")
    defaults: DefaultsPart = Field(default_factory=DefaultsPart)
    conditions: Annotated[list[ConditionPart], Field(min_length=1, max_length=MAX_CONDITIONS)] = Field(
        description="Conditions to compare"
    )
    vary: Annotated[
        dict[
            Annotated[str, Field(strict=True, min_length=1, max_length=60), STORABLE],
            Annotated[list[Option], Field(min_length=2, max_length=MAX_VARIED)]
            | Annotated[dict[Annotated[str, STORABLE], Option], Field(min_length=1, max_length=MAX_LINKS)],
        ],
        Field(max_length=1),
    ] = Field(
        default={},
        description="One key with several values: a condition for each value, or one with a value for each link. The x-axis of figures",
    )
    reproduces: Annotated[list[FigurePart], Field(min_length=0, max_length=MAX_FIGURES)] = Field(
        default=[], description="Published figures to compare with"
    )
    expect: Annotated[list[ExpectPart], Field(min_length=0, max_length=MAX_EXPECTED)] = Field(
        default=[],
        description="Expected ranges of the runs' metrics; a run outside a range is marked and reported",
    )

    def whole_timetable(self) -> Timetable:
        """Return the timetable with the largest number of cycles that `until` allows."""
        timetable = self.timetable.to_domain()
        return replace(timetable, cycles=self.until.most_cycles) if self.until else timetable

    def to_domain(self) -> Campaign:
        stop = self.stop or StopPart(seconds=1)  # which no condition uses when it is not given
        conditions = tuple(part.to_domain(self.defaults, stop) for part in self.conditions)
        known_s = [each.stop.seconds for each in conditions if each.stop.seconds is not None]
        named = self.phases.model_dump(exclude_none=True)
        phases = Phases.fitting(min(known_s), **named) if known_s else Phases(**named)
        return Campaign(
            name=self.name,
            notes=self.notes,
            links=tuple(self.links),
            phases=replace(phases, windows=tuple(window.to_domain() for window in self.windows)),
            timetable=self.whole_timetable(),
            limits=self.limits.to_domain(),
            conditions=conditions,
            sampling=self.sampling,
            deliveries=self.deliveries,
            primary_metrics=tuple(self.primary_metrics),
            reproduces=tuple(figure.to_domain() for figure in self.reproduces),
            weight=self.weight,
            varied_links=tuple(
                (key, link, by_link[link])
                for key, by_link in self.vary.items()
                if isinstance(by_link, dict)
                for link in self.links
            ),
            trigger=self.trigger.to_domain(self.links) if self.trigger else None,
            until=self.until.to_domain() if self.until else None,
            expect=tuple(part.to_domain() for part in self.expect),
            settings=self.settings,
        )


def campaign_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a campaign file, without references: each key has its shape in its place."""
    own = CampaignFile.model_json_schema(schema_generator=_Untitled)
    parts = own.pop("$defs")

    def inlined(node: Any) -> Any:
        if isinstance(node, list):
            return [inlined(each) for each in node]
        if not isinstance(node, dict):
            return node
        target = parts[node["$ref"].rpartition("/")[2]] if "$ref" in node else {}
        return {key: inlined(value) for key, value in {**target, **node}.items() if key != "$ref"}

    return {"$schema": GenerateJsonSchema.schema_dialect, **inlined(own), "title": "Downlink campaign file"}


def first_shape(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first of several shapes that the schema allows for a part, with the description of the part itself."""
    own = {key: value for key, value in node.items() if key != "anyOf"}
    return {**node["anyOf"][0], **own} if "anyOf" in node else node
