"""Whose turn it is: when a planned run starts, when it is too late, and until when it waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Limits
from downlink.domain.campaigns.timetable import Timetable
from downlink.domain.fleet.agent import AgentStatus, Pause
from downlink.domain.links.allowance import Allowance
from downlink.domain.runs.next_step import Wait, decide
from downlink.domain.runs.run import ACTIVE, Ending, HostPhase, HostView, Reason, RunState, RunView
from downlink.domain.runs.turn import (
    LOOK_AGAIN,
    PATIENCE,
    SERVER_AWAY,
    AgentView,
    Claim,
    Lease,
    LinkState,
    Miss,
    PlannedTurn,
    decide_turn,
    is_claimable,
)
from tests.fixtures.lab import CAMPAIGN
from tests.fixtures.properties import examples

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
CYCLES = campaign_from_dict(CAMPAIGN)
SPACED = replace(CYCLES, timetable=Timetable(duration_h=1, every_s=60))
RUN = PlannedTurn("geo", ZERO, ("client", "server"), is_host_wide=False, expected_s=30)
CLAIMS = (
    Claim("link:geo", is_exclusive=True),
    Claim("agent:client", is_exclusive=True),
    Claim("agent:server", is_exclusive=True),
    Claim("host:x", is_exclusive=False),
    Claim("host:y", is_exclusive=False),
)


def after(seconds: float) -> datetime:
    return ZERO + timedelta(seconds=seconds)


LATER = after(10**6)


def agent(host: str, status: AgentStatus = AgentStatus.IDLE, seen_at: datetime = LATER) -> AgentView:
    return AgentView(host, status, seen_at, None)


FREE = LinkState(
    held={},
    agents={"client": agent("x"), "server": agent("y")},
    watched_since=ZERO - timedelta(days=1),
    resumed_at=ZERO,
)


def test_a_due_run_takes_link_and_agents_for_itself_and_shares_hosts_unless_it_changes_them() -> None:
    assert decide_turn(RUN, CYCLES, FREE, ZERO) == Lease(CLAIMS)
    alone = decide_turn(replace(RUN, is_host_wide=True), CYCLES, FREE, ZERO)
    assert alone == Lease((*CLAIMS[:3], *(replace(claim, is_exclusive=True) for claim in CLAIMS[3:])))


def test_a_run_before_its_time_waits_for_it() -> None:
    assert decide_turn(replace(RUN, due_at=after(5)), CYCLES, FREE, ZERO) == Wait(after(5))


def test_what_is_held_alone_or_wanted_alone_keeps_a_run_waiting() -> None:
    assert is_claimable(CLAIMS, {"host:x": False, "link:other": True})
    assert not is_claimable(CLAIMS, {"host:x": True})
    assert not is_claimable(CLAIMS, {"link:geo": False})
    waits = decide_turn(RUN, CYCLES, replace(FREE, held={"agent:server": True}), ZERO)
    assert waits == Wait(ZERO + LOOK_AGAIN)


def test_a_pause_counts_from_the_end_of_the_last_cycle() -> None:
    paused = replace(CYCLES, timetable=Timetable(cycles=2, pause_s=90))
    assert decide_turn(RUN, paused, replace(FREE, earlier_cycles_end_at=after(10)), after(50)) == Wait(after(100))
    assert isinstance(decide_turn(RUN, paused, replace(FREE, earlier_cycles_end_at=after(10)), after(100)), Lease)


def test_a_used_up_volume_misses_the_run_and_one_byte_less_does_not() -> None:
    limited = replace(CYCLES, limits=Limits(bytes=1000))
    miss = decide_turn(RUN, limited, replace(FREE, used_bytes=1000), ZERO)
    assert miss == Miss(Reason.OVER_BUDGET, "The campaign may carry 1000 bytes; 0 are left, and this run may take 0.")
    assert isinstance(decide_turn(RUN, limited, replace(FREE, used_bytes=999), ZERO), Lease)


def test_a_run_that_might_break_the_campaigns_volume_is_missed_and_waits_for_those_under_way() -> None:
    limited, big = replace(CYCLES, limits=Limits(bytes=1000)), replace(RUN, most_bytes=400)
    assert isinstance(decide_turn(big, limited, replace(FREE, used_bytes=600), ZERO), Lease)
    miss = decide_turn(big, limited, replace(FREE, used_bytes=601), ZERO)
    assert isinstance(miss, Miss)
    assert miss.reason == Reason.OVER_BUDGET
    assert isinstance(decide_turn(big, limited, replace(FREE, used_bytes=200, open_bytes=400), ZERO), Lease)
    waits = decide_turn(big, limited, replace(FREE, used_bytes=200, open_bytes=401), ZERO)
    assert waits == Wait(ZERO + LOOK_AGAIN)


def test_a_run_that_might_break_its_links_month_is_missed_and_says_when_it_resets() -> None:
    big = replace(RUN, most_bytes=400)
    assert isinstance(decide_turn(big, CYCLES, replace(FREE, allowance=Allowance(1000, 600, after(60))), ZERO), Lease)
    assert decide_turn(big, CYCLES, replace(FREE, allowance=Allowance(1000, 601, after(60))), ZERO) == Miss(
        Reason.OVER_BUDGET,
        "geo may carry 1000 bytes a month; 399 are left until 2026-01-01 00:01 UTC, and this run may take 400.",
    )


def test_a_run_in_cycles_has_an_hour_from_its_turn_on() -> None:
    away = replace(FREE, agents={"client": agent("x")}, last_end_at=after(100))
    assert decide_turn(RUN, CYCLES, away, after(100) + PATIENCE) == Wait(after(100) + PATIENCE)
    miss = decide_turn(RUN, CYCLES, away, after(100) + PATIENCE + TICK)
    assert miss == Miss(Reason.AGENT_LOST, "server was not heard from.")
    busy = replace(away, held={"link:geo": True})
    assert isinstance(decide_turn(RUN, CYCLES, busy, after(10**6)), Wait)


def test_a_run_at_even_spacing_has_until_the_next_ones_time() -> None:
    busy = replace(FREE, held={"link:geo": True})
    assert decide_turn(RUN, SPACED, busy, after(45)) == Wait(after(60))
    miss = decide_turn(RUN, SPACED, busy, after(60) + TICK)
    assert miss == Miss(Reason.HOST_BUSY, "Another run held geo until this one's time had passed.")
    away = decide_turn(RUN, SPACED, replace(busy, watched_since=after(61)), after(61))
    assert away == Miss(Reason.INTERNAL, SERVER_AWAY)


def test_a_missed_run_says_what_was_in_its_way() -> None:
    blocked = AgentView("y", AgentStatus.BLOCKED, after(61), "tcp_rmem differs")
    state = replace(FREE, agents={"client": agent("x", seen_at=ZERO), "server": blocked})
    detail = "client was not heard from. server takes no run: tcp_rmem differs."
    assert decide_turn(RUN, SPACED, state, after(61)) == Miss(Reason.AGENT_LOST, detail)
    silent = replace(state, agents={**FREE.agents, "server": replace(blocked, detail=None)})
    assert "its host does not match its journal" in decide_turn(RUN, SPACED, silent, after(61)).detail  # type: ignore[union-attr]
    elsewhere = replace(FREE, held={"agent:server": True})
    detail = "Its hosts were in other runs until its time had passed."
    assert decide_turn(RUN, SPACED, elsewhere, after(61)) == Miss(Reason.HOST_BUSY, detail)


def test_a_pause_keeps_a_run_waiting_while_it_lasts() -> None:
    paused = replace(agent("x"), pause=Pause("anna", after(30), None))
    state = replace(FREE, agents={**FREE.agents, "client": paused})
    assert decide_turn(RUN, CYCLES, state, ZERO) == Wait(ZERO + LOOK_AGAIN)
    assert isinstance(decide_turn(RUN, CYCLES, state, after(30)), Lease)
    for_good = replace(state, agents={**FREE.agents, "client": replace(paused, pause=Pause("anna", None, "moving"))})
    missed = decide_turn(RUN, SPACED, for_good, after(61))
    assert missed == Miss(Reason.AGENT_LOST, "client takes no run: paused on the agents page by anna (moving).")


moments = st.integers(0, 8000).map(after)
states = st.builds(
    LinkState,
    held=st.dictionaries(st.sampled_from([claim.resource for claim in CLAIMS]), st.booleans()),
    agents=st.dictionaries(
        st.sampled_from(RUN.agents),
        st.builds(AgentView, st.just("x"), st.sampled_from(AgentStatus), st.none() | moments, st.none()),
    ),
    watched_since=moments,
    resumed_at=moments,
    last_end_at=st.none() | moments,
    earlier_cycles_end_at=st.none() | moments,
)


@given(states, st.sampled_from([CYCLES, SPACED]), moments, moments)
@settings(max_examples=examples(500))
def test_while_nothing_changes_a_wait_holds_until_its_moment(
    state: LinkState, campaign: object, due_at: datetime, now: datetime
) -> None:
    """So that nothing is late that is looked at then: only agents that fall silent meanwhile can change what comes."""
    run = replace(RUN, due_at=due_at)
    turn = decide_turn(run, campaign, state, now)  # type: ignore[arg-type]
    if not isinstance(turn, Wait):
        return
    assert turn.until is not None
    assert turn.until >= now
    for part in (0.0, 0.3, 0.9):
        between = now + (turn.until - now) * part
        if between < turn.until:
            assert isinstance(decide_turn(run, campaign, state, between), Wait)  # type: ignore[arg-type]


hosts = st.builds(
    HostView,
    agent=st.just("server"),
    phase=st.sampled_from(HostPhase),
    heard_at=st.none() | moments,
    stored_at=st.none() | moments,
    samples=st.integers(0, 10**6),
)
views = st.builds(
    RunView,
    state=st.sampled_from(sorted(ACTIVE)),
    state_at=moments,
    hosts=st.tuples(hosts, hosts.map(lambda host: replace(host, agent="client"))),
    base_rtt_ms=st.just(600.0),
    deadline_s=st.floats(1, 900),
    watched_since=moments,
    start_at=st.none() | moments,
    ending=st.sampled_from([None, Ending(RunState.FAILED, Reason.LINK_LOST, "Lost.")]),
    is_released=st.booleans(),
)


@given(views, moments)
@settings(max_examples=examples(1000))
def test_a_run_that_hears_nothing_takes_its_next_step_right_after_its_wait(run: RunView, now: datetime) -> None:
    turn = decide(run, now)
    if not isinstance(turn, Wait):
        return
    if turn.until is None:
        assert decide(run, now + timedelta(days=365)) == turn
        return
    assert turn.until >= now
    assert decide(run, turn.until) == turn
    assert not isinstance(decide(run, turn.until + TICK), Wait)
