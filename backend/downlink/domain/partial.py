"""Parts of a file that cannot be used: left out, counted and named, never passed over in silence and never a reason to refuse the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from downlink.domain.errors import InvalidError

MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part that is left out. what: its own name, such as a satellite's; place: where it stands in the file."""

    what: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what} ({self.place}): {self.reason}" if self.what else f"{self.place}: {self.reason}"


def told(left_out: Sequence[LeftOut]) -> list[str]:
    """The first ten by name, and how many more there are."""
    named = [str(each) for each in left_out[:MOST_NAMED]]
    more = len(left_out) - len(named)
    return [*named, f"and {more:,} more"] if more else named


def check_whole(left_out: Sequence[LeftOut], total: int, parts: str) -> None:
    """Raises InvalidError `partial` where something is left out, for those who want a whole file or none."""
    if left_out:
        reasons = "; ".join(told(left_out))
        sentence = (
            f"{len(left_out):,} of {total:,} {parts} cannot be used, and --strict takes all or nothing: {reasons}."
        )
        raise InvalidError("partial", f"{sentence} Correct the file, or do without --strict.")
