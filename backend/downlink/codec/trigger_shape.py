"""The part of a campaign file that says what starts its runs, where that is not the clock."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from downlink.codec.campaign_parts import MAX_SECONDS, STORABLE, WHOLE, LaterSeconds, Part, at
from downlink.codec.timetable_shape import DayText
from downlink.domain.campaigns.timetable import parse_day
from downlink.domain.campaigns.trigger import Called, QuantityHolds, SlotBegins, Trigger, When
from downlink.domain.links.observation import NAME

MAX_VALUE = 1e15
MOST_FIRINGS = 10_000
Bound = Annotated[float, Field(strict=True, ge=-MAX_VALUE, le=MAX_VALUE)]


class SlotPart(Part):
    """Slots of a satellite's scheduler, such as the 15 s of Starlink from the seconds 12, 27, 42 and 57 of each minute."""

    every_s: Annotated[float, Field(strict=True, ge=1, le=MAX_SECONDS)] = Field(description="Length of a slot, seconds")
    at_s: LaterSeconds = Field(default=0.0, description="Start of the first slot, seconds after a full minute UTC")


class WhenPart(Part):
    """One of: a quantity of a link above or below a value, a slot that begins, a signed call."""

    quantity: Annotated[str, Field(strict=True, pattern=f"^{NAME}$"), STORABLE] | None = Field(
        default=None, description="A quantity of the link, such as dish.obstruction_ratio or weather.rain_mm_per_h"
    )
    above: Bound | None = Field(default=None, description="True above this value")
    below: Bound | None = Field(default=None, description="True below this value")
    for_s: LaterSeconds | None = Field(default=None, description="Seconds for which it must hold; 0 by default")
    link: Annotated[str, Field(strict=True, min_length=1), STORABLE] | None = Field(
        default=None, description="Link of the quantity; required where the campaign has several"
    )
    source: Annotated[str, Field(strict=True, min_length=1, max_length=60), STORABLE] | None = Field(
        default=None, description="Source of the quantity, such as dish or station; any by default"
    )
    slot: SlotPart | None = Field(default=None)
    call: Annotated[bool, Field(strict=True)] | None = Field(
        default=None, description="true: a signed HTTP call, with the campaign's own secret"
    )

    @model_validator(mode="after")
    def _is_one_kind(self) -> WhenPart:
        kinds = [key for key in ("quantity", "slot", "call") if getattr(self, key) is not None]
        if len(kinds) != 1:
            raise ValueError("needs one of quantity, slot and call, and not several.")
        if self.call is False:
            raise at("call", "must be true, or be left out.")
        if self.quantity is None:
            for key in ("above", "below", "for_s", "link", "source"):
                if getattr(self, key) is not None:
                    raise at(key, "goes with quantity alone.")
        elif (self.above is None) == (self.below is None):
            raise ValueError("needs one of above and below beside quantity, and not both.")
        return self

    def to_domain(self, links: list[str]) -> When:
        if self.call:
            return Called()
        if self.slot is not None:
            return SlotBegins(self.slot.every_s, self.slot.at_s)
        link = self.link or links[0]
        return QuantityHolds(self.quantity or "", self.above, self.below, self.for_s or 0.0, link, self.source)


class TriggerPart(Part):
    """Event that starts the timetable, instead of the launch: each firing plans it once, within these limits."""

    when: WhenPart = Field(description="Condition, slot or call that fires the trigger")
    pause_s: Annotated[float, Field(strict=True, ge=1, le=30 * MAX_SECONDS)] = Field(
        default=Trigger.pause_s, description="Minimum seconds between firings"
    )
    most_per_day: Annotated[int, Field(strict=True, ge=1, le=1000), WHOLE] = Field(
        default=Trigger.most_per_day, description="Maximum firings in any 24 hours"
    )
    most: Annotated[int, Field(strict=True, ge=1, le=MOST_FIRINGS), WHOLE] = Field(
        default=Trigger.most, description="Maximum firings in all; the campaign ends with the last"
    )
    until: DayText | None = Field(default=None, description="Last day on which it may fire, UTC, such as 2026-12-31")

    def to_domain(self, links: list[str]) -> Trigger:
        until = parse_day(self.until) if self.until else None
        return Trigger(self.when.to_domain(links), self.pause_s, self.most_per_day, self.most, until)
