"""The agent's program, where `make demo` builds it beside the running server."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from downlink.domain.errors import UnavailableError

LOOK_EVERY_S = 0.2
TAIL_LINES = 20
NOT_BUILT = "agent_not_built"
"""The code of the error of a build that failed."""


class AgentBuild:
    """A build under way. log: its output; beside it NAME.status appears when it has ended (backend/tools/steps.py)."""

    def __init__(self, log: Path) -> None:
        self._log, self._status = log, log.with_suffix(".status")

    def has_ended(self) -> bool:
        """Return whether there is nothing left to wait for."""
        return self._status.exists()

    def wait(self, look: Callable[[], None], say: Callable[[str], object]) -> None:
        """Wait until the program is there; look is called meanwhile. UnavailableError with the log's end when the build failed."""
        if not self.has_ended():
            say(f"Waiting for the agent, which is still being built (log: {self._log}) …")
        while not self.has_ended():
            look()
            time.sleep(LOOK_EVERY_S)
        if (status := self._status.read_text().strip()) != "0":
            raise UnavailableError(NOT_BUILT, self._failure(status))

    def _failure(self, status: str) -> str:
        tail = "\n".join(f"  {line}" for line in self._log.read_text(errors="replace").splitlines()[-TAIL_LINES:])
        return f"The agent could not be built (status {status}). {self._log} ends:\n{tail}"
