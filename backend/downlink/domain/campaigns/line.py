"""The choice of which campaign starts next: campaigns take turns on a link by weight, and links take turns at hosts and agents.

On a link it is start-time fair queueing. Each campaign's next run begins, in the link's own count of seconds, where that
campaign's last run ends or where the link is, whichever is later; the run that begins first starts first, and lasts its
expected seconds divided by the weight. So a campaign that comes late catches up with nobody, and one that waits loses nothing.

Between links, the campaign that waits longest is first. What it wants is kept free for it, so that short runs which overlap each other
cannot keep a host from a run that needs it for itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated
from uuid import UUID

from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.doc import Doc
from downlink.domain.fleet.agent import AgentStatus
from downlink.domain.runs.turn import AGENT, LINK, Claim, Lease, LinkState, PlannedTurn, Turn, decide_turn


@dataclass(frozen=True, slots=True)
class Share:
    """The interval of a campaign's last run on a link, in the link's own count of seconds."""

    from_s: float = 0.0
    to_s: float = 0.0

    def after(self, link_s: float, expected_s: float, weight: int) -> Share:
        """Return the interval of its next run. link_s: the link's position, which is the latest beginning of any campaign on it."""
        begins_s = max(link_s, self.to_s)
        return Share(begins_s, begins_s + expected_s / weight)


@dataclass(frozen=True, slots=True)
class Rival:
    """Another campaign that wants the same link."""

    name: str
    weight: int


@dataclass(frozen=True, slots=True)
class Sharing:
    """The share that a campaign gets of a link while all others want it too."""

    link: str
    share: Annotated[float, Doc("Of the link's time while all of them want it, from 0 to 1")]
    others: Annotated[tuple[Rival, ...], Doc("Campaigns that have planned runs on the link")]

    @classmethod
    def of(cls, link: str, weight: int, others: Sequence[Rival]) -> Sharing:
        return cls(link, weight / (weight + sum(each.weight for each in others)), tuple(others))


@dataclass(frozen=True, slots=True)
class Contender:
    """The first planned run of a campaign on a link. share: where it would lie. state: without what others hold."""

    campaign_id: UUID
    run: PlannedTurn
    campaign: Campaign
    state: LinkState
    share: Share


@dataclass(frozen=True, slots=True)
class Line:
    """turns: what becomes of each contender, by its place in their sequence, in the order of their turns.

    held: what runs hold, and what is kept free for those that wait.
    """

    turns: Sequence[tuple[int, Turn]]
    held: Mapping[str, bool]


def decide_line(contenders: Sequence[Contender], held: Mapping[str, bool], now: datetime) -> Line:
    """Decide which runs start, miss their time or wait. Between equals, the order of the contenders decides."""
    taken = dict(held)
    turns: list[tuple[int, Turn]] = []
    opened: dict[UUID, dict[str, int]] = defaultdict(dict)
    for index in _order(contenders, held, now):
        each = contenders[index]
        begun = opened[each.campaign_id]
        open_bytes = each.state.open_bytes + sum(begun.values())
        beside = {link: most for link, most in each.state.beside.items() if link not in begun}
        state = replace(each.state, held=taken, open_bytes=open_bytes, beside=beside)
        turn = decide_turn(each.run, each.campaign, state, now)
        wanted = _kept_for(each, held, now)
        if isinstance(turn, Lease):
            begun[each.run.link] = turn.budget.bytes if turn.budget else each.run.most_bytes
            wanted = turn.claims
        for claim in wanted:
            taken[claim.resource] = taken.get(claim.resource, False) or claim.is_exclusive
        turns.append((index, turn))
    return Line(turns, taken)


def _order(contenders: Sequence[Contender], held: Mapping[str, bool], now: datetime) -> Iterable[int]:
    """Link by link, the one that waits longest first; on a link by share."""
    links: dict[str, list[int]] = {}
    for index, each in enumerate(contenders):
        links.setdefault(each.run.link, []).append(index)
    waiting = {
        name: min((_waits_since(contenders[index], now) for index in places if _kept_for(contenders[index], held, now)),
                  default=now)
        for name, places in links.items()
    }  # fmt: skip
    for name in sorted(links, key=lambda name: waiting[name]):
        yield from sorted(links[name], key=lambda index: contenders[index].share.from_s)


def _waits_since(each: Contender, now: datetime) -> datetime:
    """Return the moment since which the link has been free for this contender."""
    moments = (each.run.due_at, each.state.last_end_at, each.state.resumed_at)
    return min(now, max(moment for moment in moments if moment))


def _kept_for(each: Contender, held: Mapping[str, bool], now: datetime) -> tuple[Claim, ...]:
    """Return the resources to keep for a run that waits only for what other runs hold; none while its own link is held."""
    if LINK + each.run.link in held:
        return ()
    agents = {
        name: replace(view, status=AgentStatus.IDLE, last_seen_at=now) if AGENT + name in held else view
        for name in each.run.agents
        if (view := each.state.agents.get(name))
    }
    turn = decide_turn(each.run, each.campaign, replace(each.state, held={}, agents=agents), now)
    return turn.claims if isinstance(turn, Lease) else ()
