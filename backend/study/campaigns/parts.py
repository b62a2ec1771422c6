"""The reproduction studies: their campaign files, how often each condition runs in the short form, and how long all takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from downlink.domain.campaigns.campaign import Campaign, StopRule
from downlink.domain.campaigns.flow_plan import FlowPlan
from downlink.domain.campaigns.plan import plan_campaign
from downlink.domain.errors import InvalidError
from downlink.domain.links.link import Link

FOLDER = Path("docs/examples/studies")
BYTES_A_TRIAL_SECOND = 1_000_000
_CYCLES = re.compile(r"\bcycles: *(\d+)")


@dataclass(frozen=True, slots=True)
class Part:
    """One campaign of a study. file: its name without .yaml. short: cycles of the short form; the file has the paper's."""

    file: str
    short: int

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.file}.yaml"


STUDIES: Mapping[str, tuple[Part, ...]] = {
    "000": (
        Part("000-a-buffers", 5),
        Part("000-b-gigabyte", 5),
        Part("000-c-detectors", 5),
        Part("000-d-pairs", 5),
        Part("000-e-threshold", 5),
    ),
    "001": (Part("001-pairs", 5), Part("001-vivace-elsewhere", 5)),
    "002": (Part("002-geo", 40), Part("002-leo", 60), Part("002-kernel", 5)),
    "003": (Part("003-best", 10),),
    "004": (
        Part("004-5a", 3),
        Part("004-5b", 3),
        Part("004-5c", 3),
        Part("004-6-low", 3),
        Part("004-6-high", 3),
        Part("004-6-day", 24),
        Part("004-7", 3),
        Part("004-parts", 3),
        Part("004-several", 3),
        Part("004-buffers", 3),
    ),
    "checks": (Part("control-terrestrial", 5), Part("outside-leo", 5)),
    "bbr": (
        Part("001-bbr-when", 5),
        Part("001-bbr-no-aqm", 5),
        Part("001-bbr-thinned", 5),
        Part("001-bbr-outages", 5),
    ),
}


def parts_of(name: str) -> tuple[tuple[str, Part], ...]:
    """The parts of a study, or the one part whose file has this name; each with its study."""
    found = [(study, part) for study, parts in STUDIES.items() for part in parts if name in (study, part.file)]
    if not found:
        message = f"There is no study {name}; there are {', '.join(STUDIES)}. One file of {FOLDER} can be named, too."
        raise InvalidError("unknown_study", message)
    return tuple(found)


def full_cycles(text: str) -> int:
    """The cycles that a campaign file names; it names them once."""
    (found,) = _CYCLES.findall(text)
    return int(found)


def short_form(text: str, cycles: int) -> str:
    """The text of a campaign file with fewer cycles, which its first line says."""
    full = full_cycles(text)
    if cycles >= full:
        return text
    return f"# Short form: n = {cycles} of the paper's {full}.\n" + _CYCLES.sub(f"cycles: {cycles}", text)


def trial_form(campaign: Campaign, cycles: int, most_s: float) -> dict[str, Any]:
    """A campaign that tries the parts of a study and measures nothing: few cycles, runs of most_s seconds at most.

    Flows that begin later begin in the middle of such a run at the latest.
    """

    def brief(stop: StopRule) -> StopRule:
        if stop.bytes is None:
            return StopRule(seconds=min(stop.seconds or most_s, most_s))
        return StopRule(bytes=min(stop.bytes, round(most_s * BYTES_A_TRIAL_SECOND)))

    def soon(flow: FlowPlan) -> FlowPlan:
        return replace(flow, start_s=min(flow.start_s, most_s / 2))

    conditions = tuple(
        replace(each, stop=brief(each.stop), flows=tuple(map(soon, each.flows))) for each in campaign.conditions
    )
    timetable = replace(campaign.timetable.unclocked(), cycles=cycles, pause_s=0.0)
    data = replace(campaign, name=f"{campaign.name} (trial)", conditions=conditions, timetable=timetable).to_dict()
    return {key: value for key, value in data.items() if key not in ("phases", "windows", "reproduces")}


def without_causes(campaign: Campaign) -> Campaign:
    """The same without what its file says of why ours is off: that is written after the runs, and asks for no new ones."""
    figures = (
        replace(figure, values=tuple(replace(value, why="") for value in figure.values))
        for figure in campaign.reproduces
    )
    return replace(campaign, reproduces=tuple(figures))


@dataclass(frozen=True, slots=True)
class Slot:
    """A run as far as its time goes. is_alone: nothing else may run on the machine meanwhile."""

    duration_s: float
    is_alone: bool


Queues = Mapping[str, Sequence[Slot]]
"""A campaign's runs in order, by link."""


def queues_of(campaign: Campaign, links: Mapping[str, Link]) -> Queues:
    """A campaign's runs as they are planned on these links."""
    is_alone = {each.name: each.is_host_wide for each in campaign.conditions}
    queues: dict[str, list[Slot]] = {name: [] for name in campaign.links}
    for run in plan_campaign(replace(campaign, timetable=campaign.timetable.unclocked()), links).runs:
        queues[run.link].append(Slot(run.duration_s, is_alone[run.condition]))
    return queues


def next_campaign(waiting: Sequence[Collection[str]], busy: Collection[str]) -> int | None:
    """The first of the waiting campaigns, each given by its links, whose links no campaign under way uses."""
    return next((place for place, links in enumerate(waiting) if not set(links) & set(busy)), None)


def expected_s(campaigns: Sequence[Queues], lanes: int) -> float:
    """Seconds that campaigns take of which at most `lanes` are under way at once and no two share a link.

    Runs start in turn: whose queue has waited longest goes first, and a run that wants the machine for itself waits until the
    others have ended, as the server has it.
    """
    waiting = list(campaigns)
    active: list[dict[str, list[Slot]]] = []
    running: dict[str, tuple[float, bool]] = {}
    since: dict[str, float] = {}
    now = 0.0
    while waiting or active:
        while (
            len(active) < lanes
            and (place := next_campaign(waiting, {link for each in active for link in each})) is not None
        ):
            active.append({link: list(slots) for link, slots in waiting.pop(place).items()})
        queues = {link: slots for each in active for link, slots in each.items()}
        for link in sorted(queues.keys() - running.keys(), key=lambda name: since.get(name, 0.0)):
            if not running or not (queues[link][0].is_alone or any(is_alone for _, is_alone in running.values())):
                running[link] = (now + queues[link][0].duration_s, queues[link][0].is_alone)
        link = min(running, key=lambda name: running[name])
        now = since[link] = running.pop(link)[0]
        queues[link].pop(0)
        active = [left for each in active if (left := {link: slots for link, slots in each.items() if slots})]
    return now


class Pace:
    """Estimate of the time that is left, from the time that the work so far took.

    work is counted in seconds of the plan; before anything is done the plan itself tells.
    """

    def __init__(self, planned_s: float, all_work_s: float) -> None:
        self._planned_s, self._all_work_s = planned_s, all_work_s

    def left_s(self, elapsed_s: float, done_work_s: float, left_work_s: float) -> float:
        if done_work_s <= 0:
            return self._planned_s * left_work_s / self._all_work_s if self._all_work_s else 0.0
        return left_work_s * elapsed_s / done_work_s


def duration_text(seconds: float) -> str:
    """A duration for people: 45 s, 12 min, 3 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
