"""The launcher looks after its processes: what has died is started again, and what is away is named."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from downlink.stack.launcher import running
from downlink.stack.process import wait_until
from downlink.stack.watch import Watch, complaint

pytestmark = pytest.mark.timeout(180)


def test_a_conductor_that_dies_is_started_again_and_one_that_hangs_is_named(tmp_path: Path) -> None:
    said: list[str] = []
    with running(tmp_path, None) as stack:
        watch = Watch(stack, said.append)
        killed = stack.supervisor.pid("conductor")
        os.kill(killed, signal.SIGKILL)
        assert wait_until(lambda: bool(watch.look() or said), 10)
        assert "WARNING: conductor ended by itself and is started again" in said[0]
        assert stack.supervisor.pid("conductor") != killed
        assert wait_until(lambda: complaint(stack) is None, 30)

        os.kill(stack.supervisor.pid("conductor"), signal.SIGSTOP)
        assert wait_until(lambda: bool(watch.look() or ("conductor" in said[-1] and said[1:])), 30)
        assert "WARNING: No answer from: conductor." in said[-1]
        os.kill(stack.supervisor.pid("conductor"), signal.SIGCONT)
        assert wait_until(lambda: bool(watch.look() or said[-1] == "All parts answer again."), 30)
