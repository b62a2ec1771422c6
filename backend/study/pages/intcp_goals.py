"""Expectations of the figures of paper 004, each with a bound, and whether the studies' archives hold it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from downlink.analysis.intervals import Intervals, mean_intervals
from study.pages.intcp_numbers import (
    ALL_ON,
    GOODPUT,
    IN_ORDER,
    NOTHING,
    OFFERED,
    STEADY,
    UNICAST,
    Values,
    jain_found,
    mean_found,
    mean_of_flows,
    ratio_found,
    shown,
    values_of,
)
from study.pages.tables import Row, read_rows, read_trace_rows, table_lines
from study.prose import fill

CUBIC = "Cubic"
PUBLISHED_CUBIC = {4: 13.9, 6: 13.1, 8: 12.3, 10: 12.1}
"""Values of the authors' scripts, end to end: seconds between switches to Mb/s."""
FACTOR_FROM = 8
"""Receivers from which the abstract's factor of six can be reached."""
LESS_PERCENT = {20: 40, 50: 35, 100: 25, 200: 15, 300: 10}
"""Round trip of the hop in ms, and by how much INTCP's delay in order lies below at least."""


@dataclass(frozen=True, slots=True)
class Goal:
    """An expectation. text: with its bound. ours: its mean is held against least and most."""

    text: str
    ours: Intervals
    least: float = -math.inf
    most: float = math.inf

    @property
    def verdict(self) -> str:
        if not self.ours.n:
            return NOTHING
        return "held" if self.least <= self.ours.mean <= self.most else "not held"


def goals_table(goals: Sequence[Goal]) -> str:
    lines = [(goal.text, shown(goal.ours), goal.verdict) for goal in goals]
    return fill("intcp/goals", goals=table_lines(lines))


def goals_5a(archives: Path) -> Iterator[Goal]:
    rows = read_rows(archives, "004-5a", "metrics.csv")
    own = {seconds: _on(rows, f"intcp-switch-{seconds}s") for seconds in (2, 4, 6, 8, 10)}
    for seconds, over in own.items():
        found = mean_found(values_of(over, ALL_ON, GOODPUT), GOODPUT.factor)
        yield Goal(f"INTCP, {seconds} s between switches: at least 17.0 Mb/s", found, least=17.0)
    for seconds, published in PUBLISHED_CUBIC.items():
        found = mean_found(values_of(own[seconds], CUBIC, GOODPUT), GOODPUT.factor)
        text = f"Cubic end to end, {seconds} s between switches: within 15 % of {published} Mb/s"
        yield Goal(text, found, 0.85 * published, 1.15 * published)
    found = ratio_found(*(values_of(own[10], name, GOODPUT) for name in (ALL_ON, CUBIC)))
    yield Goal("INTCP over Cubic end to end, 10 s between switches: at least 1.35", found, least=1.35)


def goals_5b(archives: Path) -> Iterator[Goal]:
    rows = read_rows(archives, "004-5b", "metrics.csv")
    down, up = (_on(rows, f"intcp-down-{seconds}s") for seconds in (4, 0))
    found = {name: ratio_found(*(values_of(each, name, GOODPUT) for each in (down, up))) for name in (ALL_ON, CUBIC)}
    yield Goal("INTCP, 4 s down over 0 s: at least 0.93", found[ALL_ON], least=0.93)
    yield Goal("Cubic end to end, 4 s down over 0 s: 0.65 to 0.85", found[CUBIC], 0.65, 0.85)


def goals_5c(archives: Path) -> Iterator[Goal]:
    rows, blocks = (read_rows(archives, "004-5c", name) for name in ("metrics.csv", "delays.csv"))
    for base in ("Reno", "Hybla"):
        for rtt_ms, less in LESS_PERCENT.items():
            over = _on(rows, f"intcp-gsl-{rtt_ms}ms")
            found = ratio_found(*(values_of(over, name, IN_ORDER) for name in (ALL_ON, base)))
            text = f"Delay in order, INTCP over {base}, {rtt_ms} ms: at most {1 - less / 100:g}"
            yield Goal(text, found, most=1 - less / 100)
    for base in ("Reno", "Hybla"):
        for rtt_ms in LESS_PERCENT:
            over = _on(blocks, f"intcp-gsl-{rtt_ms}ms")
            found = ratio_found(*(_bands(over, name) for name in (ALL_ON, base)))
            text = f"From 5 to 95 % of a run's delays in order, INTCP over {base}, {rtt_ms} ms: below 1"
            yield Goal(text, found, most=math.nextafter(1, 0))
    repaired = _repaired_percent(archives)
    text = "Of what INTCP sent again on a hop or its consumer asked for again, in a run: at least 99 % on a hop"
    yield Goal(text, mean_intervals(repaired, least=0, most=100), least=99)


def goals_7(archives: Path) -> Iterator[Goal]:
    rows = [row for name in ("metrics.csv", "link.csv") for row in read_rows(archives, "004-7", name)]
    with_one, without_one = (mean_of_flows(rows, f"{name}, receivers 1", 1) for name in (ALL_ON, UNICAST))
    for n in (2, 4, 8, 12):
        own, other = (mean_of_flows(rows, f"{name}, receivers {n}", n) for name in (ALL_ON, UNICAST))
        yield Goal(f"With caches, {n} receivers over one: at least 0.9", ratio_found(own, with_one), least=0.9)
        text = f"Without caches, {n} receivers over one: at most 1.2 / {n}"
        yield Goal(text, ratio_found(other, without_one), most=1.2 / n)
        if n >= FACTOR_FROM:
            text = f"With caches over without, {n} receivers: above 6"
            yield Goal(text, ratio_found(own, other), least=math.nextafter(6, 7))
        sent = (values_of(rows, f"{ALL_ON}, receivers {each}", OFFERED, None) for each in (n, 1))
        text = f"Bytes on the source's hop with caches, {n} receivers over one: below 1.05"
        yield Goal(text, ratio_found(*sent), most=math.nextafter(1.05, 0))


def goals_several(archives: Path) -> Iterator[Goal]:
    rows = read_rows(archives, "004-several", "metrics.csv")
    for words, flows in (("two", 2), ("four", 4)):
        rates = [values_of(rows, f"{words} INTCP flows", STEADY, flow) for flow in range(1, flows + 1)]
        yield Goal(f"Jain's index of {words} INTCP flows: at least 0.98", jain_found(rates), least=0.98)


def _on(rows: Sequence[Row], link: str) -> list[Row]:
    return [row for row in rows if row["link"] == link]


def _bands(rows: Sequence[Row], condition: str) -> Values:
    """Width of a run's delays in order from 5 to 95 % of them, by cycle, in ms."""
    return {
        int(row["cycle"]): float(row["p95_ms"]) - float(row["p5_ms"])
        for row in rows
        if (row["state"], row["condition"], row["kind"]) == ("complete", condition, "in_order_delay") and row["p95_ms"]
    }


def _repaired_percent(archives: Path) -> list[float]:
    """Percentages of complete runs with INTCP, by the last counters of their nodes; none where they are not kept."""
    try:
        rows = read_trace_rows(archives, "004-5c")
    except FileNotFoundError:
        return []
    counts = [(int(row["on_hops_bytes"]), int(row["asked_again_bytes"])) for row in rows]
    return [100 * on_hops / max(1, on_hops + asked) for on_hops, asked in counts]
