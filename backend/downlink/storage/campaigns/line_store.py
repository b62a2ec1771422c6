"""Positions of campaigns that take turns on their links (domain/campaigns/line.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert

from downlink.domain.campaigns.line import Rival, Share
from downlink.storage.one_of import is_one_of
from downlink.storage.runs.planned import Queue
from downlink.storage.tables import LinkShare
from downlink.storage.unit import Unit


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of all campaigns that have had a run on some links."""

    known: Mapping[Queue, Share]
    latest_s: Mapping[str, float]
    """Link to its position: the latest beginning of any run on it."""

    def of(self, queue: Queue) -> Share:
        return self.known.get(queue, Share())

    def link_s(self, link: str) -> float:
        return self.latest_s.get(link, 0.0)


def find_shares(unit: Unit, links: Collection[str]) -> Shares:
    columns = (LinkShare.campaign_id, LinkShare.link, LinkShare.from_s, LinkShare.to_s)
    rows = unit.session.execute(select(*columns).where(is_one_of(LinkShare.link, links)))
    known, latest_s = dict[Queue, Share](), defaultdict[str, float](float)
    for campaign_id, link, from_s, to_s in rows:
        known[campaign_id, link] = Share(from_s, to_s)
        latest_s[link] = max(latest_s[link], from_s)
    return Shares(known, latest_s)


def note_share(unit: Unit, queue: Queue, share: Share) -> None:
    """A run of this campaign has begun on this link."""
    campaign_id, link = queue
    interval = {"from_s": share.from_s, "to_s": share.to_s}
    query = insert(LinkShare).values(campaign_id=campaign_id, link=link, **interval)
    unit.session.execute(query.on_conflict_do_update(index_elements=["campaign_id", "link"], set_=interval))


_OTHERS = text("""
    SELECT link, name, coalesce((spec ->> 'weight')::int, 1) FROM campaigns, unnest(CAST(:links AS text[])) AS link
    WHERE state IN ('running', 'paused') AND origin = 'measured' AND EXISTS (
        SELECT 1 FROM runs WHERE campaign_id = campaigns.id AND runs.link = link AND runs.state = 'planned'
    )
    ORDER BY link, launched_at
""")


def find_others(unit: Unit, links: Collection[str]) -> dict[str, list[Rival]]:
    """The campaigns that have planned runs on these links."""
    others: dict[str, list[Rival]] = {}
    for link, name, weight in unit.session.execute(_OTHERS, {"links": list(links)}):
        others.setdefault(link, []).append(Rival(name, weight))
    return others
