"""Expectations of a campaign about its runs' numbers, and the numbers that lie outside them. Pure: the numbers are arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from downlink.domain.results.metric import NAMED, phase_metric_of

DIGITS = (3, 4, 6, 9, 12)
"""Digits of a shown value: the first of these with which it is seen to lie outside."""
Numbers = Mapping[tuple[str, int | None], float]
"""Numbers of one run, by `phase.metric` and flow. None in place of the flow for those of the link."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """metric: `phase.metric`. above, below: in the metric's unit, one of them at least; a bound itself lies outside.

    condition, link, flow: whose numbers; None for those of all.
    """

    metric: str
    above: float | None = None
    below: float | None = None
    condition: str | None = None
    link: str | None = None
    flow: int | None = None

    def concerns(self, condition: str, link: str) -> bool:
        return self.condition in (None, condition) and self.link in (None, link)

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as the campaign file writes it, without the keys that are None."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Check:
    """One number of a run, held against an expectation.

    expectation: its place in the campaign's list, from 1. flow: None for what is of the link.
    """

    expectation: int
    metric: str
    flow: int | None
    value: float
    above: float | None
    below: float | None

    @property
    def is_met(self) -> bool:
        return is_within(self.value, self.above, self.below)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def is_within(value: float, above: float | None, below: float | None) -> bool:
    return (above is None or value > above) and (below is None or value < below)


def checks(expected: Sequence[Expectation], condition: str, link: str, numbers: Numbers) -> list[Check]:
    """Return the checks of a run of this condition on this link; none for a number that the run does not have."""
    return [
        Check(number, each.metric, flow, value, each.above, each.below)
        for number, each in enumerate(expected, 1)
        if each.concerns(condition, link)
        for (metric, flow), value in sorted(numbers.items(), key=lambda item: (item[0][0], item[0][1] or 0))
        if metric == each.metric and each.flow in (None, flow)
    ]


def checks_of(stored: Iterable[Mapping[str, Any]] | None) -> list[Check]:
    """Read the checks that to_dict wrote; none where nothing was stored."""
    return [Check(**each) for each in stored or ()]


def unmet(checks: Iterable[Check]) -> dict[int, list[Check]]:
    """Group the checks that failed by the number of their expectation."""
    outside: dict[int, list[Check]] = {}
    for each in checks:
        if not each.is_met:
            outside.setdefault(each.expectation, []).append(each)
    return outside


def series_outside(runs: Iterable[tuple[UUID, Sequence[Check]]], expectation: int) -> dict[UUID, tuple[UUID, ...]]:
    """Map each run that lies outside to the series around it: consecutive runs outside, with none inside between them. runs: of one
    condition on one link, in their order. Runs without the number are skipped."""
    judged = ((id_, own) for id_, made in runs if (own := [each for each in made if each.expectation == expectation]))
    stretches = groupby(judged, key=lambda run: bool(unmet(run[1])))
    series_of_runs = (tuple(id_ for id_, _ in stretch) for is_outside, stretch in stretches if is_outside)
    return {id_: series for series in series_of_runs for id_ in series}


def sentence(outside: Iterable[Check]) -> str:
    """State for people which numbers lie outside: `Goodput of flow 1, overall: 12.1 Mb/s, expected above 20.`"""
    return " ".join(map(_sentence, outside))


def _sentence(check: Check) -> str:
    phase, name = phase_metric_of(check.metric)
    quantity = NAMED[name]
    whose = "" if check.flow is None else f" of flow {check.flow}"
    value = _shown(check, quantity.shown_factor)
    bounds = " and ".join(_bounds(check, quantity.shown_factor))
    return f"{quantity.title}{whose}, {phase}: {value} {quantity.shown_unit}, expected {bounds}."


def _bounds(check: Check, factor: float) -> Iterator[str]:
    for word, bound in (("above", check.above), ("below", check.below)):
        if bound is not None:
            yield f"{word} {_written(bound * factor, 12)}"


def _shown(check: Check, factor: float) -> str:
    """Format a value with enough digits to show that it lies beyond the bound; a value equal to the bound looks like it."""
    low, high = (bound if bound is None else bound * factor for bound in (check.above, check.below))
    texts = [_written(check.value * factor, digits) for digits in DIGITS]
    return next((text for text in texts if _is_beyond(float(text), low, high)), texts[-1])


def _is_beyond(value: float, low: float | None, high: float | None) -> bool:
    return (low is not None and value < low) or (high is not None and value > high)


def _written(number: float, digits: int) -> str:
    """Format a number without an exponent, at magnitudes that people read."""
    text = f"{number:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text else text
