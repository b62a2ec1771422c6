"""`downlink intcp-study` writes what the campaigns of paper 004 found, figure by figure. It needs no server."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from downlink.analysis.intervals import Intervals
from downlink.cli import intcp_words as words
from downlink.cli.files import make_folder, write_text
from downlink.cli.intcp_goals import Goal, goals_5a, goals_5b, goals_5c, goals_7, goals_several, goals_table
from downlink.cli.intcp_numbers import (
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
from downlink.cli.intcp_pictures import Point, Series, Span, ratios_picture, trade_picture
from downlink.cli.output import say
from downlink.cli.published_table import READINGS, ours_text, published_text
from downlink.cli.study_rows import Row, conditions_of, origin_text, read_record, read_reproduction, read_rows, table
from downlink.domain.errors import InvalidError

Tables = Callable[[Sequence[Row]], Sequence[str]]
FIGURES = "figures"
"""Folder of the page's pictures, beside it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A file of the folder of pictures. words: before it, alternative: instead of it."""

    file: str
    words: str
    alternative: str
    draw: Callable[[Sequence[Row]], str]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading. studies: names of campaign files without their ending, all of which must have been run. text: what the tables say.
    sources: the archives' tables that they are made of. goals: what is expected of the archives. picture: of the same rows."""

    title: str
    studies: Sequence[str]
    text: str
    tables: Tables
    sources: Sequence[str] = ("metrics.csv",)
    goals: Callable[[Path], Iterable[Goal]] | None = None
    picture: Picture | None = None


def write_intcp_study(archives: Path, page: Path) -> None:
    """The page and its pictures. InvalidError where an archive cannot be read."""
    try:
        made = [_written(archives, section) for section in _sections()]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidError("study_unreadable", f"The archives in {archives} cannot be read: {error}.") from error
    pictures = {file: svg for _, own in made for file, svg in own.items()}
    if pictures:
        make_folder(page.parent / FIGURES)
    for file, svg in pictures.items():
        write_text(page.parent / FIGURES / file, svg)
    write_text(page, words.INTRODUCTION + "".join(text for text, _ in made))
    say(str(page))


def _written(archives: Path, section: Section) -> tuple[str, Mapping[str, str]]:
    """A section, all of whose numbers are computed from the archives, with its pictures by their files. A figure whose campaigns
    were not run is named as such."""
    made = {study: read_record(archives, study) for study in section.studies}
    missing = [study.removeprefix("004-") for study, record in made.items() if not record]
    if missing:
        return f'\n## {section.title}\n\n**Not run yet**: `make study-intcp FIGURE="{" ".join(missing)}"`.\n', {}
    origins = "".join(
        f"- {origin_text(f'{study}.yaml', f'make study-{study}', '../reproduction/')}\n" for study in made
    )
    rows = [row for study in section.studies for name in section.sources for row in read_rows(archives, study, name)]
    said = f"{section.text}\n\n" if section.text else ""
    tables = [*section.tables(rows), *_published_shares(archives, section.studies)]
    if section.goals:
        tables.append(goals_table(list(section.goals(archives))))
    text = f"\n## {section.title}\n\n{origins}\n{said}" + "\n".join(tables)
    if section.picture is None or not rows:
        return text, {}
    drawn = section.picture
    return f"{text}\n{drawn.words}\n\n![{drawn.alternative}]({FIGURES}/{drawn.file})\n", {drawn.file: drawn.draw(rows)}


def _published_shares(archives: Path, studies: Sequence[str]) -> list[str]:
    """What the paper says of distributions, beside ours; nothing where it says nothing."""
    rows = [row for study in studies for row in read_reproduction(archives, study).values() if row.get("share")]
    lines = [(row["name"], published_text(row), ours_text(row), READINGS[row["reading"]]) for row in rows]
    head = ("Of the distribution", "published", "ours, 95 % interval", "holds")
    return (
        ["Published shares of distributions; intervals resample whole runs:\n\n" + table(head, lines)] if lines else []
    )


def _over_links(x: str, links: Mapping[str, str], quantities: Sequence[Quantity], rows: Sequence[Row]) -> list[str]:
    """For each quantity a line for each condition, with a column for each link. x: what the links differ in, links: by how much."""
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
    """What INTCP is to Reno at each loss: all three gains of the abstract."""
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
    """How fast receivers are that ask for the same at once, with caches on the way and without, and what leaves the source."""
    lines = []
    for n in RECEIVERS:
        name, without = (f"{each}, receivers {n}" for each in (ALL_ON, UNICAST))
        own, other = (mean_of_flows(rows, each, n) for each in (name, without))
        last = [_cell(rows, each, GOODPUT) for each in (name, without)]
        sent, sent_to_one = (values_of(rows, f"{ALL_ON}, receivers {each}", OFFERED, None) for each in (n, 1))
        rates = (_mean(own, GOODPUT), last[0], _mean(other, GOODPUT), last[1])
        lines.append((str(n), *rates, _ratio(own, other), _ratio(sent, sent_to_one)))
    head = (
        "Receivers",
        "With caches, all",
        "the last",
        "Without, all",
        "the last",
        "With over without",
        "Bytes of the source, over one",
    )
    return ["Goodput in Mb/s, mean of all receivers and of the last one on the way:\n\n" + table(head, lines)]


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
            "Figure 5(a): a hop that switches between 5 and 35 Mb/s",
            ("004-5a",),
            words.FIGURE_5A,
            partial(_over_links, "time between switches", switch, (GOODPUT, STEADY)),
            goals=goals_5a,
        ),
        Section(
            "Figure 5(b): a hop that is down for a part of every 20 s",
            ("004-5b",),
            words.FIGURE_5B,
            partial(_over_links, "time down", down, (GOODPUT, STEADY)),
            goals=goals_5b,
        ),
        Section(
            "Figure 5(c): messages over a hop that loses 5 %",
            ("004-5c",),
            words.FIGURE_5C,
            partial(_over_links, "the hop's RTT", hop, (DELAY, IN_ORDER, JITTER)),
            goals=goals_5c,
        ),
        Section(
            "Figure 6: New York to Beijing",
            ("004-6-low", "004-6-high"),
            words.FIGURE_6,
            partial(_over_links, "loss of each hop", loss, (GOODPUT, DELAY, IN_ORDER, JITTER)),
            picture=Picture("gains.svg", words.GAINS_WORDS, words.GAINS_ALTERNATIVE, partial(_gains, loss)),
        ),
        Section(
            "Figure 6 over a day: where INTCP has 1.6 times Reno's throughput",
            ("004-6-day",),
            words.FIGURE_6_DAY,
            _day,
        ),
        Section(
            "Figure 7: receivers that ask for the same",
            ("004-7",),
            words.FIGURE_7,
            _receivers,
            sources=("metrics.csv", "link.csv"),
            goals=goals_7,
        ),
        Section("What each mechanism earns", ("004-parts",), words.PARTS, _parts),
        Section("Several flows on one hop", ("004-several",), words.SEVERAL, _several, goals=goals_several),
        Section(
            "What a buffer buys",
            ("004-buffers",),
            words.BUFFERS,
            _buffers,
            picture=Picture("buffers.svg", words.TRADE_WORDS, words.TRADE_ALTERNATIVE, _trade),
        ),
    )
