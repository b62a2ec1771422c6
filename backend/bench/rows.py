"""A row of the table of `make bench`, and how a benchmark prints its rows: lines of JSON that `bench.all` reads."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

SizeT = TypeVar("SizeT")
COMPARE: Mapping[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge}
TINY = "BENCH_TINY"
"""The variable that is 1 where benchmarks run once over little, to see that they run: their values say nothing."""
SAYS_NOTHING = "tiny form, says nothing of speed"


@dataclass(frozen=True)
class Row:
    """One measurement. peer: the same by other means, in the same run and unit.

    goal (`<= 100`) and band (the least and the most) are of the ratio to the peer where there is one, else of the value. A goal is
    what the project promises; a band is where a value has been so far: outside of it, something has changed.
    """

    name: str
    value: float
    unit: str
    peer: float | None = None
    goal: str | None = None
    remark: str = ""
    band: Sequence[float] | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.peer if self.peer else None

    @property
    def judged(self) -> float:
        """The number that goal and band are of."""
        return self.value if self.ratio is None else self.ratio

    @property
    def is_met(self) -> bool | None:
        """None where there is no goal."""
        if self.goal is None:
            return None
        sign, limit = self.goal.split()
        return COMPARE[sign](self.judged, float(limit))

    @property
    def is_in_band(self) -> bool | None:
        """None where there is no band."""
        if self.band is None:
            return None
        least, most = self.band
        return least <= self.judged <= most

    @property
    def is_missed(self) -> bool:
        return self.is_met is False or self.is_in_band is False

    def kept(self) -> dict[str, Any]:
        """Return the row's part of BENCH_JSON."""
        names = ("name", "value", "unit", "peer", "ratio", "goal", "is_met", "band", "is_in_band")
        return {name: getattr(self, name) for name in names}

    def line(self, width: int) -> str:
        """Return the row's line of the table; width: of the longest name, in characters."""
        ratio = "" if self.ratio is None else f"{self.ratio:.3g} x"
        band = None if self.band is None else "{:.4g} to {:.4g}".format(*self.band)
        wanted = ", ".join(each for each in (self.goal, band) if each)
        met = ("MISSED" if self.is_missed else "met") if wanted else ""
        told = f"{self.name:<{width}}  {self.value:>12,.4g} {self.unit:<16} {ratio:>9}  {wanted:<12} {met:<6} {self.remark}"
        return told.rstrip()

    def printed(self) -> str:
        """Return the row as a benchmark prints it."""
        return json.dumps({name: value for name, value in asdict(self).items() if value not in (None, "")})


def show(rows: Callable[[SizeT], Iterable[Row]], full: SizeT, tiny: SizeT) -> None:
    """Print the rows as they come, in the form that the environment asks for."""
    is_tiny = os.environ.get(TINY) == "1"
    for row in rows(tiny if is_tiny else full):
        shown = replace(row, remark="; ".join(filter(None, (SAYS_NOTHING, row.remark)))) if is_tiny else row
        print(shown.printed(), flush=True)
