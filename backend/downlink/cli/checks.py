"""`downlink checks` writes what the studies found where no number is published: both checks, and variants of detectors and controls.
It needs no server."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from downlink.analysis.fairness import jain_index
from downlink.analysis.intervals import mean_intervals, ratio_intervals
from downlink.cli.files import write_text
from downlink.cli.output import say
from downlink.cli.published_table import interval, number
from downlink.cli.study_rows import Row, by_cycle, conditions_of, origin_text, read_record, read_rows, table
from downlink.domain.errors import InvalidError

MEGA = 1e6
SAME_LOW, SAME_HIGH = 0.9, 1.1
SAME_EXIT_US = 1_000
"""An exit of the kernel and one that is replayed over its trace are the same within a millisecond: the clocks of the two are one,
but the kernel acts on an acknowledgement before its row is written."""
NOTHING = "-"
Values = Mapping[int, float]


def write_checks(archives: Path, page: Path) -> None:
    """InvalidError where an archive cannot be read."""
    try:
        text = checks_page(archives)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidError("study_unreadable", f"The archives in {archives} cannot be read: {error}.") from error
    write_text(page, text)
    say(str(page))


@dataclass(frozen=True)
class Part:
    """A heading: what was asked, and the tables that answer it. study: the campaign file's name without its ending."""

    study: str
    title: str
    text: str
    tables: Sequence[str]


def checks_page(archives: Path) -> str:
    """The page, all of whose numbers are computed from the archives."""
    text = _INTRODUCTION
    for part in (_control(archives), _outside(archives), _threshold(archives), _kernel(archives), _elsewhere(archives)):
        record = read_record(archives, part.study)
        origin = origin_text(f"{part.study}.yaml", f"make study-{record['study']}")
        text += f"\n## {part.title}\n\n{origin}\n\n{part.text}\n\n" + "\n".join(part.tables)
    return text


_INTRODUCTION = (
    "# Checks, and studies without published numbers\n\nThe papers give no numbers here: a link without satellite, controls that no "
    "profile was fitted with, and variants of detectors and controls. Ratios are geometric means of pairs of one cycle with 95 % "
    "intervals ([method](../method.md), section 3). Exits are early, good or late ([exits](../exits.md)). Written by `make "
    "reproduction` (`downlink checks`); do not edit.\n"
)


def _control(archives: Path) -> Part:
    metrics, exits = (read_rows(archives, "control-terrestrial", f"{name}.csv") for name in ("metrics", "exits"))
    base = "HyStart on"
    alone, pairs = [], []
    for name in conditions_of(metrics):
        if _has_second(metrics, name):
            shares = [
                _ratio(by_cycle(metrics, phase, name, 2), by_cycle(metrics, phase, name))
                for phase in ("startup", "steady")
            ]
            indices = [_jain(metrics, phase, name) for phase in ("startup", "steady")]
            pairs.append((name, *shares, *indices))
        else:
            each = [
                _pair(by_cycle(metrics, phase, name), by_cycle(metrics, phase, base)) for phase in ("startup", "steady")
            ]
            is_same = all(low >= SAME_LOW and high <= SAME_HIGH for _, low, high in each)
            cells = [NOTHING] * 3 if name == base else [*map(_fine, each), "none" if is_same else "**yes**"]
            alone.append((name, *cells, *_exit_cells(exits, name)))
    text = (
        "The studies' comparisons over 50 Mb/s and 20 ms without loss (`terrestrial`). With one flow HyStart, its detectors, small "
        "buffers, SEARCH and BEST change nothing: every interval lies within 10 % of 1. HyStart leaves slow start within 50 ms of a "
        "full link.\n\nSEARCH is late because of the queue, not for want of a satellite: the queue holds twice the product and "
        "overflows before SEARCH's curve rises. With three times the product SEARCH 1.0 leaves before the loss in every modelled run "
        "([causes-modelled.md](causes-modelled.md)).\n\nWith two flows, the one without HyStart has more at first, as in Peters 2021, "
        "Figure 8, but for seconds and not for 40. In the model that grows with the queue and hardly with the RTT. BBR has more than "
        "Cubic here, too."
    )
    head = ("one flow", "first 5 s over HyStart on", "last 10 s over HyStart on", "effect", *_EXIT_HEAD)
    both = ("two flows", "second over first, first 5 s", "last 10 s", "Jain, first 5 s", "Jain, last 10 s")
    return Part(
        "control-terrestrial",
        "Negative control: no satellite, no effect",
        text,
        (table(head, alone), table(both, pairs)),
    )


def _outside(archives: Path) -> Part:
    metrics = read_rows(archives, "outside-leo", "metrics.csv")
    lines = []
    for name in conditions_of(metrics):
        rates = [by_cycle(metrics, phase, name) for phase in ("startup", "steady")]
        base = [by_cycle(metrics, phase, "Cubic") for phase in ("startup", "steady")]
        over = [NOTHING] * 2 if name == "Cubic" else [_ratio(own, its) for own, its in zip(rates, base, strict=True)]
        lines.append((name, *map(_rate, rates), *over))
    text = (
        "Each control alone over `leo-starlink`. Cubic without HyStart had a part in the profile (its first loss set the queue); Reno "
        "had none in any fit or test. Published: BBR has two to six times Cubic's rate over Starlink (comparisons of 2023 to 2025), "
        "and is ahead of the controls that answer every loss (TCP Congestion Control Performance over Starlink, ANRW 2025). Both hold "
        "here. That paper's finding that HyStart hurts over LEO shows in the mean of the start, but not in five runs' interval."
    )
    head = ("control", "first 15 s, Mb/s", "last 30 s, Mb/s", "over Cubic, first 15 s", "over Cubic, last 30 s")
    return Part("outside-leo", "Outside check: controls alone over LEO", text, (table(head, lines),))


def _threshold(archives: Path) -> Part:
    metrics, exits = (read_rows(archives, "000-e-threshold", f"{name}.csv") for name in ("metrics", "exits"))
    base = "threshold of 16 ms"
    lines = []
    for name in conditions_of(metrics):
        own = [by_cycle(metrics, phase, name) for phase in ("startup", "steady")]
        its = [by_cycle(metrics, phase, base) for phase in ("startup", "steady")]
        over = [NOTHING] * 2 if name == base else [_ratio(a, b) for a, b in zip(own, its, strict=True)]
        lines.append((name, _rate(own[0]), *over, *_exit_cells(exits, name)))
    text = (
        "Peters 2021 proposes a threshold for HyStart's delay detector from mean and deviation of the RTTs, without a number or "
        "factor. With two deviations (`dl_cubic_meansd`) most of the start's throughput is gained, because the rule hardly ever acts: "
        "four of five exits come with the loss. `downlink exits` replays other factors over these flows."
    )
    head = ("threshold", "first 15 s, Mb/s", "over 16 ms, first 15 s", "over 16 ms, last 30 s", *_EXIT_HEAD)
    return Part("000-e-threshold", "Peters 2021: the proposed threshold", text, (table(head, lines),))


_OWN = {
    "HyStart": ("hystart", "6.x"),
    "HyStart++": ("hystart++", "RFC 9406"),
    "SEARCH 1.0": ("search", "1.0"),
    "SEARCH 3.1": ("search", "3.1"),
    "SEARCH 4.0 exit rule": ("search", "4.0"),
}
"""The replayed detector that a condition's control is."""


def _kernel(archives: Path) -> Part:
    metrics, exits = (read_rows(archives, "002-kernel", f"{name}.csv") for name in ("metrics", "exits"))
    lines = []
    for name in conditions_of(metrics):
        pairs = [[by_cycle(metrics, phase, each) for each in (name, "none")] for phase in ("startup", "steady")]
        over = [NOTHING] * 2 if name == "none" else [_ratio(own, its) for own, its in pairs]
        alike = _alike(exits, name, *_OWN[name]) if name in _OWN else NOTHING
        lines.append((name, *over, *_exit_cells(exits, name), alike))
    text = (
        "Detectors in the kernel over `geo-viasat`, HyStart off unless named. Replayed over its own trace, each detector exits at the "
        "same acknowledgement, or not before the first loss.\n\nHyStart leaves too early, which costs nine tenths of the start's "
        "throughput. SEARCH never acts in time: with 30 MB in flight the queue exceeds 18 MB, where random drops begin, about a second "
        "after the link is full, and SEARCH looks back further ([Table I](kachooei-2023-search.md)). Its difference from *none* is "
        "chance. HyStart++ grows more slowly after its first sign of delay, as in RFC 9406, and goes on to the loss."
    )
    head = ("in the kernel", "over none, first 15 s", "over none, last 30 s", *_EXIT_HEAD, "replay says the same")
    return Part("002-kernel", "Kachooei 2023: SEARCH in the kernel", text, (table(head, lines),))


def _elsewhere(archives: Path) -> Part:
    metrics = read_rows(archives, "001-vivace-elsewhere", "metrics.csv")
    lines = []
    for name in conditions_of(metrics):
        rates = [[by_cycle(metrics, phase, name, flow) for flow in (1, 2)] for phase in ("startup", "steady")]
        lines.append((name, *(_ratio(first, second) for first, second in rates), *(_rate(each) for each in rates[1])))
    text = (
        "Defaults of `dl_vivace` were chosen over `geo-viasat-unframed` ([why](../controls/dl_vivace.md)), where Cubic has the larger "
        "share, as published. Over `leo-starlink` the filtered Vivace has the larger share; with the published settings neither is "
        "shown to have more. So Cubic's factor of two depends on link and settings together."
    )
    head = ("pair", "Cubic over Vivace, first 15 s", "last 30 s", "Cubic, last 30 s, Mb/s", "Vivace, last 30 s, Mb/s")
    return Part(
        "001-vivace-elsewhere",
        "Zhao 2022: Vivace on a link that its defaults were not chosen on",
        text,
        (table(head, lines),),
    )


_EXIT_HEAD = ("early, good, late", "left slow start after, s", "first loss after, s")


def _exit_cells(exits: Sequence[Row], condition: str) -> tuple[str, str, str]:
    """Of the first flow: how its exits are judged, and medians with the least and the greatest."""
    left, lost = (_times(exits, condition, detector) for detector in ("observed_exit", "first_loss"))
    counts = Counter(row["timing"] for row in _of(exits, condition, "observed_exit"))
    return ", ".join(str(counts[each]) for each in ("early", "good", "late")), _spread(left), _spread(lost)


def _alike(exits: Sequence[Row], condition: str, detector: str, version: str) -> str:
    """In how many runs the replay leaves at the kernel's exit, or both do not leave before the first loss."""
    left, lost = (_times(exits, condition, name) for name in ("observed_exit", "first_loss"))
    said: dict[int, int] = {}
    for row in _of(exits, condition, detector):
        if row["version"] == version and row["exit_us"]:
            cycle = int(row["cycle"])
            said[cycle] = min(said.get(cycle, int(row["exit_us"])), int(row["exit_us"]))
    same = 0
    for cycle, loss in lost.items():
        kernel, replay = (times.get(cycle, loss) for times in (left, said))
        same += abs(min(kernel, loss) - min(replay, loss)) <= SAME_EXIT_US
    return f"{same} of {len(lost)}"


def _of(exits: Sequence[Row], condition: str, detector: str) -> list[Row]:
    return [
        row
        for row in exits
        if row["state"] == "complete" and (row["condition"], row["flow"], row["detector"]) == (condition, "1", detector)
    ]


def _times(exits: Sequence[Row], condition: str, detector: str) -> dict[int, int]:
    """By cycle, in us."""
    return {int(row["cycle"]): int(row["exit_us"]) for row in _of(exits, condition, detector) if row["exit_us"]}


def _spread(times: Mapping[int, int]) -> str:
    seconds = sorted(time / MEGA for time in times.values())
    return f"{number(median(seconds))} ({number(seconds[0])}-{number(seconds[-1])})" if seconds else "never"


def _has_second(metrics: Sequence[Row], condition: str) -> bool:
    return any(row["condition"] == condition and row["flow"] == "2" for row in metrics)


def _pair(above: Values, below: Values) -> tuple[float, float, float]:
    """Geometric mean of the cycles' ratios, and its interval."""
    cycles = sorted(above.keys() & below.keys())
    found = ratio_intervals([above[cycle] for cycle in cycles], [below[cycle] for cycle in cycles])
    return float(found.mean), float(found.low), float(found.high)


def _shown(mean: str, low: str, high: str) -> str:
    return f"{mean} ({interval(low, high)})"


def _ratio(above: Values, below: Values) -> str:
    return _shown(*map(number, _pair(above, below)))


def _fine(found: tuple[float, float, float]) -> str:
    return _shown(*(f"{each:.3f}" for each in found))


def _rate(values: Values) -> str:
    found = mean_intervals(list(values.values()), least=0)
    return _shown(*(f"{each / MEGA:.1f}" for each in (found.mean, found.low, found.high)))


def _jain(metrics: Sequence[Row], phase: str, condition: str) -> str:
    first, second = (by_cycle(metrics, phase, condition, flow) for flow in (1, 2))
    indices = [float(jain_index([first[cycle], second[cycle]])) for cycle in sorted(first)]
    found = mean_intervals(indices, least=0.5, most=1)
    return _shown(*(f"{each:.2f}" for each in (found.mean, found.low, found.high)))
