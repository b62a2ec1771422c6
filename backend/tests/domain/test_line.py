"""Campaigns take turns on a link by weight, and links at hosts: simulated in virtual time."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.line import Contender, Share, decide_line
from downlink.domain.fleet.agent import AgentStatus
from downlink.domain.runs.turn import AgentView, Lease, LinkState, PlannedTurn
from tests.fixtures.lab import CAMPAIGN

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
SPEC = campaign_from_dict(CAMPAIGN)
EVERYBODY = {name: AgentView("shared", AgentStatus.IDLE, ZERO + timedelta(days=9), None) for name in "rst"} | {
    f"client-{number}": AgentView(f"own-{number}", AgentStatus.IDLE, ZERO + timedelta(days=9), None)
    for number in range(4)
}


@dataclass(frozen=True)
class Wish:
    """A campaign that always has a run to start on its link. since_s: from when on."""

    link: int
    weight: int
    length_s: int
    senders: tuple[str, ...] = ("s",)
    is_host_wide: bool = False
    since_s: int = 0


class World:
    """Links that share a sender's host, campaigns that never run out of runs, and a pass whenever a run ends."""

    def __init__(self, wishes: list[Wish]) -> None:
        self.wishes = wishes
        self.at_s = 0.0
        self.shares = [Share() for _ in wishes]
        self.link_s: dict[int, float] = defaultdict(float)
        self.freed_s: dict[int, float] = {}
        self.under_way: dict[int, tuple[float, Lease]] = {}
        self.started: list[tuple[float, int]] = []

    @property
    def held(self) -> dict[str, bool]:
        return {claim.resource: claim.is_exclusive for _, lease in self.under_way.values() for claim in lease.claims}

    def contender(self, number: int) -> Contender:
        wish = self.wishes[number]
        agents = (f"client-{wish.link}", *wish.senders)
        run = PlannedTurn(f"link-{wish.link}", self.moment(wish.since_s), agents, wish.is_host_wide, wish.length_s)
        ended = self.freed_s.get(wish.link)
        state = LinkState({}, EVERYBODY, ZERO, last_end_at=None if ended is None else self.moment(ended))
        share = self.shares[number].after(self.link_s[wish.link], wish.length_s, wish.weight)
        return Contender(UUID(int=number), run, replace(SPEC, weight=wish.weight), state, share)

    def moment(self, seconds: float) -> datetime:
        return ZERO + timedelta(seconds=seconds)

    def run(self, until_s: float) -> None:
        while self.at_s < until_s:
            waiting = [number for number in range(len(self.wishes)) if number not in self.under_way]
            contenders = [self.contender(number) for number in waiting]
            for place, turn in decide_line(contenders, self.held, self.moment(self.at_s)).turns:
                if isinstance(turn, Lease):
                    self.start(waiting[place], contenders[place], turn)
            later = [wish.since_s for wish in self.wishes if wish.since_s > self.at_s]
            self.at_s = min([*(end for end, _ in self.under_way.values()), *later])
            for number in [number for number, (end, _) in self.under_way.items() if end <= self.at_s]:
                del self.under_way[number]
                self.freed_s[self.wishes[number].link] = self.at_s

    def start(self, number: int, contender: Contender, lease: Lease) -> None:
        taken = self.held
        for claim in lease.claims:
            assert claim.resource not in taken or not (claim.is_exclusive or taken[claim.resource])
        self.under_way[number] = (self.at_s + self.wishes[number].length_s, lease)
        self.shares[number] = contender.share
        self.link_s[self.wishes[number].link] = contender.share.from_s
        self.started.append((self.at_s, number))

    def served_s(self, number: int, from_s: float, to_s: float) -> float:
        """Of runs that began in between."""
        return sum(
            self.wishes[number].length_s for at_s, each in self.started if each == number and from_s <= at_s < to_s
        )


lengths = st.integers(30, 300)
weights = st.integers(1, 10)


@given(st.lists(st.builds(Wish, st.just(0), weights, lengths), min_size=2, max_size=5), st.integers(500, 4000))
@settings(max_examples=25, deadline=None)
def test_campaigns_that_want_a_link_all_the_time_share_it_by_weight_to_within_one_run_each(
    wishes: list[Wish], until_s: int
) -> None:
    world = World(wishes)
    world.run(until_s)
    given_s = [world.served_s(number, 0, until_s) / wish.weight for number, wish in enumerate(wishes)]
    most_s = [wish.length_s / wish.weight for wish in wishes]
    for one in range(len(wishes)):
        for other in range(one):
            assert abs(given_s[one] - given_s[other]) <= most_s[one] + most_s[other] + 1e-6


@given(weights, lengths, weights, lengths, st.integers(1000, 3000))
@settings(max_examples=15, deadline=None)
def test_a_campaign_that_comes_late_catches_up_with_nobody(
    first_weight: int, first_s: int, late_weight: int, late_s: int, since_s: int
) -> None:
    wishes = [Wish(0, first_weight, first_s), Wish(0, late_weight, late_s, since_s=since_s)]
    world = World(wishes)
    world.run(since_s + 4000)
    served = [world.served_s(number, since_s, since_s + 4000) / wish.weight for number, wish in enumerate(wishes)]
    assert abs(served[0] - served[1]) <= 2 * (first_s / first_weight + late_s / late_weight) + 1e-6


wishes_anywhere = st.builds(
    Wish, st.integers(0, 3), weights, lengths, st.sampled_from([("r",), ("s",), ("t",), ("r", "s"), ("s", "t")]), st.booleans()
)  # fmt: skip


@given(st.lists(wishes_anywhere, min_size=2, max_size=8))
@settings(max_examples=25, deadline=None)
def test_no_campaign_starves_however_links_share_agents_and_hosts(wishes: list[Wish]) -> None:
    """Each waits at most for its own link's turns, and in each of them once for every other link."""
    world = World(wishes)
    longest_s, links = max(wish.length_s for wish in wishes), len({wish.link for wish in wishes})
    shortest_s = min(wish.length_s / wish.weight for wish in wishes)
    turns = sum(1 + wish.length_s / wish.weight / shortest_s for wish in wishes) * max(wish.weight for wish in wishes)
    while len({number for _, number in world.started}) < len(wishes):
        world.run(world.at_s + longest_s)
        assert world.at_s <= (turns + 2) * (links + 1) * longest_s, "somebody waits for ever"


def test_a_geo_and_a_leo_link_of_one_host_start_in_turns_however_long_their_runs_are() -> None:
    """The host is changed as a whole by both: one at a time."""
    world = World([Wish(0, 1, 300, is_host_wide=True), Wish(1, 1, 20, is_host_wide=True)])
    world.run(6400)
    order = [number for _, number in world.started]
    assert order == [0, 1] * (len(order) // 2)
    assert len(order) >= 40


def test_short_runs_that_overlap_each_other_cannot_keep_a_host_from_one_that_needs_it_for_itself() -> None:
    world = World(
        [Wish(0, 1, 50, ("r",)), Wish(1, 1, 70, ("s",)), Wish(2, 1, 30, ("t",), is_host_wide=True, since_s=10)]
    )
    world.run(2000)
    alone = [at_s for at_s, number in world.started if number == 2]
    assert alone[0] <= 70, "the host drains once, and is not given away meanwhile"
    assert max(later - earlier for earlier, later in itertools.pairwise(alone)) <= 30 + 70 + 70


def test_what_an_absent_agent_keeps_waiting_keeps_nothing_free() -> None:
    world = World([Wish(0, 100, 50), Wish(0, 1, 50, ("gone",))])
    world.run(1000)
    assert {number for _, number in world.started} == {0}
