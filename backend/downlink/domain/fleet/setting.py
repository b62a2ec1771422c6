"""The host settings an agent may change: their scope and the shape of their values.

The table is `docs/settings.csv`, with section 4 of `docs/agent-protocol.md`; tests hold them together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from downlink.domain.fleet.setting_meanings import MEANINGS

ALWAYS_ASKED: Mapping[str, str] = MappingProxyType({"net.ipv4.tcp_no_metrics_save": "1"})
"""Settings of every run (docs/agent-protocol.md section 4)."""
MAX_INT = 2**31 - 1
# The kernel's own least buffer is a page. As tcp_mem it is 16 MiB of pages: with less, the host's other connections stop.
LEAST_TRIPLE = 4096


class Scope(StrEnum):
    """Scope of a setting: one network namespace, the whole host, or one route."""

    NAMESPACE = "namespace"
    HOST = "host"
    ROUTE = "route"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. meaning: what it does. accepts(text) tells whether the kernel would take text; allowed describes them in words."""

    name: str
    scope: Scope
    meaning: str
    allowed: str
    accepts: Callable[[str], bool]


def settings() -> Mapping[str, Setting]:
    """Every setting by name."""
    return _SETTINGS


def is_host_wide(name: str) -> bool:
    """Return whether a change affects every namespace of the host, so that two runs may not share it."""
    return _SETTINGS[name].scope is Scope.HOST


def whole_number(least: int, most: int = MAX_INT) -> tuple[str, Callable[[str], bool]]:
    """Return a description of the allowed numbers, and the test of a text."""

    def accepts(text: str) -> bool:
        return re.fullmatch(r"[0-9]{1,10}", text) is not None and least <= int(text) <= most

    return f"a whole number from {least} to {most}", accepts


def _triple() -> tuple[str, Callable[[str], bool]]:
    def accepts(text: str) -> bool:
        parts = text.split(" ")
        if len(parts) != 3 or not all(re.fullmatch(r"[0-9]{1,10}", part) for part in parts):
            return False
        low, middle, high = map(int, parts)
        return LEAST_TRIPLE <= low <= middle <= high <= MAX_INT

    return f"three whole numbers of at least {LEAST_TRIPLE}, rising: least, start, most", accepts


def _word() -> tuple[str, Callable[[str], bool]]:
    # A qdisc name is at most 15 characters (IFNAMSIZ).
    return "a name of a queueing discipline", lambda text: re.fullmatch(r"[a-z][a-z0-9_]{0,14}", text) is not None


_SWITCH = whole_number(0, 1)

_TABLE: Mapping[Scope, Mapping[str, tuple[str, Callable[[str], bool]]]] = {
    Scope.NAMESPACE: {
        "net.ipv4.tcp_rmem": _triple(),
        "net.ipv4.tcp_wmem": _triple(),
        "net.ipv4.tcp_moderate_rcvbuf": _SWITCH,
        # A threshold cached from an earlier run to the same peer would end slow start early.
        "net.ipv4.tcp_no_metrics_save": ("1 only", lambda text: text == "1"),
        "net.ipv4.tcp_slow_start_after_idle": _SWITCH,
        "net.ipv4.tcp_window_scaling": _SWITCH,
        "net.ipv4.tcp_sack": _SWITCH,
        "net.ipv4.tcp_timestamps": whole_number(0, 2),
        "net.ipv4.tcp_ecn": whole_number(0, 5),
    },
    Scope.HOST: {
        "net.ipv4.tcp_mem": _triple(),
        "net.core.rmem_max": whole_number(2304),
        "net.core.wmem_max": whole_number(4608),
        "net.core.default_qdisc": _word(),
        "tcp_cubic.hystart": _SWITCH,
        "tcp_cubic.hystart_detect": whole_number(0, 3),
        "tcp_cubic.hystart_low_window": whole_number(0),
        "tcp_cubic.hystart_ack_delta_us": whole_number(0),
        # Out of BICTCP_BETA_SCALE = 1024 in tcp_cubic.c.
        "tcp_cubic.beta": whole_number(1, 1023),
        "tcp_cubic.fast_convergence": _SWITCH,
        "tcp_cubic.tcp_friendliness": _SWITCH,
        "tcp_cubic.initial_ssthresh": whole_number(0),
    },
    Scope.ROUTE: {
        "route.initcwnd": whole_number(1, 65_535),
        "route.initrwnd": whole_number(1, 65_535),
    },
}

_SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        name: Setting(name, scope, MEANINGS[name], allowed, accepts)
        for scope, names in _TABLE.items()
        for name, (allowed, accepts) in names.items()
    }
)
