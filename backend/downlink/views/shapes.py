"""Parts that the shapes of several answers have in common. Each shape is a frozen dataclass: what the API sends and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, make_dataclass
from typing import Any, Literal, TypeVar

Column = list[float | None]
OriginName = Literal["measured", "recorded", "imported"]
PHASE = "startup, steady, overall, or one of the campaign's windows"
T = TypeVar("T")


@dataclass(frozen=True)
class Interval:
    """A mean over runs with its 95 % interval (Student's t, within the quantity's range); interval and sd are null when n = 1."""

    mean: float | None
    low: float | None
    high: float | None
    n: int
    sd: float | None


def with_listed(names: Iterable[str], kind: Any) -> Callable[[type[T]], type[T]]:
    """Give a shape a field of this kind for each of these quantities (domain/quantities.csv), after its own fields."""

    def extend(shape: type[T]) -> type[T]:
        own = {"__doc__": shape.__doc__, "__module__": shape.__module__}
        fields = [(name, kind) for name in names]
        return make_dataclass(shape.__name__, fields, bases=(shape,), namespace=own, frozen=True)

    return extend


def fill(shape: Callable[..., T], values: Mapping[str, Any], **own: Any) -> T:
    """One of a shape whose fields are listed elsewhere."""
    return shape(**own, **values)
