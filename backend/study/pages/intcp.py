"""The page of paper 004: what its campaigns found, figure by figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from downlink.analysis.intervals import Intervals
from downlink.cli.files import make_folder, write_text
from downlink.cli.output import say
from downlink.cli.published_table import READINGS, ours_text, published_text
from study.pages.intcp_goals import Goal, goals_5a, goals_5b, goals_5c, goals_7, goals_several, goals_table
from study.pages.intcp_numbers import (
    ALL_ON,
    DELAY,
    GOODPUT,
    IN_ORDER,
    JITTER,
    NOTHING,
    OFFERED,
    RECEIVERS,
    STEADY,
    UNICAST,
    Quantity,
    Values,
    jain_found,
    mean_found,
    mean_of_flows,
    ratio_found,
    shown,
    values_of,
)
from study.pages.intcp_pictures import Point, Series, Span, ratios_picture, trade_picture
from study.pages.tables import (
    Row,
    conditions_of,
    origin_text,
    read_record,
    read_reproduction,
    read_rows,
    reading,
    table,
    table_lines,
)
from study.prose import fill, heading

Tables = Callable[[Sequence[Row]], Sequence[str]]
FIGURES = "figures"
"""Folder of the page's pictures, beside it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A file of the folder of pictures. text: what words/intcp has below the tables, with the picture."""

    file: str
    text: str
    draw: Callable[[Sequence[Row]], str]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page. text: its file in words/intcp. studies: campaign files without their ending, all of which must have been run.
    sources: the archives' tables that its tables are made of. goals: what is expected of the archives. picture: of the same rows."""

    text: str
    studies: Sequence[str]
    tables: Tables
    sources: Sequence[str] = ("metrics.csv",)
    goals: Callable[[Path], Iterable[Goal]] | None = None
    picture: Picture | None = None


def write_intcp(archives: Path, page: Path) -> None:
    """Write the page and its pictures. InvalidError where an archive cannot be read."""
    with reading(archives):
        made = [_written(archives, section) for section in _sections()]
    pictures = {file: svg for _, own in made for file, svg in own.items()}
    if pictures:
        make_folder(page.parent / FIGURES)
    for file, svg in pictures.items():
        write_text(page.parent / FIGURES / file, svg)
    write_text(page, "\n".join([fill("intcp/introduction"), *(text for text, _ in made)]))
    say(str(page))


def _written(archives: Path, section: Section) -> tuple[str, Mapping[str, str]]:
    """A section, all of whose numbers are computed from the archives, with its pictures by their files. A figure whose campaigns
    were not run is named as such."""
    missing = [study.removeprefix("004-") for study in section.studies if not read_record(archives, study)]
    if missing:
        return f"{heading(f'intcp/{section.text}')}\n\n{fill('intcp/not-run', figures=' '.join(missing))}", {}
    origins = [
        f"- {origin_text(f'{study}.yaml', f'make study-{study}', '../reproduction/')}" for study in section.studies
    ]
    rows = [row for study in section.studies for name in section.sources for row in read_rows(archives, study, name)]
    tables = [*section.tables(rows), *_published_shares(archives, section.studies)]
    if section.goals:
        tables.append(goals_table(list(section.goals(archives))))
    text = fill(f"intcp/{section.text}", origins="\n".join(origins), tables="\n".join(tables).strip())
    if section.picture is None or not rows:
        return text, {}
    drawn = section.picture
    return f"{text}\n{fill(f'intcp/{drawn.text}')}", {drawn.file: drawn.draw(rows)}


def _published_shares(archives: Path, studies: Sequence[str]) -> list[str]:
    """Table of the distributions that the paper describes, beside ours; empty where it describes none."""
    rows = [row for study in studies for row in read_reproduction(archives, study).values() if row.get("share")]
    lines = [(row["name"], published_text(row), ours_text(row), READINGS[row["reading"]]) for row in rows]
    return [fill("intcp/shares", shares=table_lines(lines))] if lines else []


def _over_links(x: str, links: Mapping[str, str], quantities: Sequence[Quantity], rows: Sequence[Row]) -> list[str]:
    """Tables of the quantities: a line for each condition, a column for each link. x: what the links differ in, links: by how much."""
    made = []
    for quantity in quantities:
        over = [[row for row in rows if row["link"] == link] for link in links]
        lines = [(name, *(_cell(own, name, quantity) for own in over)) for name in conditions_of(rows)]
        made.append(f"{quantity.title}, by {x}:\n\n" + table(("", *links.values()), lines))
    return made


def _cell(rows: Sequence[Row], condition: str, quantity: Quantity) -> str:
    return _mean(values_of(rows, condition, quantity), quantity)


def _mean(values: Mapping[int, float], quantity: Quantity) -> str:
    return shown(mean_found(values, quantity.factor))


def _parts(rows: Sequence[Row]) -> list[str]:
    """Each mechanism switched off, beside all of them on."""
    return _beside(rows, "over all on", _ratio)


def _day(rows: Sequence[Row]) -> list[str]:
    """Each transport, and INTCP over it."""
    return _beside(rows, "INTCP over it", lambda own, intcp: _ratio(intcp, own))


def _beside(rows: Sequence[Row], words: str, ratio: Callable[[Values, Values], str]) -> list[str]:
    """Each condition, and what INTCP with all that it has is to it."""
    quantities = (GOODPUT, DELAY, IN_ORDER, JITTER)
    lines = []
    for name in conditions_of(rows):
        over = [
            NOTHING if name == ALL_ON else ratio(values_of(rows, name, each), values_of(rows, ALL_ON, each))
            for each in quantities
        ]
        lines.append((name, *(_cell(rows, name, each) for each in quantities), *over))
    titles = [each.title for each in quantities]
    head = ("", *titles, *(f"{title.partition(',')[0]}, {words}" for title in titles))
    return [table(head, lines)]


def _buffers(rows: Sequence[Row]) -> list[str]:
    quantities = (GOODPUT, DELAY, JITTER)
    lines = [(name, *(_cell(rows, name, each) for each in quantities)) for name in conditions_of(rows)]
    return [table(("", *(each.title for each in quantities)), lines)]


def _ratio(own: Values, base: Values) -> str:
    return shown(ratio_found(own, base))


GAINS = (  # of the abstract: 60 % more throughput, 42 % less delay, 53 % less jitter
    (GOODPUT, "goodput", 1.6, "#00487a"),
    (DELAY, "one-way delay", 0.58, "#852408"),
    (JITTER, "jitter", 0.47, "#00714f"),
)


def _gains(links: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Picture of INTCP over Reno at each loss: all three gains of the abstract."""
    over = [[row for row in rows if row["link"] == link] for link in links]
    series = [
        Series(title, colour, published, [_span(ratio_found(*_both(own, quantity))) for own in over])
        for quantity, title, published, colour in GAINS
    ]
    return ratios_picture("INTCP over Reno, by loss of each hop", "Loss of each hop", list(links.values()), series)


def _both(rows: Sequence[Row], quantity: Quantity) -> tuple[Values, Values]:
    return values_of(rows, ALL_ON, quantity), values_of(rows, "Reno", quantity)


def _span(found: Intervals) -> Span | None:
    return Span(float(found.mean), float(found.low), float(found.high)) if found.n else None


def _trade(rows: Sequence[Row]) -> str:
    """Goodput against delay, a point for each buffer."""
    made = []
    for name in conditions_of(rows):
        spans = [_mean_span(values_of(rows, name, each), each) for each in (DELAY, GOODPUT)]
        if spans[0] and spans[1]:
            made.append(Point(_buffer_text(int(name.rpartition(" ")[2])), spans[0], spans[1]))
    return trade_picture("What a buffer buys, against its delay", DELAY.title, GOODPUT.title, made)


def _mean_span(values: Values, quantity: Quantity) -> Span | None:
    return _span(mean_found(values, quantity.factor))


def _buffer_text(size: int) -> str:
    return f"{size / 1e6:g} MB" if size else "default"


def _receivers(rows: Sequence[Row]) -> list[str]:
    """Rates of receivers that ask for the same at once, with and without caches on the way, and the bytes that leave the source."""
    lines = []
    for n in RECEIVERS:
        name, without = (f"{each}, receivers {n}" for each in (ALL_ON, UNICAST))
        own, other = (mean_of_flows(rows, each, n) for each in (name, without))
        last = [_cell(rows, each, GOODPUT) for each in (name, without)]
        sent, sent_to_one = (values_of(rows, f"{ALL_ON}, receivers {each}", OFFERED, None) for each in (n, 1))
        rates = (_mean(own, GOODPUT), last[0], _mean(other, GOODPUT), last[1])
        lines.append((str(n), *rates, _ratio(own, other), _ratio(sent, sent_to_one)))
    return [fill("intcp/receivers", receivers=table_lines(lines))]


def _several(rows: Sequence[Row]) -> list[str]:
    """Each flow's rate once all run steadily, and how fair that is."""
    lines = []
    for name in conditions_of(rows):
        flows = sorted({int(row["flow"]) for row in rows if row["condition"] == name})
        rates = [values_of(rows, name, STEADY, flow) for flow in flows]
        cycles = sorted(set.intersection(*(set(each) for each in rates)))
        fair = shown(jain_found(rates))
        sums = {cycle: sum(each[cycle] for each in rates) for cycle in cycles}
        lines.append((name, ", ".join(_mean(each, STEADY) for each in rates), _mean(sums, STEADY), fair))
    return [table(("", "Goodput of each flow, Mb/s", "together, Mb/s", "Jain's index"), lines)]


def _sections() -> tuple[Section, ...]:
    switch = {f"intcp-switch-{each}s": f"{each} s" for each in (2, 4, 6, 8, 10)}
    down = {f"intcp-down-{each}s": f"{each} s" for each in range(5)}
    hop = {f"intcp-gsl-{each}ms": f"{each} ms" for each in (20, 50, 100, 200, 300)}
    loss = {f"intcp-loss-{each}": each for each in ("0", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2")}
    return (
        Section(
            "figure-5a",
            ("004-5a",),
            partial(_over_links, "time between switches", switch, (GOODPUT, STEADY)),
            goals=goals_5a,
        ),
        Section("figure-5b", ("004-5b",), partial(_over_links, "time down", down, (GOODPUT, STEADY)), goals=goals_5b),
        Section(
            "figure-5c",
            ("004-5c",),
            partial(_over_links, "the hop's RTT", hop, (DELAY, IN_ORDER, JITTER)),
            goals=goals_5c,
        ),
        Section(
            "figure-6",
            ("004-6-low", "004-6-high"),
            partial(_over_links, "loss of each hop", loss, (GOODPUT, DELAY, IN_ORDER, JITTER)),
            picture=Picture("gains.svg", "gains", partial(_gains, loss)),
        ),
        Section("figure-6-day", ("004-6-day",), _day),
        Section("figure-7", ("004-7",), _receivers, sources=("metrics.csv", "link.csv"), goals=goals_7),
        Section("parts", ("004-parts",), _parts),
        Section("several", ("004-several",), _several, goals=goals_several),
        Section("buffers", ("004-buffers",), _buffers, picture=Picture("buffers.svg", "trade", _trade)),
    )
