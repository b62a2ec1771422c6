"""A campaign's findings as one Markdown table: a row per flow of a condition, each value a mean over its runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from downlink.cli.client import Client
from downlink.domain.errors import InvalidError, UnavailableError
from downlink.domain.results.metric import NAMED, STEADY_TIMES

BEGIN, END = "<!-- table -->", "<!-- end of table -->"
REPORT_PATIENCE_S = 120.0  # the last run's traces are analysed after it has ended
PERIOD_S = 1.0
NOTHING = "-"

Row = Mapping[str, Any]
Group = tuple[str, str, int]


def current_report(client: Client, campaign: str) -> dict[str, Any]:
    """The report over every run that has ended; waits while the last ones are being analysed. An older analysis' stays so."""
    give_up = time.monotonic() + REPORT_PATIENCE_S
    while True:
        report: dict[str, Any] = client.get(f"/campaigns/{campaign}/report")
        if report["is_current"] or report["is_outdated"]:
            return report
        if time.monotonic() > give_up:
            raise UnavailableError(
                "report_not_current", "The last runs are still being analysed; ask again in a minute."
            )
        time.sleep(PERIOD_S)


def campaign_table(client: Client, campaign: str) -> str:
    """The table with a sentence above it that says what its values are. NotFoundError until a cycle has ended."""
    report = current_report(client, campaign)
    exits = client.get(f"/campaigns/{campaign}/exits")["groups"]
    observed = {_group(row): _observed(row) for row in exits}
    links = {
        (row["link"], row["condition"]): row for row in report.get("links", ())
    }  # a server from before says nothing of links
    rows = [
        {
            **group,
            "observed_exit": observed.get(_group(group)),
            "by_log": links.get((group["link"], group["condition"])),
        }
        for group in report["groups"]
    ]
    return f"{_caption(client.get(f'/campaigns/{campaign}'), report)}\n\n{markdown(rows)}"


def markdown(rows: Sequence[Row]) -> str:
    """Groups of a report as lines of a table, each with its `observed_exit`, and with what the link did where `by_log` says it of any."""
    columns = COLUMNS | LINK_COLUMNS if any(row.get("by_log") for row in rows) else COLUMNS
    lines = [list(columns), ["---", "---", "---"] + ["---:"] * (len(columns) - 3)]
    lines += [[read(row) for read in columns.values()] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def put_between_markers(file: Path, text: str) -> None:
    """Replace what is between the file's two marker lines."""
    head, tail = _around_markers(file)
    file.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")


def check_markers(file: Path) -> None:
    """InvalidError unless the file has a place for a table, so that no study runs for nothing."""
    _around_markers(file)


def value(estimate: Row | None, factor: float = 1.0, digits: int = 1) -> str:
    """A mean times `factor`, its 95 % interval, and n: `104.2 [101.0, 107.3] (5)`. One run alone has no interval."""
    if estimate is None or estimate["mean"] is None:
        return NOTHING
    mean, low, high = (
        None if estimate[key] is None else f"{estimate[key] * factor:.{digits}f}" for key in ("mean", "low", "high")
    )
    interval = "" if low is None else f" [{low}, {high}]"
    return f"{mean}{interval} ({estimate['n']})"


def event_time(estimate: Row) -> str:
    """A median over all runs with n, and how many were not there in time: `17.0 (5), 1 not within 32 s`."""
    median = NOTHING if estimate["median"] is None else f"{estimate['median']:.1f}"
    late = f", {estimate['not_within']} not within {estimate['within_s']:.0f} s" if estimate["not_within"] else ""
    return f"{median} ({estimate['n']}){late}"


Column = tuple[str, Callable[[Row], str]]


def _metric(phase: str, name: str, digits: int = 1) -> Column:
    """Return a metric's column: its title with the unit shown, and its value in a row."""
    shown = NAMED[name]
    title = f"{shown.title}, {PHASE_TITLES[phase]}, {shown.shown_unit}"
    return title, lambda row: value(row["metrics"][phase][name], shown.shown_factor, digits)


def _time(name: str) -> Column:
    return f"{NAMED[name].title}, {NAMED[name].shown_unit}", lambda row: event_time(row[name])


PHASE_TITLES = {"startup": "start-up", "steady": "steady", "overall": "overall"}
COLUMNS: dict[str, Callable[[Row], str]] = {
    "link": lambda row: row["link"],
    "condition": lambda row: row["condition"],
    "flow": lambda row: f"{row['flow']}: {row['cc']}",
    "runs": lambda row: str(row["runs"]),
    **dict(
        (
            _metric("startup", "throughput_bps"),
            _metric("steady", "throughput_bps"),
            *map(_time, STEADY_TIMES),
            _metric("overall", "retransmission_percent", digits=2),
            _metric("steady", "rtt_ms", digits=0),
        )
    ),
    "slow-start exit, s": lambda row: _exit(row["observed_exit"]),
}


def _of_link(phase: str, name: str, digits: int) -> Column:
    """Return a column of the emulated link's log."""
    shown = NAMED[name]
    title = f"{shown.title}, {PHASE_TITLES[phase]}, {shown.shown_unit}"
    return title, lambda row: value(_by_log(row, phase, name), shown.shown_factor, digits)


def _by_log(row: Row, phase: str, name: str) -> Row | None:
    logged: Row | None = row["by_log"] and row["by_log"]["metrics"][phase][name]
    return logged


LINK_COLUMNS: dict[str, Callable[[Row], str]] = dict(
    (
        _of_link("startup", "queueing_ms", 0),
        _of_link("steady", "queueing_ms", 0),
        _of_link("overall", "congestion_loss_percent", 3),
        _of_link("overall", "link_loss_percent", 3),
    )
)
"""Columns of links that were logged."""


def _group(row: Row) -> Group:
    return row["link"], row["condition"], row["flow"]


def _observed(row: Row) -> Row | None:
    """Return the kernel's own exit from a group's detectors."""
    return next((each for each in row["detectors"] if each["detector"] == "observed_exit"), None)


def _exit(observed: Row | None) -> str:
    """Runs that never left slow start are missing in n; a control without a threshold cannot show its exit."""
    from downlink.analysis.intervals import mean_intervals

    if observed is None or not observed["decidable"]:
        return NOTHING
    return value(mean_intervals(observed["exits_s"], least=0).to_dict()) if observed["exits_s"] else "none"


def _caption(campaign: Row, report: Row) -> str:
    phases, made = report["phases"], datetime.fromisoformat(report["computed_at"])
    return (
        f"Campaign “{campaign['name']}”, {made:%Y-%m-%d}, analysis version {report['analysis_version']}. "
        f"Mean [95 % interval] (n). Start-up: the first {phases['startup_s']:g} s; steady: the last {phases['steady_s']:g} s; "
        "time to steady state: median over all runs until throughput stays above 90 % of the flow's own steady state; "
        f"to common level: above 90 % of {_level(report)}."
    )


def _level(report: Row) -> str:
    bases = {group["level_basis"] for group in report["groups"]}
    names = {"nominal": "what the link's nominal rate leaves for data", "median": "the condition's median steady state"}
    return " or (several flows, or no nominal rate) ".join(name for basis, name in names.items() if basis in bases)


def _around_markers(file: Path) -> tuple[str, str]:
    try:
        head, begin, rest = file.read_text().partition(BEGIN)
    except OSError as error:
        raise InvalidError("file_unreadable", f"Cannot read {file}: {error.strerror}.") from error
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise InvalidError(
            "no_markers", f"{file} does not say where the table goes: write the lines {BEGIN} and {END} into it."
        )
    return head, tail
