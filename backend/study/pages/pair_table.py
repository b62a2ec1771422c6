"""The table of how two controls share a link, out of the studies' archives."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

from downlink.cli.output import say
from downlink.cli.table import NOTHING, check_markers, put_between_markers
from downlink.codec.campaign_file import parse_campaign
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.errors import InvalidError

TABLES = ("metrics.csv", "link.csv")
PHASES = ("startup", "steady")
Row = Mapping[str, str]
Rows = Mapping[str, Sequence[Row]]
Pair = tuple[str, str]
HEAD = (
    "campaign", "link", "condition", "runs", "{0}, {1}, first {2:g} s, Mb/s", "{0}, {1}, last {3:g} s, Mb/s",
    "{1} over {0}, last {3:g} s (of the runs)", "RTT of {0}, last {3:g} s, ms", "packets dropped at random, {0}, {1}",
    "by a full queue", "made",
)  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A campaign file, the rows of its tables, and the record of its runs; both empty before it was run."""

    file: Path
    campaign: Campaign
    rows: Rows
    record: Mapping[str, Any]


def write_table(page: Path, pair: Pair, studies: Path, archives: Path, files: str) -> None:
    """Write the table into the page. InvalidError where the page has no place for it, before anything is read."""
    check_markers(page)
    found = [_read(file, archives) for file in sorted(studies.glob(files))]
    put_between_markers(page, pair_table(found, pair))
    say(str(page))


def pair_table(studies: Sequence[Study], pair: Pair) -> str:
    """Markdown: a line for each link and condition in which the two controls are alone. InvalidError where there is none."""
    chosen = [(study, name) for study in studies for name in _conditions(study.campaign, pair)]
    if not chosen:
        raise InvalidError("no_pairs", f"No campaign file has a condition of {pair[0]} and {pair[1]} alone.")
    phases = {(study.campaign.phases.startup_s, study.campaign.phases.steady_s) for study, _ in chosen}
    if len(phases) > 1:
        raise InvalidError("phases_differ", f"The campaigns with {pair[0]} and {pair[1]} have different phases.")
    titles = (*map(_title, pair), *phases.pop())
    head = [title.format(*titles) for title in HEAD]
    lines = [head, ["---"] * 3 + ["---:"] * (len(HEAD) - 4) + ["---"]]
    lines += [list(line) for study, name in chosen for line in _lines(study, name)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _conditions(campaign: Campaign, pair: Pair) -> list[str]:
    return [each.name for each in campaign.conditions if tuple(flow.tcp and flow.tcp.cc for flow in each.flows) == pair]


def _title(cc: str) -> str:
    return cc.upper() if len(cc) <= 3 else cc.capitalize()


def _lines(study: Study, condition: str) -> Iterator[tuple[str, ...]]:
    for link in study.campaign.links:
        begin = (study.file.stem, link, condition)
        if not study.rows:
            yield (*begin, "not run yet", *[NOTHING] * (len(HEAD) - 4))
            continue
        metrics, drops = (
            [row for row in study.rows[name] if (row["link"], row["condition"]) == (link, condition)] for name in TABLES
        )
        yield (*begin, *_cells(metrics, drops), _made(study.record))


def _cells(metrics: Sequence[Row], drops: Sequence[Row]) -> tuple[str, ...]:
    """Means over the complete runs; the ratio is their geometric mean."""
    rates = {phase: _by_run(metrics, phase, "throughput_bps", 1e-6) for phase in PHASES}
    complete = {run for run, flows in rates["steady"].items() if len(flows) == 2}
    if not complete:
        return ("0", *[NOTHING] * (len(HEAD) - 5))
    ratios = [rates["steady"][run]["2"] / rates["steady"][run]["1"] for run in sorted(complete)]
    rtts = _by_run(metrics, "steady", "rtt_ms", 1)
    return (
        str(len(complete)),
        *(_means(rates[phase], complete, ".1f") for phase in PHASES),
        f"{geometric_mean(ratios):.1f} ({min(ratios):.1f}-{max(ratios):.1f})",
        f"{fmean(rtts[run]['1'] for run in complete):.0f}",
        *(_means(_by_run(drops, "overall", f"{cause}_packets", 1), complete, ",.0f") for cause in ("early_drop", "queue_full")),
    )  # fmt: skip


def _by_run(rows: Sequence[Row], phase: str, column: str, factor: float) -> dict[str, dict[str, float]]:
    """Values of complete runs, by run and flow. Rows of a link as a whole and empty cells are left out."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["state"] == "complete" and row["phase"] == phase and row["flow"] and row[column]:
            found[row["run_id"]][row["flow"]] = float(row[column]) * factor
    return found


def _means(by_run: Mapping[str, Mapping[str, float]], runs: set[str], form: str) -> str:
    """Means of both flows, of the runs that have them."""
    known = [by_run[run] for run in sorted(runs) if len(by_run.get(run, {})) == 2]
    return ", ".join(format(fmean(flows[flow] for flows in known), form) for flow in "12") if known else NOTHING


def _made(record: Mapping[str, Any]) -> str:
    return f"{str(record.get('ended_at', ''))[:10]}, {str(record.get('commit', ''))[:12]}".strip(", ") or NOTHING


def _read(file: Path, archives: Path) -> Study:
    """Read a study. InvalidError where the campaign file or its tables cannot be read."""
    try:
        tables, record = archives / f"{file.stem}-tables.zip", archives / f"{file.stem}.json"
        campaign = parse_campaign(file.read_text())
        rows = _rows(tables) if tables.exists() else {}
        return Study(file, campaign, rows, json.loads(record.read_text()) if record.exists() else {})
    except InvalidError as error:
        raise InvalidError(error.code, f"{file}: {error.message}", error.details) from error
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidError("study_unreadable", f"The study of {file} cannot be read: {error}.") from error


def _rows(tables: Path) -> Rows:
    with zipfile.ZipFile(tables) as archive:
        names = {Path(name).name: name for name in archive.namelist()}
        return {name: list(csv.DictReader(io.StringIO(archive.read(names[name]).decode()))) for name in TABLES}
