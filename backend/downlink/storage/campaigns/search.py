"""Campaigns found by what people know of them, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression, Text, and_, cast, func, or_, select, text, true
from sqlalchemy.dialects.postgresql import JSONPATH

from downlink.storage.campaigns.campaign_store import Overview, overviews
from downlink.storage.tables import Campaign
from downlink.storage.unit import Unit

SORTS: Mapping[str, Any] = {
    "created_at": Campaign.created_at,
    "launched_at": Campaign.launched_at,
    "ended_at": Campaign.ended_at,
    "name": func.lower(Campaign.name),
    "state": Campaign.state,
}
"""Columns that campaigns can be sorted by; a minus before one reverses the order."""


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
    """Return the matching campaigns and their number; ties go to the newer one."""
    where = and_(*_conditions(wanted))
    total = unit.session.scalar(select(func.count()).select_from(Campaign).where(where)) or 0
    key = SORTS[wanted.sort.removeprefix("-")]
    order = key.desc().nulls_last() if wanted.sort.startswith("-") else key.asc().nulls_last()
    query = select(Campaign).where(where).order_by(order, Campaign.created_at.desc(), Campaign.id)
    return overviews(unit, unit.session.scalars(query.limit(limit).offset(offset)).all()), total


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [true()]
    if wanted.state:
        conditions.append(Campaign.state == wanted.state)
    if wanted.link:
        conditions.append(Campaign.spec["links"].contains([wanted.link]))
    conditions += [_any_says(func.to_jsonb(Campaign.tags), f"^{_pattern(tag)}$") for tag in wanted.tags]
    return conditions + [_says(word) for word in wanted.text.split()]


def _says(word: str) -> ColumnElement[bool]:
    names = func.jsonb_path_query_array(Campaign.spec, cast("$.conditions[*].name", JSONPATH))
    pattern = _pattern(word)
    lists = (_any_says(texts, pattern) for texts in (func.to_jsonb(Campaign.tags), Campaign.spec["links"], names))
    return or_(*(_fits(column, pattern) for column in (Campaign.name, Campaign.notes)), *lists)


def _any_says(texts: ColumnElement[Any], pattern: str) -> ColumnElement[bool]:
    """Match each text of a JSON array by itself, so that quotes and commas between them do not match."""
    each = func.jsonb_array_elements_text(texts).column_valued("each")
    return select(each).where(_fits(cast(each, Text), pattern)).exists()


def _fits(words: SQLColumnExpression[Any], pattern: str) -> ColumnElement[bool]:
    return words.regexp_match(pattern, flags="i")


def _pattern(words: str) -> str:
    """A regular expression that finds these words in upper and lower case.

    PostgreSQL knows the cases of ASCII letters everywhere, those of others only in some locales: they are spelt out.
    """
    return "".join(map(_either, words))


def _either(sign: str) -> str:
    if sign.isascii():
        return sign if sign.isalnum() else f"\\{sign}"
    return f"[{''.join(sorted({form for form in (sign, sign.lower(), sign.upper()) if len(form) == 1}))}]"


_CHOICES = text("""
    SELECT 'states', state, count(*) FROM campaigns GROUP BY state
    UNION ALL SELECT 'tags', tag, count(DISTINCT id) FROM campaigns, unnest(tags) AS tag GROUP BY tag
    UNION ALL SELECT 'links', link, count(DISTINCT id) FROM campaigns, jsonb_array_elements_text(spec -> 'links') AS link
    GROUP BY link
    ORDER BY 1, 2
""")


def choices(unit: Unit) -> Choices:
    """Return the values for filters of campaigns. Tags that differ only in case are one; a campaign has only one of them."""
    options, written = Choices(), dict[str, str]()
    for kind, value, count in unit.session.execute(_CHOICES):
        name = written.setdefault(value.casefold(), value) if kind == "tags" else value
        counts = getattr(options, kind)
        counts[name] = counts.get(name, 0) + count
    return options
