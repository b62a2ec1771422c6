"""The size of campaigns' data, and what of it is removed when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from downlink.domain.campaigns.retention import PARTS, Keep, Part
from downlink.storage import server_counts
from downlink.storage.campaigns import campaign_store, retention_store
from downlink.storage.campaigns.retention_store import Removed, Size
from downlink.storage.campaigns.single_row import find_own
from downlink.storage.tables import Campaign, Retention
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class DataPart:
    part: Part
    runs: int
    bytes: int
    due_at: datetime | None


@dataclass(frozen=True)
class CampaignRetention:
    campaign_id: UUID
    is_pinned: bool
    traces_days: int | None
    series_days: int | None
    all_days: int | None
    size: Size
    parts: Sequence[DataPart]
    going: Part | None
    ordered_by: str | None
    removed: Removed


@dataclass(frozen=True)
class CampaignData:
    campaign_id: UUID
    name: str
    state: str
    owner_id: UUID | None
    ended_at: datetime | None
    is_pinned: bool
    size: Size
    next: DataPart | None
    going: Part | None


@dataclass(frozen=True)
class DataList:
    items: Sequence[CampaignData]
    total: int
    traces_bytes: int
    series_bytes: int
    database_bytes: int


def campaign_retention(
    unit: Unit, campaign_id: UUID, keep: Keep | None = None, *, is_pinned: bool | None = None
) -> CampaignRetention:
    """Return what is kept by the campaign's rule, or would be by another one. Raise NotFoundError or InvalidError."""
    campaign, row = campaign_store.find_campaign(unit, campaign_id), find_own(unit, Retention, campaign_id)
    size = retention_store.sizes(unit, [campaign_id]).get(campaign_id, Size())
    rule = retention_store.keep_of(row) if keep is None else keep
    rule.check()
    pinned = (row is not None and row.is_pinned) if is_pinned is None else is_pinned
    return CampaignRetention(
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


def _parts(campaign: Campaign, keep: Keep, size: Size) -> Iterator[DataPart]:
    both = size.traces_bytes + size.series_bytes
    most = max(size.traces_runs, size.series_runs)
    found = {Part.TRACES: (size.traces_runs, size.traces_bytes), Part.SERIES: (most, both), Part.ALL: (most, both)}
    for part in PARTS:
        yield DataPart(part, *found[part], keep.due_at(part, campaign.ended_at))


def data_list(unit: Unit) -> DataList:
    """Every campaign that is no draft; those that take most come first."""
    sizes = retention_store.sizes(unit)
    items = [
        _data(campaign, row, sizes.get(campaign.id, Size())) for campaign, row in retention_store.campaigns_with(unit)
    ]
    items.sort(key=lambda each: -(each.size.traces_bytes + each.size.series_bytes))
    return DataList(
        items,
        len(items),
        sum(each.size.traces_bytes for each in items),
        sum(each.size.series_bytes for each in items),
        server_counts.database_bytes(unit),
    )


def _data(campaign: Campaign, row: Retention | None, size: Size) -> CampaignData:
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
