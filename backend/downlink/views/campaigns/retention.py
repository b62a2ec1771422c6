"""The size of campaigns' data, and what of it is removed when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from downlink.domain.campaigns.retention import PARTS, Keep, Part
from downlink.domain.doc import Doc
from downlink.domain.moment import Moment
from downlink.storage import server_counts, tables
from downlink.storage.campaigns import campaign_store, retention_store
from downlink.storage.campaigns.retention_store import NOTHING, DataSize, Removed
from downlink.storage.campaigns.single_row import find_own
from downlink.storage.tables import Campaign
from downlink.storage.unit import Unit

PART_HELP = (
    "`traces`: the raw samples. `series`: those and the one-second series. `all`: the campaign with everything it has"
)


@dataclass(frozen=True)
class DataPart:
    """The data that would go with this part."""

    part: Annotated[Part, Doc(PART_HELP)]
    runs: Annotated[int, Doc("That have something of it")]
    bytes: Annotated[int, Doc("That it takes now, parts of unknown size left out")]
    due_at: Annotated[Moment | None, Doc("When the rule removes it; null: not by rule, or not yet known")]


@dataclass(frozen=True)
class Retention:
    campaign_id: UUID
    is_pinned: bool
    traces_days: int | None
    series_days: int | None
    all_days: int | None
    size: DataSize
    parts: Annotated[list[DataPart], Doc("`traces`, `series`, `all`: each with what comes before it")]
    going: Annotated[Part | None, Doc("What is being removed now")]
    ordered_by: str | None
    removed: Removed


@dataclass(frozen=True)
class CampaignData:
    """A campaign in the list of what takes room."""

    campaign_id: UUID
    name: str
    state: str
    owner_id: UUID | None
    ended_at: Moment | None
    is_pinned: bool
    size: DataSize
    next: Annotated[DataPart | None, Doc("What its rule removes next")]
    going: Part | None


@dataclass(frozen=True)
class DataList:
    items: list[CampaignData]
    total: int
    traces_bytes: Annotated[int, Doc("Of all campaigns")]
    series_bytes: int
    database_bytes: Annotated[
        int, Doc("The database as a whole. What was removed from it is used again by what comes next")
    ]


def campaign_retention(
    unit: Unit, campaign_id: UUID, keep: Keep | None = None, *, is_pinned: bool | None = None
) -> Retention:
    """Return what is kept by the campaign's rule, or would be by another one. Raise NotFoundError or InvalidError."""
    campaign, row = campaign_store.find_campaign(unit, campaign_id), find_own(unit, tables.Retention, campaign_id)
    size = retention_store.sizes(unit, [campaign_id]).get(campaign_id, NOTHING)
    rule = retention_store.keep_of(row) if keep is None else keep
    rule.check()
    pinned = (row is not None and row.is_pinned) if is_pinned is None else is_pinned
    return Retention(
        campaign_id,
        pinned,
        rule.traces_days,
        rule.series_days,
        rule.all_days,
        size,
        list(_parts(campaign, Keep() if pinned else rule, size)),
        Part(row.going) if row and row.going else None,
        row.ordered_by if row else None,
        retention_store.removed(unit, campaign_id),
    )


def _parts(campaign: Campaign, keep: Keep, size: DataSize) -> Iterator[DataPart]:
    both = size.traces_bytes + size.series_bytes
    most = max(size.traces_runs, size.series_runs)
    sizes = {Part.TRACES: (size.traces_runs, size.traces_bytes), Part.SERIES: (most, both), Part.ALL: (most, both)}
    for part in PARTS:
        yield DataPart(part, *sizes[part], keep.due_at(part, campaign.ended_at))


def data_list(unit: Unit) -> DataList:
    """Every campaign that is no draft; those that take most come first."""
    sizes = retention_store.sizes(unit)
    items = [
        _data(campaign, row, sizes.get(campaign.id, NOTHING)) for campaign, row in retention_store.campaigns_with(unit)
    ]
    items.sort(key=lambda each: -(each.size.traces_bytes + each.size.series_bytes))
    return DataList(
        items,
        len(items),
        sum(each.size.traces_bytes for each in items),
        sum(each.size.series_bytes for each in items),
        server_counts.database_bytes(unit),
    )


def _data(campaign: Campaign, row: tables.Retention | None, size: DataSize) -> CampaignData:
    is_pinned = row is not None and row.is_pinned
    going = Part(row.going) if row and row.going else None
    return CampaignData(
        campaign.id,
        campaign.name,
        campaign.state,
        campaign.owner_id,
        campaign.ended_at,
        is_pinned,
        size,
        None if is_pinned else _next(list(_parts(campaign, retention_store.keep_of(row), size))),
        going,
    )


def _next(parts: Sequence[DataPart]) -> DataPart | None:
    """The first that goes and has something; the campaign itself always is something."""
    due = [each for each in parts if each.due_at and (each.runs or each.part is Part.ALL)]
    return min(due, key=lambda each: (each.due_at, PARTS.index(each.part)), default=None)
