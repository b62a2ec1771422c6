"""Where the launcher cannot go on it says why, at once in full and in its last line."""

from __future__ import annotations

from pathlib import Path

import pytest

from downlink.domain.errors import DownlinkError, NotFoundError, UnavailableError
from downlink.stack.ending import reason, saying_why
from downlink.stack.process import Program, Supervisor, wait_until


def test_the_whole_error_is_said_at_once_and_the_reason_last(tmp_path: Path) -> None:
    said: list[str] = []
    with Supervisor(tmp_path) as supervisor:
        supervisor.start(Program("postgres", ["bash", "-c", "echo no space left; exit 1"]))
        assert wait_until(lambda: supervisor.ended() != [], timeout_s=60)
        with pytest.raises(UnavailableError) as raised, saying_why(said.append):
            supervisor.check()
    assert said[0].splitlines()[-2:] == ["no space left", "Stopping everything because postgres ended by itself."]
    assert raised.value.message == "stopped everything because postgres ended by itself."


def test_the_kind_of_the_error_stays_and_so_does_the_exit_status() -> None:
    with pytest.raises(NotFoundError) as raised, saying_why(print):
        raise NotFoundError("campaign_unknown", "There is no such campaign.")
    assert raised.value.code == "campaign_unknown"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DownlinkError("a", "The agents did not report.\nMore."), "the agents did not report"),
        (DownlinkError("a", "`downlink seed` failed:\nNo file"), "`downlink seed` failed"),
        (DownlinkError("a", "Long", {"reason": "api ended by itself"}), "api ended by itself"),
    ],
)
def test_a_reason_is_the_end_of_a_sentence(error: DownlinkError, words: str) -> None:
    assert reason(error) == words


def test_without_an_error_nothing_is_said() -> None:
    said: list[str] = []
    with saying_why(said.append):
        pass
    assert said == []
