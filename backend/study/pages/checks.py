"""The page of checks: what the studies found where no number is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from downlink.analysis.fairness import jain_index
from downlink.analysis.intervals import mean_intervals, ratio_intervals
from downlink.cli.files import write_text
from downlink.cli.output import say
from downlink.cli.published_table import interval, number
from study.pages.tables import Row, by_cycle, conditions_of, origin_text, read_record, read_rows, reading, table_lines
from study.prose import fill

MEGA = 1e6
SAME_LOW, SAME_HIGH = 0.9, 1.1
SAME_EXIT_US = 1_000
"""An exit of the kernel and one that is replayed over its trace are the same within a millisecond: the clocks of the two are one,
but the kernel acts on an acknowledgement before its row is written."""
NOTHING = "-"
STUDIES = {
    "control": "control-terrestrial",
    "outside": "outside-leo",
    "threshold": "000-e-threshold",
    "kernel": "002-kernel",
    "elsewhere": "001-vivace-elsewhere",
}
"""Sections of the page, each with the name of its campaign file without the ending."""
Values = Mapping[int, float]
Lines = Sequence[Sequence[str]]


def write_checks(archives: Path, page: Path) -> None:
    """Write the page. InvalidError where an archive cannot be read."""
    with reading(archives):
        text = checks_page(archives)
    write_text(page, text)
    say(str(page))


def checks_page(archives: Path) -> str:
    """The page, all of whose numbers are computed from the archives."""
    alone, pairs = _control(archives)
    return fill(
        "checks",
        alone=table_lines(alone),
        pairs=table_lines(pairs),
        outside=table_lines(_outside(archives)),
        threshold=table_lines(_threshold(archives)),
        kernel=table_lines(_kernel(archives)),
        elsewhere=table_lines(_elsewhere(archives)),
        **{f"origin_{name}": _origin(archives, study) for name, study in STUDIES.items()},
    )


def _origin(archives: Path, study: str) -> str:
    return origin_text(f"{study}.yaml", f"make study-{read_record(archives, study)['study']}")


def _control(archives: Path) -> tuple[Lines, Lines]:
    """Conditions of one flow, and of two."""
    metrics, exits = (read_rows(archives, STUDIES["control"], f"{name}.csv") for name in ("metrics", "exits"))
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
    return alone, pairs


def _outside(archives: Path) -> Lines:
    metrics = read_rows(archives, STUDIES["outside"], "metrics.csv")
    lines = []
    for name in conditions_of(metrics):
        rates = [by_cycle(metrics, phase, name) for phase in ("startup", "steady")]
        base = [by_cycle(metrics, phase, "Cubic") for phase in ("startup", "steady")]
        over = [NOTHING] * 2 if name == "Cubic" else [_ratio(own, its) for own, its in zip(rates, base, strict=True)]
        lines.append((name, *map(_rate, rates), *over))
    return lines


def _threshold(archives: Path) -> Lines:
    metrics, exits = (read_rows(archives, STUDIES["threshold"], f"{name}.csv") for name in ("metrics", "exits"))
    base = "threshold of 16 ms"
    lines = []
    for name in conditions_of(metrics):
        own = [by_cycle(metrics, phase, name) for phase in ("startup", "steady")]
        its = [by_cycle(metrics, phase, base) for phase in ("startup", "steady")]
        over = [NOTHING] * 2 if name == base else [_ratio(a, b) for a, b in zip(own, its, strict=True)]
        lines.append((name, _rate(own[0]), *over, *_exit_cells(exits, name)))
    return lines


_OWN = {
    "HyStart": ("hystart", "6.x"),
    "HyStart++": ("hystart++", "RFC 9406"),
    "SEARCH 1.0": ("search", "1.0"),
    "SEARCH 3.1": ("search", "3.1"),
    "SEARCH 4.0 exit rule": ("search", "4.0"),
}
"""The replayed detector that a condition's control is."""


def _kernel(archives: Path) -> Lines:
    metrics, exits = (read_rows(archives, STUDIES["kernel"], f"{name}.csv") for name in ("metrics", "exits"))
    lines = []
    for name in conditions_of(metrics):
        pairs = [[by_cycle(metrics, phase, each) for each in (name, "none")] for phase in ("startup", "steady")]
        over = [NOTHING] * 2 if name == "none" else [_ratio(own, its) for own, its in pairs]
        alike = _alike(exits, name, *_OWN[name]) if name in _OWN else NOTHING
        lines.append((name, *over, *_exit_cells(exits, name), alike))
    return lines


def _elsewhere(archives: Path) -> Lines:
    metrics = read_rows(archives, STUDIES["elsewhere"], "metrics.csv")
    lines = []
    for name in conditions_of(metrics):
        rates = [[by_cycle(metrics, phase, name, flow) for flow in (1, 2)] for phase in ("startup", "steady")]
        lines.append((name, *(_ratio(first, second) for first, second in rates), *(_rate(each) for each in rates[1])))
    return lines


def _exit_cells(exits: Sequence[Row], condition: str) -> tuple[str, str, str]:
    """Cells of the first flow: counts of early, good and late exits, and medians with the least and the greatest."""
    left, lost = (_times(exits, condition, detector) for detector in ("observed_exit", "first_loss"))
    counts = Counter(row["timing"] for row in _of(exits, condition, "observed_exit"))
    return ", ".join(str(counts[each]) for each in ("early", "good", "late")), _spread(left), _spread(lost)


def _alike(exits: Sequence[Row], condition: str, detector: str, version: str) -> str:
    """Number of runs in which the replay leaves at the kernel's exit, or neither leaves before the first loss."""
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
    """Times by cycle, in us."""
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
