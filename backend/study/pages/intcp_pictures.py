"""Plots of the page of paper 004, as SVG: ratios over a loss, and what a buffer buys against what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from study.pages.svg import BAND, OURS, drawing

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 590, 52, 362
AXIS, TEXT = "#5f6975", "#1c2126"
APART = 12
"""Distance between series at one place, so that their intervals do not cover each other."""
CLOSE = 40
"""Labels of points that are nearer than this become one."""
LETTER, TEXT_LINE = 6.5, 15

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Span:
    """A value with its interval, whose ends are NaN for one run."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, ...]:
        known = (self.low, self.high) if math.isfinite(self.low) and math.isfinite(self.high) else ()
        return (self.value, *known)


@dataclass(frozen=True, slots=True)
class Series:
    """A line of ratios, None where there is none, and what was published of it."""

    title: str
    colour: str
    published: float
    ratios: Sequence[Span | None]


@dataclass(frozen=True, slots=True)
class Point:
    """Cost and gain of a value of the key."""

    label: str
    cost: Span
    gain: Span


def ratios_picture(title: str, x: str, places: Sequence[str], series: Sequence[Series]) -> str:
    """Every series over the places, on one logarithmic axis, with its published value as a dashed line."""
    known = [end for each in series for span in each.ratios if span for end in span.ends]
    known += [1.0, *(each.published for each in series)]
    y = _logarithmic(min(known) / 1.3, max(known) * 1.3)
    step = (RIGHT - LEFT) / len(places)
    parts = [_level(y(tick), f"{tick:g}") for tick in _decades(min(known) / 1.3, max(known) * 1.3)]
    parts.append(_line(LEFT, y(1), RIGHT, y(1), AXIS))
    parts += [
        _text(LEFT + step * (index + 0.5), BOTTOM + 18, place, anchor="middle") for index, place in enumerate(places)
    ]
    for number, each in enumerate(series):
        shift = (number - (len(series) - 1) / 2) * APART
        level = y(each.published)
        parts.append(_line(LEFT, level, RIGHT, level, each.colour, 'stroke-dasharray="6 4"'))
        parts.append(_legend(each, LEFT + 170 * number))
        for index, span in enumerate(each.ratios):
            if span:
                parts.append(_upright(LEFT + step * (index + 0.5) + shift, span, y, each.colour))
    levels = _spread([y(each.published) for each in series])
    parts += [
        _text(RIGHT + 6, level + 4, f"published: {each.published:g}", fill=each.colour)
        for each, level in zip(series, levels, strict=True)
    ]
    return _drawing(title, x, parts)


def _spread(levels: Sequence[float]) -> list[float]:
    """The levels of lines of text, moved down where one would cover another."""
    spread = list(levels)
    last = -math.inf
    for index in sorted(range(len(levels)), key=lambda index: levels[index]):
        last = spread[index] = max(levels[index], last + TEXT_LINE)
    return spread


def trade_picture(title: str, cost: str, gain: str, points: Sequence[Point]) -> str:
    """Gain over cost, in the points' order; bars are intervals of both."""
    x_most = max(end for each in points for end in each.cost.ends)
    y_most = max(end for each in points for end in each.gain.ends)
    x, y = _linear(0, x_most * 1.08, LEFT, RIGHT), _linear(0, y_most * 1.15, BOTTOM, TOP)
    parts = [_level(y(tick), f"{tick:g}") for tick in _steps(y_most * 1.15)]
    parts += [_text(x(tick), BOTTOM + 18, f"{tick:,.10g}", anchor="middle") for tick in _steps(x_most * 1.08)]
    parts.append(_text(LEFT, TOP - 10, gain))
    way = " ".join(f"{x(each.cost.value):.1f},{y(each.gain.value):.1f}" for each in points)
    parts.append(f'<polyline points="{way}" fill="none" stroke="{OURS}" stroke-opacity="0.45"/>')
    for each in points:
        parts.append(_upright(x(each.cost.value), each.gain, y, OURS))
        if len(each.cost.ends) > 1:
            level = y(each.gain.value)
            parts.append(_line(x(each.cost.low), level, x(each.cost.high), level, OURS, 'stroke-width="2"'))
    parts += [_beside(words, left, level) for words, left, level in _labels(points, x, y)]
    return _drawing(title, cost, parts)


def _labels(points: Sequence[Point], x: Scale, y: Scale) -> list[tuple[str, float, float]]:
    """Labels with their places; points that are close to the one before share its label."""
    made: list[tuple[str, float, float]] = []
    for each in points:
        left, level = x(each.cost.value), y(each.gain.value)
        if made and math.hypot(left - made[-1][1], level - made[-1][2]) < CLOSE:
            made[-1] = (f"{made[-1][0]}, {each.label}", left, level)
        else:
            made.append((each.label, left, level))
    return made


def _beside(words: str, left: float, level: float) -> str:
    """Below and to the right of the point, or to the left where there is no room."""
    has_room = left + 8 + LETTER * len(words) < WIDTH
    return _text(left + 8 if has_room else left - 8, level + 24, words, anchor="start" if has_room else "end")


def _drawing(title: str, x: str, parts: Sequence[str]) -> str:
    axis = _text((LEFT + RIGHT) / 2, BOTTOM + 42, x, anchor="middle")
    body = "".join(f"{part}\n" for part in (*parts, _line(LEFT, BOTTOM, RIGHT, BOTTOM, AXIS), axis))
    return drawing(WIDTH, HEIGHT, title, body)


def _upright(left: float, span: Span, y: Scale, colour: str) -> str:
    """A dot with its interval."""
    dot = f'<circle cx="{left:.1f}" cy="{y(span.value):.1f}" r="4" fill="{colour}"/>'
    if len(span.ends) == 1:
        return dot
    low, high = y(span.low), y(span.high)
    bar = f"M{left - 4:.1f} {low:.1f}h8M{left:.1f} {low:.1f}V{high:.1f}M{left - 4:.1f} {high:.1f}h8"
    return f'<path d="{bar}" stroke="{colour}" stroke-width="2" fill="none"/>{dot}'


def _legend(series: Series, left: float) -> str:
    dot = f'<circle cx="{left + 4:.1f}" cy="24" r="4" fill="{series.colour}"/>'
    return dot + _text(left + 14, 28, series.title)


def _level(top: float, words: str) -> str:
    return _line(LEFT, top, RIGHT, top, BAND) + _text(LEFT - 8, top + 4, words, anchor="end")


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" {more}/>'.replace(" />", "/>")


def _text(x: float, y: float, words: str, anchor: str = "start", fill: str = TEXT) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>'


def _linear(least: float, most: float, start: float, end: float) -> Scale:
    return lambda value: start + (end - start) * (value - least) / (most - least)


def _logarithmic(least: float, most: float) -> Scale:
    inner = _linear(math.log(least), math.log(most), BOTTOM, TOP)
    return lambda value: inner(math.log(value))


def _decades(least: float, most: float) -> list[float]:
    return [float(10.0**power) for power in range(math.ceil(math.log10(least)), math.floor(math.log10(most)) + 1)]


def _steps(most: float) -> list[float]:
    """About five round numbers from 0 on."""
    rough = most / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * each for each in (1, 2, 5, 10) if unit * each >= rough)
    return [step * index for index in range(int(most / step) + 1)]
