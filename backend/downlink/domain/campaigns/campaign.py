"""A campaign as its author writes it (`docs/campaign-file.md`), complete and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from downlink.domain.campaigns.expectation import Expectation
from downlink.domain.campaigns.flow_plan import FlowPlan, Scalar
from downlink.domain.campaigns.precision import Side, Until
from downlink.domain.campaigns.timetable import Timetable
from downlink.domain.campaigns.trigger import Trigger
from downlink.domain.fleet.setting import is_host_wide
from downlink.domain.results.metric import DEFAULT_PRIMARY, PHASES
from downlink.domain.results.reproduction import PublishedFigure

LEAST_PHASE_S = 0.5
"""Holds the middle of one bin."""


class Sampling(StrEnum):
    """Ways to record a flow at its sender: TCP_INFO polled at an interval, or the state at every ACK where the host allows it."""

    POLLED = "polled"
    PER_ACK = "per_ack"


SENDER_MS, RECEIVER_MS = 5, 10
"""Milliseconds between the samples of a polled end."""


@dataclass(frozen=True, slots=True)
class StopRule:
    """The rule that stops a run's flows: after `seconds`, or when each has written `bytes`. Exactly one is set."""

    seconds: float | None = None
    bytes: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"seconds": self.seconds} if self.bytes is None else {"bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class Window:
    """A further phase with a name of its own: [from_s, to_s) on the run's clock."""

    name: str
    from_s: float
    to_s: float


@dataclass(frozen=True)
class Phases:
    """Start-up is the first startup_s of a run, steady state its last steady_s. windows: what the author names besides."""

    startup_s: float = 15.0
    steady_s: float = 60.0
    windows: tuple[Window, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all phases: the three that each campaign has, then its windows."""
        return (*PHASES, *(window.name for window in self.windows))

    @classmethod
    def fitting(cls, run_s: float, startup_s: float | None = None, steady_s: float | None = None) -> Phases:
        """Choose the lengths that are not given, so that both phases fit into a run of run_s: by default at most a quarter and a half
        of it."""

        def room_s(other_s: float | None) -> float:
            return max(LEAST_PHASE_S, run_s - (other_s or 0))

        return cls(
            startup_s or min(cls.startup_s, run_s / 2, max(1.0, run_s / 4), room_s(steady_s)),
            steady_s or min(cls.steady_s, run_s / 2, room_s(startup_s)),
        )


REPORT_EVERY = 32
"""A report lacks at most a 32nd of the cycles that have closed."""


def closes_with_report(cycle: int) -> bool:
    """Return whether a report is made when this cycle closes while others are open: at each of the first 63, then at every 2nd, from
    128 on at every 4th, and so on.

    A report reads all runs. Made at each cycle, all reports of a campaign would take time that grows with the square of its
    cycles; so they take less than 70 times its last one's. Cycles count from 1.
    """
    step = 1 << (max(1, cycle // REPORT_EVERY).bit_length() - 1)
    return cycle % step == 0


@dataclass(frozen=True)
class Limits:
    """attempts: tries per run. bytes: the campaign's data volume, None for no limit."""

    attempts: int = 2
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Varied:
    """The origin of a condition that `vary` made: the key, its value, and the name of the original condition."""

    key: str
    value: Scalar
    of: str


@dataclass(frozen=True)
class Condition:
    """One combination of settings. sender, receiver and relay: setting name to value, defaults merged in.

    relay: of every relay's host, in conditions with a split flow alone.
    """

    name: str
    sender: Mapping[str, str]
    receiver: Mapping[str, str]
    flows: tuple[FlowPlan, ...]
    stop: StopRule
    varied: Varied | None = None
    relay: Mapping[str, str] = field(default_factory=dict)

    def overlap_s(self, phases: Phases) -> float:
        """Return by how many seconds start-up and steady state would overlap; 0 for a run that stops by bytes."""
        return 0.0 if self.stop.seconds is None else phases.startup_s + phases.steady_s - self.stop.seconds

    @cached_property  # a plan of 100,000 runs asks for each
    def senders(self) -> tuple[int, ...]:
        """The numbers of the senders that take part, rising, each once."""
        return tuple(sorted({flow.sender for flow in self.flows}))

    @cached_property
    def receivers(self) -> tuple[int, ...]:
        """The numbers of the receivers that take part, likewise. The first always does: it restarts an emulated link."""
        return tuple(sorted({1, *(flow.receiver for flow in self.flows)}))

    @cached_property
    def passes_relays(self) -> bool:
        """True if its runs need the relays of their link."""
        return any(flow.passes_relays for flow in self.flows)

    @cached_property
    def is_host_wide(self) -> bool:
        """True if a run of this condition changes something that other runs on its hosts would notice.

        A control with options is registered with them for the whole kernel.
        """
        has_options = any(flow.tcp and flow.tcp.options for flow in self.flows)
        return has_options or any(map(is_host_wide, (*self.sender, *self.receiver, *self.relay)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "sender": dict(self.sender),
            "receiver": dict(self.receiver),
            **({"relay": dict(self.relay)} if self.relay else {}),
            "flows": [flow.to_dict() for flow in self.flows],
            "stop": self.stop.to_dict(),
            **({"varied": asdict(self.varied)} if self.varied else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Condition:
        flows = tuple(FlowPlan.from_dict(flow) for flow in data["flows"])
        varied = Varied(**data["varied"]) if data.get("varied") else None
        stop, relay = StopRule(**data["stop"]), data.get("relay", {})
        return cls(data["name"], data["sender"], data["receiver"], flows, stop, varied, relay)


STRICT, BEST_EFFORT = "strict", "best_effort"
"""Rules for a setting that a host cannot make: it ends the run, or does not."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A named study. Conditions are complete: the defaults and the common stop rule are merged into each.

    primary_metrics: what its author asks about; only these are tested. reproduces: published figures to hold its numbers against.
    weight: its share of a link that others want too (domain/line.py).
    varied_links: key, link and its value, where links differ in one thing that is an x-axis. deliveries: every flow keeps a
    delivery table, and not only those of offers.
    trigger: what starts the timetable, again and again, instead of the launch. until: what ends it before the timetable's cycles,
    of which it has the most. expect: ranges of its runs' numbers. settings: STRICT, or BEST_EFFORT for runs in which what a host
    cannot set stays as it is, on record.
    """

    name: str
    notes: str
    links: tuple[str, ...]
    phases: Phases
    timetable: Timetable
    limits: Limits
    conditions: tuple[Condition, ...]
    sampling: Sampling = Sampling.POLLED
    primary_metrics: tuple[str, ...] = DEFAULT_PRIMARY
    reproduces: tuple[PublishedFigure, ...] = ()
    weight: int = 1
    varied_links: tuple[tuple[str, str, Scalar], ...] = ()
    deliveries: bool = False
    trigger: Trigger | None = None
    until: Until | None = None
    expect: tuple[Expectation, ...] = ()
    settings: str = STRICT

    @property
    def sides(self) -> tuple[Side, ...]:
        """Each condition on each link."""
        return tuple((link, condition.name) for link in self.links for condition in self.conditions)

    def to_dict(self) -> dict[str, Any]:
        """The campaign as JSON-able data; `campaign_from_dict` makes an equal campaign of it."""
        return {
            "name": self.name,
            "notes": self.notes,
            "links": list(self.links),
            "phases": {"startup_s": self.phases.startup_s, "steady_s": self.phases.steady_s},
            "windows": [asdict(window) for window in self.phases.windows],
            "timetable": self._timetable(),
            "limits": asdict(self.limits),
            "conditions": [condition.to_dict() for condition in self.conditions],
            "sampling": self.sampling.value,
            "primary_metrics": list(self.primary_metrics),
            "reproduces": [figure.to_dict() for figure in self.reproduces],
            "weight": self.weight,
            **({"vary": self._vary()} if self.varied_links else {}),
            **({"deliveries": True} if self.deliveries else {}),
            **({"trigger": self.trigger.to_dict()} if self.trigger else {}),
            **({"until": self.until.to_dict()} if self.until else {}),
            **({"expect": [each.to_dict() for each in self.expect]} if self.expect else {}),
            **({"settings": self.settings} if self.settings != STRICT else {}),
        }

    def _timetable(self) -> dict[str, Any]:
        """Cycles are said once: by `until` where there is one."""
        whole = self.timetable.to_dict()
        return {key: value for key, value in whole.items() if key != "cycles"} if self.until else whole

    def _vary(self) -> dict[str, dict[str, Scalar]]:
        return {self.varied_links[0][0]: {link: value for _, link, value in self.varied_links}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Campaign:
        """The campaign that to_dict wrote, which was checked then. What an older version did not write has its default."""
        until = Until(**{"flow": 1, **data["until"]}) if data.get("until") else None
        return cls(
            name=data["name"],
            notes=data["notes"],
            links=tuple(data["links"]),
            phases=Phases(**data["phases"], windows=tuple(Window(**each) for each in data.get("windows", ()))),
            timetable=Timetable.from_dict({**data["timetable"], **({"cycles": until.most_cycles} if until else {})}),
            limits=Limits(**data["limits"]),
            conditions=tuple(map(Condition.from_dict, data["conditions"])),
            sampling=Sampling(data.get("sampling", Sampling.POLLED)),
            primary_metrics=tuple(data.get("primary_metrics", DEFAULT_PRIMARY)),
            reproduces=tuple(map(PublishedFigure.from_dict, data.get("reproduces", ()))),
            weight=data.get("weight", 1),
            varied_links=tuple(
                (key, link, value) for key, by_link in data.get("vary", {}).items() for link, value in by_link.items()
            ),
            deliveries=data.get("deliveries", False),
            trigger=Trigger.from_dict(data["trigger"]) if data.get("trigger") else None,
            until=until,
            expect=tuple(Expectation(**each) for each in data.get("expect", ())),
            settings=data.get("settings", STRICT),
        )
