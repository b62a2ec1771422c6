"""The calendar: runs of every campaign on every link over some days, counted by the hour, and the bytes they carried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.doc import As, Doc
from downlink.domain.links.allowance import Allowance
from downlink.domain.moment import Moment
from downlink.domain.runs.run import RunState
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
    at: Annotated[Moment, Doc("Where it begins")]
    counts: Annotated[
        dict[str, int],
        As(dict[RunState, int]),
        Doc("Runs that began in it, or never began and were or are due in it; states that some run has"),
    ]


@dataclass(frozen=True)
class CalendarLane:
    """One campaign on one link."""

    campaign_id: UUID
    name: str
    state: CampaignState
    runs: Annotated[int, Doc("In these days, every attempt counted")]
    carried_bytes: Annotated[int, Doc("By those runs, failed ones included")]
    used_bytes: Annotated[int | None, Doc("By the whole campaign on all links; null where it has no limit")]
    limit_bytes: Annotated[int | None, Doc("The campaign's own")]
    cells: list[CalendarCell]


@dataclass(frozen=True)
class MonthUse:
    """The use of a link's allowance in this month, as agents reported it."""

    used_bytes: int
    left_bytes: int
    resets_at: Moment


@dataclass(frozen=True)
class CalendarLink:
    link: str
    time_zone: str | None
    nights: Annotated[list[Night], Doc("22:00 to 06:00 by its clock")]
    allowance_bytes: Annotated[int | None, Doc("A month")]
    month: Annotated[MonthUse | None, Doc("What is used of the allowance now, whichever days are shown")]
    carried_bytes: Annotated[int, Doc("By all runs over it in these days")]
    lanes: Annotated[list[CalendarLane], Doc("In the order of their first runs")]


@dataclass(frozen=True)
class Calendar:
    from_at: Moment
    to_at: Moment
    cell_s: int
    total: Annotated[int, Doc("Campaigns by link with runs in these days; the first 100 are in the answer")]
    before_at: Annotated[Moment | None, Doc("The last run before these days")]
    after_at: Annotated[Moment | None, Doc("The first run after them")]
    links: Annotated[list[CalendarLink], Doc("Every link, at most 200, and those that runs here name, by name")]


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
    lanes_of: dict[str, list[CalendarLane]] = defaultdict(list)
    for lane in lanes:
        if lane.campaign_id not in campaigns:  # deleted since the lanes were counted
            continue
        row, limit = campaigns[lane.campaign_id], limits[lane.campaign_id]
        lanes_of[lane.link].append(
            CalendarLane(
                row.id,
                row.name,
                CampaignState(row.state),
                lane.runs,
                carried.get((lane.link, row.id), 0),
                used.get(row.id, 0) if limit is not None else None,
                limit,
                [CalendarCell(at, counts) for at, counts in lane.cells.items()],
            )
        )
    return lanes_of


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
