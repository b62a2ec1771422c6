"""What budgets leave a run that starts, and what each of its agents may move of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Limits
from downlink.domain.campaigns.line import Contender, Share, decide_line
from downlink.domain.fleet.agent import AgentStatus
from downlink.domain.links.allowance import Allowance
from downlink.domain.runs.budget import Budget, BudgetOf, Ends, budget_of, share_of
from downlink.domain.runs.turn import AgentView, Lease, LinkState, Miss, PlannedTurn, Wait, decide_turn
from tests.fixtures.lab import CAMPAIGN

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
SPEC = campaign_from_dict(CAMPAIGN)
CAMPAIGN_S, LINK_S = BudgetOf.CAMPAIGN, BudgetOf.LINK


def test_nothing_limits_a_run_without_budgets() -> None:
    assert budget_of(100, None, (), None) is None


def test_the_tightest_budget_counts() -> None:
    assert budget_of(100, 500, (), None) == Budget(500, CAMPAIGN_S)
    assert budget_of(100, None, (), 400) == Budget(400, LINK_S)
    assert budget_of(100, 500, (), 400) == Budget(400, LINK_S)
    assert budget_of(100, 300, (), 400) == Budget(300, CAMPAIGN_S)


def test_what_is_left_over_is_divided_by_those_that_could_start() -> None:
    assert budget_of(100, 1000, (100, 200), None) == Budget(100 + 600 // 3, CAMPAIGN_S)
    assert budget_of(100, 400, (100, 200), None) == Budget(100, CAMPAIGN_S)
    assert budget_of(100, 150, (100,), None) == Budget(100, CAMPAIGN_S), "the other one waits"


def ends(*flows: tuple[str, str]) -> list[Ends]:
    return [Ends(sender, receiver, number) for number, (sender, receiver) in enumerate(flows, 1)]


def test_an_agent_that_sees_every_flow_holds_the_whole_and_a_relay_nothing() -> None:
    whole = Budget(900, CAMPAIGN_S)
    two_senders = ends(("s1", "r"), ("s2", "r"))
    assert [share_of(whole, two_senders, name) for name in ("s1", "s2", "r", "relay")] == [whole, whole, whole, None]


def test_without_such_an_agent_each_has_a_share_by_its_flows() -> None:
    crossed = ends(("s1", "r1"), ("s1", "r1"), ("s2", "r2"))
    shares = {name: share_of(Budget(900, LINK_S), crossed, name) for name in ("s1", "s2", "r1", "r2")}
    assert shares["s1"] == shares["r1"] == Budget(600, LINK_S)
    assert shares["s2"] == shares["r2"] == Budget(300, LINK_S)


def test_flows_that_share_a_content_count_as_often_as_the_server_counts_them() -> None:
    shared = [Ends("s", "r1", 1), Ends("s", "r2", 1), Ends("s", "r3", 1)]
    assert share_of(Budget(900, LINK_S), shared, "s") == Budget(300, LINK_S)
    assert share_of(Budget(900, LINK_S), shared, "r2") == Budget(900, LINK_S)


NAMES = [f"link-{number}" for number in range(4)]
FREE = {
    name: AgentView(name, AgentStatus.IDLE, ZERO + timedelta(days=9), None)
    for link in NAMES
    for name in (f"{link}-r", f"{link}-s")
}


@given(
    limit=st.integers(1, 5000),
    used=st.integers(0, 5000),
    under_way=st.integers(0, 5000),
    expected=st.lists(st.integers(1, 1000), min_size=1, max_size=4),
)
def test_runs_that_start_together_never_get_more_than_is_left(
    limit: int, used: int, under_way: int, expected: list[int]
) -> None:
    spec = replace(SPEC, limits=Limits(bytes=limit))
    beside = dict(zip(NAMES, expected, strict=False))
    state = LinkState({}, FREE, ZERO, used_bytes=used, open_bytes=under_way, beside=beside)
    contenders = [
        Contender(
            UUID(int=1), PlannedTurn(link, ZERO, (f"{link}-r", f"{link}-s"), False, 30, most), spec, state, Share()
        )
        for link, most in beside.items()
    ]
    started = [(contenders[place].run, turn) for place, turn in decide_line(contenders, {}, ZERO).turns]
    given_out = {run: turn.budget for run, turn in started if isinstance(turn, Lease)}
    assert sum(budget.bytes for budget in given_out.values() if budget) <= max(0, limit - used - under_way)
    assert all(budget is not None and budget.bytes >= run.most_bytes for run, budget in given_out.items())
    if limit - used - under_way >= sum(expected):
        assert len(given_out) == len(expected), "all of them start beside each other"


RUN = PlannedTurn("geo", ZERO, ("client", "server"), is_host_wide=False, expected_s=30, most_bytes=400)
OLD = AgentView("y", AgentStatus.IDLE, ZERO + timedelta(days=9), None, holds_budget=False)
STATE = LinkState({}, {"client": replace(OLD, holds_budget=True), "server": OLD}, ZERO - timedelta(days=1))


def test_a_run_with_a_budget_waits_for_an_agent_that_does_not_hold_it_and_says_what_to_do() -> None:
    limited = replace(STATE, allowance=Allowance(1000, 0, ZERO + timedelta(days=30)))
    assert isinstance(decide_turn(RUN, SPEC, STATE, ZERO), Lease), "without a budget there is nothing to hold"
    assert isinstance(decide_turn(RUN, SPEC, limited, ZERO), Wait)
    miss = decide_turn(RUN, SPEC, limited, ZERO + timedelta(hours=2))
    assert isinstance(miss, Miss)
    assert (miss.reason, miss.detail.split(":")[0]) == (
        "over_budget",
        "server does not end a transfer at a budget",
    )
    updated = replace(limited, agents={name: replace(OLD, holds_budget=True) for name in RUN.agents})
    assert decide_turn(RUN, SPEC, updated, ZERO) == Lease(
        decide_turn(RUN, SPEC, STATE, ZERO).claims,  # type: ignore[union-attr]
        Budget(1000, LINK_S),
    )


@pytest.mark.parametrize(("used", "open_bytes", "left"), [(0, 0, 1000), (100, 0, 900), (100, 250, 650)])
def test_a_single_link_has_all_that_is_left(used: int, open_bytes: int, left: int) -> None:
    agents = {name: replace(OLD, holds_budget=True) for name in RUN.agents}
    state = replace(STATE, agents=agents, used_bytes=used, open_bytes=open_bytes, beside={"geo": 400})
    turn = decide_turn(RUN, replace(SPEC, limits=Limits(bytes=1000)), state, ZERO)
    assert isinstance(turn, Lease)
    assert turn.budget == Budget(left, CAMPAIGN_S)
