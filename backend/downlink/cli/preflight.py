"""The checks of each host in a preview, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from downlink.cli.output import moment, say

SIGNS = {"ok": "ok  ", "note": "LOOK", "bad": "BAD ", "unknown": "?   "}
"""Signs of equal width; `ok` and `BAD` are those of `downlink-agent doctor`."""


def print_hosts(hosts: Sequence[dict[str, Any]]) -> None:
    """One block for each agent, one line for each answer."""
    for host in hosts:
        say(f"\n{host['agent']} ({', '.join(host['parts'])})")
        for answer in host["answers"]:
            say("  " + _line(answer))


def _line(answer: dict[str, Any]) -> str:
    source = f"(run of {moment(answer['at'])})" if answer["run_id"] else ""
    return " ".join(filter(None, (SIGNS[answer["level"]], answer["sentence"], answer["todo"], source)))
