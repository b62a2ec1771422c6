"""What a due run waits for, in the order in which it matters."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from downlink.domain.fleet.agent import AgentStatus
from downlink.domain.runs.turn import AgentView, PlannedTurn
from downlink.domain.runs.waiting import Holder, resources_of, waits_for

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = PlannedTurn("geo", NOW, ("client", "server"), is_host_wide=False, expected_s=60)
AGENTS = {name: AgentView(f"host of {name}", AgentStatus.IDLE, NOW, None) for name in RUN.agents}
OTHER = [Holder("day", "leo")]
SHARED = [Holder("day", "leo", is_alone=False)]


def test_it_wants_its_link_its_agents_and_their_hosts() -> None:
    assert resources_of(RUN, AGENTS) == [
        "link:geo", "agent:client", "agent:server", "host:host of client", "host:host of server",
    ]  # fmt: skip


def test_one_that_nothing_keeps_waits_for_nothing() -> None:
    assert waits_for(RUN, AGENTS, {}, NOW, NOW) is None


def test_a_pause_or_opening_hours_are_told_by_their_end() -> None:
    said = waits_for(RUN, AGENTS, {}, NOW + timedelta(minutes=5), NOW)
    assert said == "Its timetable lets it begin at 2026-03-01 12:05:00 UTC."


@pytest.mark.parametrize(
    ("is_wide", "holders", "said"),
    [
        (False, OTHER, "A run of campaign day on leo needs its host for itself."),
        (True, SHARED, "A run of campaign day on leo uses a host that this run needs for itself."),
        (False, SHARED, None),
    ],
)
def test_a_host_is_waited_for_where_one_of_the_two_needs_it_alone(
    is_wide: bool, holders: list[Holder], said: str | None
) -> None:
    run = replace(RUN, is_host_wide=is_wide)
    assert waits_for(run, AGENTS, {"host:host of server": holders}, None, NOW) == said


def test_an_agent_that_is_busy_with_neither_run_nor_upload_is_named_with_its_state() -> None:
    agents = {**AGENTS, "server": replace(AGENTS["server"], status=AgentStatus.UNKNOWN)}
    assert waits_for(RUN, agents, {}, None, NOW) == "server is unknown."
