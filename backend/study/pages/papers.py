"""A page for each paper: published values beside those of the studies' archives."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downlink.cli.files import make_folder, write_text
from downlink.cli.output import note, say
from downlink.cli.published_table import NOTHING, READINGS, ours_text, published_text, why_text
from downlink.codec.campaign_file import parse_campaign
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.errors import InvalidError
from downlink.domain.results.metric import NAMED
from downlink.domain.results.reproduction import PublishedFigure, PublishedValue
from study.pages.paper_picture import picture
from study.pages.tables import Published, commit_text, origin_text, read_record, read_reproduction, table_lines
from study.prose import fill

STUDY = re.compile(r"(\d{3})-")


@dataclass(frozen=True)
class Study:
    """A campaign file, and what its archive says. rows: of reproduction.csv by paper, figure and name; empty before it was run."""

    file: Path
    campaign: Campaign
    rows: Published
    record: Mapping[str, Any]

    @property
    def command(self) -> str:
        """Command that runs it."""
        study = STUDY.match(self.file.name)
        name = self.record.get("study") or (study[1] if study else None)
        return f"make study-{name}" if name else f"downlink stack demo --campaign {self.file}"


def write_pages(studies: Path, archives: Path, into: Path) -> None:
    """Write the pages. InvalidError where no campaign file names a published figure."""
    found = [read_study(file, archives) for file in sorted(studies.glob("*.yaml"))]
    if not any(study.campaign.reproduces for study in found):
        message = f"No campaign file in {studies} names a published figure (reproduces, docs/campaign-file.md)."
        raise InvalidError("nothing_reproduced", message)
    for file, text in pages(found):
        make_folder((into / file).parent)
        write_text(into / file, text)
        say(str(into / file))
    for study in found:
        if study.campaign.reproduces and not study.rows:
            note(f"{study.file.name} has not been run yet: {study.command}")


def read_study(file: Path, archives: Path) -> Study:
    """Read a study. InvalidError where the campaign file or its tables cannot be read."""
    try:
        campaign = parse_campaign(file.read_text())
        rows = read_reproduction(archives, file.stem)
        return Study(file, campaign, rows, read_record(archives, file.stem))
    except InvalidError as error:
        raise InvalidError(error.code, f"{file}: {error.message}", error.details) from error
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidError("study_unreadable", f"The study of {file} cannot be read: {error}.") from error


def pages(studies: Sequence[Study]) -> Iterator[tuple[str, str]]:
    """File names and contents: a page and pictures for each paper, and the list of them."""
    named = [(study, figure) for study in studies for figure in study.campaign.reproduces]
    papers = list(dict.fromkeys(figure.paper for _, figure in named))
    for paper in papers:
        figures = []
        for study, figure in named:
            if figure.paper == paper:
                rows = [_row(study, figure, value) for value in figure.values]
                image = f"figures/{study.file.stem}-{_slug(figure.figure)}.svg"
                yield image, picture(rows, f"{paper}, {figure.figure}")
                figures.append(_figure(study, figure, image, rows))
        yield (
            f"{_slug(paper)}.md",
            fill("papers/paper", paper=paper, introduction=_introduction(), figures="\n".join(figures).strip()),
        )
    yield "README.md", _index(papers, named, studies)


def _introduction() -> str:
    return fill("papers/introduction").strip()


def _figure(study: Study, figure: PublishedFigure, image: str, rows: Sequence[Mapping[str, Any]]) -> str:
    values = table_lines(map(_cells, rows))
    return fill("papers/figure", figure=figure.figure, origin=_origin(study), picture=image, values=values)


def _row(study: Study, figure: PublishedFigure, value: PublishedValue) -> dict[str, Any]:
    """Row as the API has it: numbers of the archive; published value and cause as the campaign file has them now."""
    ends = {
        name: each if abs(each) < float("inf") else None
        for name, each in (("least", value.least), ("most", value.most))
    }
    unit = "" if value.over else NAMED[value.metric].shown_unit
    empty = {"n": 0, "reading": "not_run", "unit": unit, "estimate": None, "low": None, "high": None, **ends}
    found = study.rows.get((figure.paper, figure.figure, value.name), empty)
    own = {
        "name": value.name,
        "why": value.why,
        "source": value.source,
        "tolerance": value.tolerance,
        "share": value.share,
    }
    return {**found, **own}


def _cells(row: Mapping[str, Any]) -> list[str]:
    tolerance = "" if row["tolerance"] is None else f" ± {row['tolerance']:g}"
    source = f" ({row['source']})" if row["source"] else ""
    cells = (
        row["name"],
        f"{published_text(row)}{tolerance}{source}",
        ours_text(row),
        READINGS[row["reading"]],
        _DOCUMENT.sub(_link, why_text(row)),
    )
    return [cell.replace("|", "/") for cell in cells]


_DOCUMENT = re.compile(r"(?<![\w/])(docs/)?([\w/-]+\.md)\b")


def _link(named: re.Match[str]) -> str:
    """A page that a cause names: one of docs, or one beside this page."""
    return f"[{named[2]}]({'../' if named[1] else ''}{named[2]})"


def _origin(study: Study) -> str:
    """Origin of the numbers, and the command that repeats them."""
    if not study.rows:
        return fill("papers/not-run", file=study.file.name, command=study.command).strip()
    return origin_text(study.file.name, study.command)


def _index(papers: list[str], named: list[tuple[Study, PublishedFigure]], studies: Sequence[Study]) -> str:
    lines = []
    for paper in papers:
        rows = [
            _row(study, figure, value) for study, figure in named if figure.paper == paper for value in figure.values
        ]
        count = {reading: sum(row["reading"] == reading for row in rows) for reading in READINGS}
        lines.append((f"[{paper}]({_slug(paper)}.md)", str(len(rows)), *map(str, count.values())))
    made = table_lines(_made(study) for study in studies)
    return fill("papers/index", introduction=_introduction(), papers=table_lines(lines), campaigns=made)


def _made(study: Study) -> list[str]:
    said = study.record
    if not said:
        return [study.file.name, *[NOTHING] * 4, "not run yet", NOTHING, f"`{study.command}`"]
    again = ", ".join(f"{count} {reason}" for reason, count in said.get("not_complete_by_reason", {}).items())
    late = f"{100 * said['late_share_max']:.1f}" if said.get("late_share_max") is not None else NOTHING
    complete, planned = said.get("runs", {}).get("complete", NOTHING), said.get("runs_planned", 0)
    runs = f"{complete} of {planned}" if isinstance(complete, int) and complete < planned else str(complete)
    return [
        study.file.name, f"{said['n']} of {said['full_n']}", runs, again or "none", late,
        str(said.get("ended_at", NOTHING))[:10], commit_text(said), f"`{study.command}`",
    ]  # fmt: skip


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
