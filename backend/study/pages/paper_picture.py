"""A figure's published values as marks through our intervals, as SVG. Each value has an axis of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from study.pages.svg import BAND, OURS, drawing

Row = Mapping[str, Any]
LABEL, PLOT, MARGIN = 330, 420, 12
LINE, TOP = 34, 30
PUBLISHED, AXIS = "#852408", "#8a94a3"


def picture(rows: Sequence[Row], title: str) -> str:
    """A line for each value: what was published dashed or as a band, ours as a dot with its 95 % interval."""
    width, height = LABEL + PLOT + 2 * MARGIN, TOP + LINE * len(rows) + MARGIN
    lines = "".join(_line(row, TOP + LINE * index) for index, row in enumerate(rows))
    heading = f'<text x="{MARGIN}" y="19" font-weight="bold">{escape(title)}</text>\n'
    return drawing(width, height, title, heading + lines)


def span_of(row: Row) -> tuple[float, float]:
    """The ends of the line's axis: from 0, or from below where something lies there, to beyond all that is drawn."""
    keys = ("least", "most", "estimate", "low", "high")
    known = [row[key] for key in keys if row.get(key) is not None]
    least, most = min([0.0, *known]), max([0.0, *known])
    slack = (most - least) / 12 or 1.0
    return (least - slack if least < 0 else 0.0), most + slack


def _line(row: Row, top: int) -> str:
    least, most = span_of(row)
    middle = top + LINE // 2 - 4

    def at(value: float) -> float:
        return round(LABEL + PLOT * (value - least) / (most - least), 1)

    parts = [f'<text x="{MARGIN}" y="{middle + 4}">{escape(str(row["name"]))}</text>']
    left, right = (end if row[key] is None else at(row[key]) for key, end in (("least", LABEL), ("most", LABEL + PLOT)))
    if row["least"] != row["most"]:
        parts.append(f'<rect x="{left}" y="{top}" width="{right - left:.1f}" height="{LINE - 10}" fill="{BAND}"/>')
    parts.append(f'<path d="M{LABEL} {middle}h{PLOT}" stroke="{AXIS}" stroke-width="0.5"/>')
    for end in dict.fromkeys(each for each in (row["least"], row["most"]) if each is not None):
        parts.append(
            f'<path d="M{at(end)} {top}v{LINE - 10}" stroke="{PUBLISHED}" stroke-width="2" stroke-dasharray="4 2"/>'
        )
    if row["low"] is not None and row["high"] is not None:
        low, high = at(row["low"]), at(row["high"])
        bar = f"M{low} {middle - 5}v10M{low} {middle}H{high}M{high} {middle - 5}v10"
        parts.append(f'<path d="{bar}" stroke="{OURS}" stroke-width="2" fill="none"/>')
    if row["estimate"] is None:
        parts.append(f'<text x="{LABEL + PLOT // 3}" y="{middle - 3}" fill="{AXIS}">not run yet</text>')
    else:
        parts.append(f'<circle cx="{at(row["estimate"])}" cy="{middle}" r="4" fill="{OURS}"/>')
    ends = ((LABEL, "start", least), (LABEL + PLOT, "end", most))
    parts += [
        f'<text x="{x}" y="{top + LINE - 3}" text-anchor="{anchor}" font-size="9" fill="{AXIS}">{value:.3g} {escape(row["unit"])}</text>'
        for x, anchor, value in ends
    ]
    return "".join(f"{part}\n" for part in parts)
