"""Agents whose secrets the database has confirmed, so that their bodies may be read before it is asked again."""

from __future__ import annotations

from downlink.actions.people.secrets import hash_secret
from downlink.api.http.waiters import Waiting, agent_subject


class Known:
    """Agents whose bodies are let in. The action that stores one asks the database who sent it, in the same transaction."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._found: dict[bytes, tuple[str, int]] = {}

    def name_of(self, secret: str) -> str | None:
        """Return the agent of this secret, if nothing has changed for it since it was confirmed."""
        name, mark = self._found.get(hash_secret(secret), ("", 0))
        is_as_it_was = name and self._waiting.is_listening and not self._waiting.is_woken(agent_subject(name), mark)
        return name if is_as_it_was else None

    def note(self, secret: str, name: str, mark: int) -> None:
        """The database knows this secret. mark: from before it was asked."""
        self._found[hash_secret(secret)] = (name, mark)
