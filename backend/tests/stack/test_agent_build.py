"""The demo waits for an agent that is still being built, and tells of a build that fails by its log."""

from __future__ import annotations

from pathlib import Path

import pytest

from downlink.domain.errors import UnavailableError
from downlink.stack.agent_build import AgentBuild


def test_what_is_built_already_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "agent.status").write_text("0\n")
    said: list[str] = []
    AgentBuild(tmp_path / "agent.log").wait(lambda: pytest.fail("there is nothing to wait for"), said.append)
    assert said == []


def test_a_build_under_way_is_waited_for_while_the_stack_is_looked_after(tmp_path: Path) -> None:
    said: list[str] = []
    looked: list[None] = []

    def look() -> None:
        looked.append(None)
        if len(looked) == 2:
            (tmp_path / "agent.status").write_text("0\n")

    AgentBuild(tmp_path / "agent.log").wait(look, said.append)
    assert len(looked) == 2
    assert said == [f"Waiting for the agent, which is still being built (log: {tmp_path}/agent.log) …"]


def test_a_build_that_failed_is_an_error_with_the_logs_name_and_its_last_lines(tmp_path: Path) -> None:
    (tmp_path / "agent.log").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    (tmp_path / "agent.status").write_text("2\n")
    with pytest.raises(UnavailableError) as raised:
        AgentBuild(tmp_path / "agent.log").wait(lambda: None, print)
    lines = raised.value.message.splitlines()
    assert lines[0] == f"The agent could not be built (status 2). {tmp_path}/agent.log ends:"
    assert lines[1:] == [f"  line {number}" for number in range(11, 31)]
