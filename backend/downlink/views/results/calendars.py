"""The calendar: runs of every campaign on every link over some days, counted by the hour, and the bytes they carried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from downlink.domain.links.allowance import Allowance
from downlink.domain.week import Stretch
from downlink.domain.zone import Night, nights
from downlink.storage.campaigns.campaign_store import campaign_of
from downlink.storage.links import link_store as links
from downlink.storage.results import calendar_store
from downlink.storage.results.calendar_store import Lane
from downlink.storage.runs.volumes import used_bytes
from downlink.storage.tables import Link
from downlink.storage.unit import Unit

MOST_LANES = 100
MOST_LINKS = 200


@dataclass(frozen=True)
class CalendarCell:
    """An hour or more in which runs began or are due. counts: by state, those alone that some run has."""

    at: datetime
    counts: dict[str, int]


@dataclass(frozen=True)
class CalendarLane:
    """One campaign on one link. carried_bytes: of its runs here. used_bytes: of the whole campaign, where it has a limit."""

    campaign_id: UUID
    name: str
    state: str
    runs: int
    carried_bytes: int
    used_bytes: int | None
    limit_bytes: int | None
    cells: list[CalendarCell]


@dataclass(frozen=True)
class MonthUse:
    """The use of a link's allowance in this month, as agents reported it."""

    used_bytes: int
    left_bytes: int
    resets_at: datetime


@dataclass(frozen=True)
class CalendarLink:
    """month: of the allowance, now. carried_bytes: of all runs over it in these days, those of lanes that are not shown included."""

    link: str
    time_zone: str | None
    nights: Sequence[Night]
    allowance_bytes: int | None
    month: MonthUse | None
    carried_bytes: int
    lanes: list[CalendarLane]


@dataclass(frozen=True)
class Calendar:
    """total: lanes in these days, of which the first are here. before_at, after_at: the nearest runs outside."""

    from_at: datetime
    to_at: datetime
    cell_s: int
    total: int
    before_at: datetime | None
    after_at: datetime | None
    links: list[CalendarLink]


def calendar_of(unit: Unit, stretch: Stretch, now: datetime) -> Calendar:
    """Every link, and of campaigns that have runs in these days the first 100 by link."""
    lanes, total = calendar_store.lanes_within(unit, stretch, MOST_LANES)
    carried = calendar_store.carried_within(unit, stretch)
    known = {row.name: row for row in calendar_store.first_links(unit, MOST_LINKS)}
    months = links.allowances(unit, known, now)
    by_link = _lanes(unit, lanes, carried)
    shown = [
        _link(name, known.get(name), stretch, months.get(name), carried, by_link[name])
        for name in sorted({*known, *by_link})
    ]
    return Calendar(
        stretch.from_at, stretch.to_at, stretch.cell_s, total, *calendar_store.neighbours(unit, stretch), shown
    )


def _lanes(unit: Unit, lanes: Sequence[Lane], carried: Mapping[tuple[str, UUID], int]) -> dict[str, list[CalendarLane]]:
    """Return lanes by link, in the order of their first runs."""
    campaigns = calendar_store.campaigns_named(unit, {lane.campaign_id for lane in lanes})
    limits = {id_: campaign_of(row).limits.bytes for id_, row in campaigns.items()}
    used = used_bytes(unit, [id_ for id_, limit in limits.items() if limit is not None])
    found: dict[str, list[CalendarLane]] = defaultdict(list)
    for lane in lanes:
        if lane.campaign_id not in campaigns:  # deleted since the lanes were counted
            continue
        row, limit = campaigns[lane.campaign_id], limits[lane.campaign_id]
        found[lane.link].append(
            CalendarLane(
                row.id,
                row.name,
                row.state,
                lane.runs,
                carried.get((lane.link, row.id), 0),
                used.get(row.id, 0) if limit is not None else None,
                limit,
                [CalendarCell(at, counts) for at, counts in lane.cells.items()],
            )
        )
    return found


def _link(
    name: str,
    row: Link | None,
    stretch: Stretch,
    month: Allowance | None,
    carried: Mapping[tuple[str, UUID], int],
    lanes: list[CalendarLane],
) -> CalendarLink:
    zone = row.time_zone if row else None
    return CalendarLink(
        name,
        zone,
        nights(zone, stretch.from_at, stretch.to_at) if zone else [],
        row.allowance_bytes if row else None,
        MonthUse(month.used_bytes, month.left_bytes, month.resets_at) if month else None,
        sum(each for (link, _), each in carried.items() if link == name),
        lanes,
    )
