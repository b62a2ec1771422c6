"""The output of answers: a table for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from downlink.domain.text import CONTROLS, without_controls

Row = Mapping[str, Any]
Column = tuple[str, Callable[[Row], object]]
AsJson = Annotated[bool, typer.Option("--json", help="Output the REST API's JSON.")]

STATE_STYLES = {
    "complete": "green",
    "running": "cyan",
    "failed": "red",
    "missed": "red",
    "incomplete": "yellow",
    "cancelled": "yellow",
}


def plain(text: str) -> str:
    """Lines to print. What they quote may have been stored by anybody: nothing in it steers the terminal."""
    return without_controls(text.replace("\r\n", "\n"), but="\n\t")


def say(text: str) -> None:
    typer.echo(plain(text))


def note(text: str) -> None:
    """A remark for people: on standard error, so that a pipe gets data alone."""
    typer.echo(plain(text), err=True)


def print_json(value: object) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    typer.echo(CONTROLS.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text))


def show(rows: Sequence[Row], columns: Sequence[Column], as_json: bool, empty: str) -> None:
    """Print rows; `empty` is the sentence for when there are none."""
    if as_json:
        print_json(list(rows))
    elif not rows:
        note(empty)
    else:
        print_table(rows, columns)


def print_table(rows: Iterable[Row], columns: Sequence[Column]) -> None:
    """Aligned columns on a terminal, tab-separated ones in a pipe."""
    cells = [[_text(read(row)) for _, read in columns] for row in rows]
    if not sys.stdout.isatty():
        for line in ([title for title, _ in columns], *cells):
            typer.echo("\t".join(line))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*(title for title, _ in columns), box=None, header_style="bold", pad_edge=False)
    for line in cells:
        table.add_row(*(_styled(escape(cell)) for cell in line))
    Console().print(table)


def _styled(cell: str) -> str:
    style = STATE_STYLES.get(cell)
    return f"[{style}]{cell}[/]" if style else cell


def _text(value: object) -> str:
    return "" if value is None else without_controls(str(value))


def moment(iso: str | None) -> str:
    """A UTC moment to the second, as people read it."""
    return datetime.fromisoformat(iso).strftime("%Y-%m-%d %H:%M:%SZ") if iso else ""


def local_moment(iso: str, zone: str | None) -> str:
    """A moment to the second by the clock of a zone, with its name; in UTC where there is none that this host knows."""
    local = _local(iso, zone)
    return moment(iso) if local is None else f"{local:%a %Y-%m-%d %H:%M:%S} {zone or 'UTC'}"


def local_day(iso: str, zone: str | None) -> str:
    """The day on which a moment is by the clock of a zone; in UTC where there is none that this host knows."""
    return f"{_local(iso, zone) or datetime.fromisoformat(iso):%Y-%m-%d}"


def _local(iso: str, zone: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(iso).astimezone(ZoneInfo(zone or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        return None


def megabits(rate_bps: float | None) -> str:
    return "" if rate_bps is None else f"{rate_bps / 1e6:.1f} Mb/s"


def megabytes(size_bytes: float | None) -> str:
    """Format bytes in whole MB; less than 1 MB in kB, so that a small number does not appear as nothing."""
    if size_bytes is None:
        return ""
    return f"{size_bytes / 1e3:,.0f} kB" if 0 < abs(size_bytes) < 1e6 else f"{size_bytes / 1e6:,.0f} MB"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds, the small ones only when they matter: `2 h 05 min`, `4 min 10 s`, `35 s`."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
