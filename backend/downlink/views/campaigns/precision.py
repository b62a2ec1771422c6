"""The precision of a campaign's means beside the wanted one, and the forecast from a pilot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from downlink.domain.campaigns.campaign import Campaign as Spec
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.precision import Expected, Until, Values, is_narrow
from downlink.domain.doc import Doc
from downlink.domain.moment import Moment
from downlink.storage.campaigns import precision_store
from downlink.storage.campaigns.campaign_store import campaign_of
from downlink.storage.tables import Campaign
from downlink.storage.unit import Unit

Ended = Literal["precise_enough", "most_cycles"]


@dataclass(frozen=True, slots=True)
class Width:
    """The confidence sequence of one condition on one link (docs/method.md, section 10)."""

    link: str
    condition: str
    runs: Annotated[int, Doc("Complete ones that have the metric")]
    mean: Annotated[float | None, Doc("In the metric's unit")]
    half_width: Annotated[float | None, Doc("Mean ± this; null while it is without end, below five runs")]
    half_width_percent: Annotated[float | None, Doc("Of the mean; null too where that is not above zero")]
    is_narrow: Annotated[bool, Doc("At most as wide as asked for")]


@dataclass(frozen=True, slots=True)
class Precision:
    asked: Until
    cycles: Annotated[int, Doc("Those of which a run has begun")]
    widths: Sequence[Width]
    ended: Annotated[Ended | None, Doc("Why no more cycles come; null while some may, and of a cancelled campaign")]


def campaign_precision(unit: Unit, row: Campaign) -> Precision | None:
    """Return the current precision of a launched campaign; None if its file has no `until`."""
    campaign = campaign_of(row) if row.launched_at else None
    if campaign is None or campaign.until is None:
        return None
    statistics = precision_store.values(unit, row.id, campaign.until)
    widths = tuple(_width(campaign.until, side, statistics.get(side)) for side in campaign.sides)
    return Precision(campaign.until, precision_store.cycles_begun(unit, row.id), widths, _ended(unit, row))


def _width(until: Until, side: tuple[str, str], values: Values | None) -> Width:
    if values is None:
        return Width(*side, 0, None, None, None, is_narrow=False)
    width, percent = values.half_width, values.half_width_percent
    return Width(*side, values.runs, values.mean, width, percent, is_narrow=is_narrow(values, until))


def _ended(unit: Unit, row: Campaign) -> Ended | None:
    if precision_store.has_been_cut(unit, row.id):
        return "precise_enough"
    return "most_cycles" if row.state == CampaignState.COMPLETE else None


@dataclass(frozen=True, slots=True)
class Forecast:
    """The number of cycles that a campaign with `until` should take, by the last complete campaign with its conditions and links."""

    most_cycles: int
    cycles: Annotated[int | None, Doc("Expected; null without a pilot")]
    half_width_percent: Annotated[float | None, Doc("Of the widest condition after so many; null where unknown")]
    pilot_id: UUID | None
    pilot: Annotated[str | None, Doc("The name of the campaign that this is concluded from")]
    pilot_ended_at: Moment | None


def forecast(unit: Unit, campaign: Spec) -> Forecast | None:
    """Forecast from the last complete campaign with the same conditions, by name, on the same links."""
    until = campaign.until
    if until is None:
        return None
    last_pilot = precision_store.find_pilot(unit, until, campaign.sides)
    if last_pilot is None:
        return Forecast(until.most_cycles, None, None, None, None, None)
    row, pilot = last_pilot
    expected = Expected.of(until, pilot)
    return Forecast(until.most_cycles, expected.cycles, expected.half_width_percent, row.id, row.name, row.ended_at)
