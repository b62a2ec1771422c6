"""Positions of campaigns that take turns on their links (domain/campaigns/line.py)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert

from downlink.domain.campaigns.line import Rival, Share
from downlink.storage.runs.planned import Queue
from downlink.storage.tables import LinkShare
from downlink.storage.unit import Unit


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of all campaigns that have had a run on some links."""

    known: Mapping[Queue, Share]

    def of(self, queue: Queue) -> Share:
        return self.known.get(queue, Share())

    def link_s(self, link: str) -> float:
        """Return the position of the link: the latest beginning of any run on it."""
        return max((share.from_s for (_, name), share in self.known.items() if name == link), default=0.0)


def find_shares(unit: Unit, links: Collection[str]) -> Shares:
    columns = (LinkShare.campaign_id, LinkShare.link, LinkShare.from_s, LinkShare.to_s)
    rows = unit.session.execute(select(*columns).where(LinkShare.link.in_(links)))
    return Shares({(campaign_id, link): Share(from_s, to_s) for campaign_id, link, from_s, to_s in rows})


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
