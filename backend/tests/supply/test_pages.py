"""Links of README and docs lead to pages and sections that exist, and the index of decisions names each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PATHS_BEGIN = ("", "backend", "backend/downlink", "backend/tests", "agents/internal", "frontend/src")
DECISIONS = ROOT / "docs" / "decisions"
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]


def links_of(page: Path) -> Iterator[str]:
    """The targets of links to files, outside of code."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not re.match(r"[a-z]+:", target):
            yield target


@cache
def anchors(page: Path) -> set[str]:
    """The sections of a page, named as GitHub names them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_and_sections_that_exist(name: str) -> None:
    page = ROOT / name
    for target in links_of(page):
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or linked.suffix != ".md" or anchor in anchors(linked), target


def test_the_index_names_each_decision_once_and_where_it_is() -> None:
    rows = re.findall(
        r"^\| (\d{4}) \| .+? \| (\[.+?\]\((\S+?)\)|the code) \|$", (DECISIONS / "README.md").read_text(), re.MULTILINE
    )
    numbers = [number for number, *_ in rows]
    assert len(numbers) > 100
    assert len(set(numbers)) == len(numbers)
    records = {path.name for path in DECISIONS.glob("[0-9]*.md")}
    assert {target for *_, target in rows if "/" not in target and target} == records


def test_what_to_touch_for_a_change_exists() -> None:
    page = (ROOT / "docs" / "contributing.md").read_text()
    table = page.partition("## To change X, touch Y")[2]
    rows = re.findall(r"^\| (?!X )\S.*\|$", table, re.MULTILINE)
    assert len(rows) >= 14
    for row in rows:
        for word in re.findall(r"`([\w./-]+)`", row.partition("|")[2].partition("|")[2]):
            if "/" in word or "." in word:
                assert _is_there(word), f"{word}: {row}"


def _is_there(path: str) -> bool:
    """Whether a path leads to something from one of the folders that contributing.md names, or a bare file name to one file or more."""
    if any((ROOT / base / path).exists() for base in PATHS_BEGIN):
        return True
    return "/" not in path and any(next((ROOT / base).rglob(path), None) for base in PATHS_BEGIN[2:])
