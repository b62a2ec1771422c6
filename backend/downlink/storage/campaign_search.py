"""Campaigns found by what people know of them, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, any_, cast, func, or_, select, text, true
from sqlalchemy.dialects.postgresql import JSONPATH

from downlink.storage.campaigns import Overview, overviews
from downlink.storage.tables import Campaign
from downlink.storage.unit import Unit

SORTS: Mapping[str, Any] = {
    "created_at": Campaign.created_at,
    "launched_at": Campaign.launched_at,
    "ended_at": Campaign.ended_at,
    "name": func.lower(Campaign.name),
    "state": Campaign.state,
}
"""What campaigns can be sorted by; a minus before it turns the order round."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """All that is given must hold. text: each of its words is in the name, the notes, a tag, a link or a condition's name."""

    text: str = ""
    state: str | None = None
    link: str | None = None
    tags: Sequence[str] = ()
    sort: str = "-created_at"


@dataclass(frozen=True)
class Choices:
    """Each value that some campaign has, with the number of campaigns that have it."""

    states: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)


def search_campaigns(unit: Unit, wanted: Wanted, limit: int, offset: int) -> tuple[list[Overview], int]:
    """Those that fit, and how many there are of them; ties go to the newer one."""
    where = and_(*_conditions(wanted))
    total = unit.session.scalar(select(func.count()).select_from(Campaign).where(where)) or 0
    key = SORTS[wanted.sort.removeprefix("-")]
    order = key.desc().nulls_last() if wanted.sort.startswith("-") else key.asc().nulls_last()
    query = select(Campaign).where(where).order_by(order, Campaign.created_at.desc(), Campaign.id)
    return overviews(unit, unit.session.scalars(query.limit(limit).offset(offset)).all()), total


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = [true()]
    if wanted.state:
        found.append(Campaign.state == wanted.state)
    if wanted.link:
        found.append(Campaign.spec["links"].contains([wanted.link]))
    folded = func.lower(func.array_to_string(Campaign.tags, ","))
    found += [func.lower(tag) == any_(func.string_to_array(folded, ",")) for tag in wanted.tags]
    return found + [_says(word) for word in wanted.text.split()]


def _says(word: str) -> ColumnElement[bool]:
    names = func.jsonb_path_query_array(Campaign.spec, cast("$.conditions[*].name", JSONPATH))
    places = (Campaign.name, Campaign.notes, func.array_to_string(Campaign.tags, " "))
    lists = (_any_says(Campaign.spec["links"], word), _any_says(names, word))
    return or_(*(place.icontains(word, autoescape=True) for place in places), *lists)


def _any_says(texts: ColumnElement[Any], word: str) -> ColumnElement[bool]:
    """Of a JSON array of texts: each by itself, so that no quote or comma between them is found."""
    each = func.jsonb_array_elements_text(texts).column_valued("each")
    return select(each).where(cast(each, Text).icontains(word, autoescape=True)).exists()


_CHOICES = text("""
    SELECT 'states', state, count(*) FROM campaigns GROUP BY state
    UNION ALL SELECT 'tags', min(tag), count(DISTINCT id) FROM campaigns, unnest(tags) AS tag GROUP BY lower(tag)
    UNION ALL SELECT 'links', link, count(DISTINCT id) FROM campaigns, jsonb_array_elements_text(spec -> 'links') AS link
    GROUP BY link
    ORDER BY 1, 2
""")


def choices(unit: Unit) -> Choices:
    """What campaigns can be filtered by."""
    found = Choices()
    for kind, value, count in unit.session.execute(_CHOICES):
        getattr(found, kind)[value] = count
    return found
