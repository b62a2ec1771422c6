"""Samples of a sealed trace between two times, thinned for a plot: of a long trace the parts of that stretch alone are read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast
from uuid import UUID

from downlink.analysis.thinning import SampledColumn, Thinning
from downlink.codec.parquet import Columns, Ints, ParquetTrace, trace_columns
from downlink.domain.doc import Doc
from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import Point
from downlink.domain.traces.sample import TIME_FIELD, fields_of
from downlink.storage.traces import trace_store
from downlink.storage.unit import Unit
from downlink.views.traces.traces import no_trace, refuse_backward, refuse_removed

ShownKind = Literal["counter", "gauge"]
MOST_COLUMNS = 16
"""Columns of one answer at most."""


@dataclass(frozen=True)
class SampledField:
    name: str
    unit: str
    kind: ShownKind
    description: str


@dataclass(frozen=True)
class Samples:
    run_id: UUID
    flow: int
    point: str
    samples: Annotated[int, Doc("Of the whole trace")]
    missing_chunks: Annotated[int, Doc("Chunks of the trace that never came; time goes on without their samples")]
    first_us: Annotated[int, Doc("The trace's first sample, from the run's zero")]
    last_us: int
    from_us: Annotated[int, Doc("What is shown, within the trace")]
    to_us: int
    in_span: Annotated[int, Doc("Samples between from_us and to_us")]
    is_thinned: Annotated[
        bool,
        Doc(
            "True: of each of equal steps of time a column has its least and its greatest sample. False: it has every sample"
        ),
    ]
    fields: Annotated[list[SampledField], Doc("Every column that the trace has, time left out")]
    columns: Annotated[dict[str, SampledColumn], Doc("Those that were asked for and that the trace has")]


@dataclass(frozen=True)
class Wanted:
    """The request for samples of a trace. to_us: None for its end. points: of a column, at most."""

    columns: Sequence[str]
    from_us: int
    to_us: int | None
    points: int


def samples(unit: Unit, run_id: UUID, flow: int, point: Point, wanted: Wanted) -> Samples:
    """NotFoundError `trace_not_found` until it is sealed; InvalidError `columns_unknown` for what no trace of this point holds,
    `span_invalid` for an end before the beginning."""
    known = {field.name: field for field in fields_of(point) if field.name != TIME_FIELD}
    _refuse_unknown(wanted.columns, known, point)
    refuse_backward(wanted.from_us, wanted.to_us)
    trace = trace_store.find_trace(unit, run_id, flow, point)
    if trace is None or trace.chunks == 0:
        raise no_trace(run_id, flow, point)
    refuse_removed(unit, run_id)
    parts = Parts(unit, run_id, flow, point)
    names = ParquetTrace([parts[0]]).names
    first_us, last_us = parts.first_us(0), parts.last_us(len(parts) - 1)
    from_us = max(wanted.from_us, first_us)
    to_us = last_us if wanted.to_us is None else min(wanted.to_us, last_us)
    unset = frozenset(name for name, field in known.items() if field.least == -1)
    columns = tuple(dict.fromkeys(name for name in wanted.columns if name in names))
    thinning = Thinning(columns, unset, from_us, to_us, wanted.points - wanted.points % 2)
    thinning.take(parts.within(from_us, to_us, (TIME_FIELD, *columns)))
    return Samples(
        run_id,
        flow,
        point,
        trace.samples,
        len(trace.missing),
        first_us,
        last_us,
        from_us,
        to_us,
        thinning.count,
        thinning.is_thinned,
        [
            SampledField(name, field.unit, cast(ShownKind, field.kind.value), field.description)
            for name, field in known.items()
            if name in names
        ],
        thinning.courses(),
    )


def _refuse_unknown(asked: Sequence[str], known: Collection[str], point: str) -> None:
    if unknown := [name for name in asked if name not in known]:
        message = f"No trace at the {point} has {', '.join(unknown[:5])}; docs/fields.csv lists the fields."
        raise InvalidError("columns_unknown", message)


class Parts:
    """A sealed trace's Parquet, part by part; those that were looked at are kept for as long as this is."""

    def __init__(self, unit: Unit, run_id: UUID, flow: int, point: str) -> None:
        self._unit = unit
        self._place = (run_id, flow, point)
        self._sequences = trace_store.part_sequences(unit, *self._place)
        self._held: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._sequences)

    def __getitem__(self, at: int) -> bytes:
        if at not in self._held:
            (self._held[at],) = self._read([at])
        return self._held[at]

    def first_us(self, at: int) -> int:
        return int(self._times(at)[0])

    def last_us(self, at: int) -> int:
        return int(self._times(at)[-1])

    def within(self, from_us: int, to_us: int, names: Sequence[str]) -> Iterator[Columns]:
        """Yield these columns of the parts that have samples between two times."""
        places = range(len(self))
        first = bisect_left(places, from_us, key=self.last_us)
        stop = bisect_right(places, to_us, lo=first, key=self.first_us)
        yield from (trace_columns([part], names) for part in self._each(range(first, stop)))

    def _times(self, at: int) -> Ints:
        return trace_columns([self[at]], [TIME_FIELD])[TIME_FIELD]

    def _each(self, places: range) -> Iterator[bytes]:
        """Yield the parts in their order; those that are not held are read a few at a time and not kept."""
        for at in range(places.start, places.stop, trace_store.FETCHED):
            some = range(at, min(at + trace_store.FETCHED, places.stop))
            read = iter(self._read([each for each in some if each not in self._held]))
            yield from (self._held.get(each) or next(read) for each in some)

    def _read(self, places: Sequence[int]) -> Sequence[bytes]:
        """Refused when one is gone: a trace that is deleted meanwhile must not look whole."""
        wanted = [self._sequences[at] for at in places]
        contents = list(self._unit.store.contents(trace_store.part_places(self._unit, *self._place, wanted)))
        if len(contents) < len(wanted):
            raise no_trace(*self._place)
        return contents
