"""Outcomes as columns: objects in Python, JSON in PostgreSQL, and the fields of them that queries read."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Dialect, cast
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

from downlink.domain.runs.outcome import FlowOutcome, LinkOutcome, Reported
from downlink.domain.traces.point import Point

HopOutcomes = dict[Point, FlowOutcome]
"""Outcomes of relays, by their points."""
R = TypeVar("R", bound=Reported)


class Outcome(TypeDecorator[R], Generic[R]):
    """One outcome as the JSON that its agent reported."""

    impl = JSONB(none_as_null=True)
    cache_ok = True

    def __init__(self, of: type[R]) -> None:
        super().__init__()
        self.of = of

    def read(self, stored: Any) -> R:
        return self.of.read(stored)

    def process_bind_param(self, value: R | None, dialect: Dialect) -> dict[str, Any] | None:  # noqa: ARG002
        return None if value is None else value.to_json()

    def process_result_value(self, value: Any, dialect: Dialect) -> R | None:  # noqa: ARG002
        return None if value is None else self.read(value)

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        return self.impl_instance.coerce_compared_value(op, value)


class OutcomesByPoint(TypeDecorator[HopOutcomes]):
    """Outcomes of relays as one JSON object."""

    impl = JSONB(none_as_null=True)
    cache_ok = True

    def read(self, stored: Any) -> HopOutcomes:
        return {Point(point): FlowOutcome.read(outcome) for point, outcome in stored.items()}

    def process_bind_param(self, value: HopOutcomes | None, dialect: Dialect) -> dict[str, Any] | None:  # noqa: ARG002
        return None if value is None else {point: outcome.to_json() for point, outcome in value.items()}

    def process_result_value(self, value: Any, dialect: Dialect) -> HopOutcomes | None:  # noqa: ARG002
        return None if value is None else self.read(value)


OUTCOMES = (Outcome, OutcomesByPoint)
COLUMN_TYPES = {
    FlowOutcome: Outcome(FlowOutcome),
    LinkOutcome: Outcome(LinkOutcome),
    HopOutcomes: OutcomesByPoint(),
}
"""Column types by the annotation of a column."""

_SENT, _RECEIVED = "(sender_outcome ->> 'app_bytes')::bigint", "(receiver_outcome ->> 'app_bytes')::bigint"
CARRIED_BYTES = (
    f"coalesce(CASE WHEN greatest({_SENT}, {_RECEIVED}) > most_bytes "
    f"THEN least({_SENT}, {_RECEIVED}, CASE WHEN num_nulls({_SENT}, {_RECEIVED}) > 0 THEN most_bytes END) "
    f"ELSE greatest({_SENT}, {_RECEIVED}) END, 0)"
)
"""Bytes that both ends report are believed; those that one end alone reports, up to most_bytes."""

# Of a column with outcomes. NULL where there is no outcome, or where it does not have the field.


def samples(outcome: Any) -> ColumnElement[int]:
    """The number that is announced: an agent may report more than an `integer` of the database holds."""
    return cast(_text(outcome, "samples"), BigInteger)


def actual_cc(outcome: Any) -> ColumnElement[str]:
    """The congestion control that ran; empty where the flow did not begin."""
    return _text(outcome, "actual_cc")


def sampling(outcome: Any) -> ColumnElement[str | None]:
    return _text(outcome, "sampling")


def started_us(outcome: Any) -> ColumnElement[str | None]:
    """Moment at which the connection was there, as text."""
    return _text(outcome, "started_us")


def reporter(link_outcome: Any) -> ColumnElement[str]:
    """The agent beside the emulated link."""
    return _text(link_outcome, "agent")


def profile(link_outcome: Any) -> ColumnElement[str]:
    """The emulated link's profile."""
    return _text(link_outcome, "profile")


def _text(outcome: Any, key: str) -> ColumnElement[Any]:
    value: ColumnElement[Any] = outcome[key].astext
    return value
