"""The page of the API names every path that people and scripts may call, each once."""

from __future__ import annotations

import re
from pathlib import Path

from downlink.api.app import openapi_document

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text()

ENDINGS_ALONE = {"/campaigns/{}/{}.csv", "/runs/{}/traces/{}/{}.csv"}
"""The page has the tables' names, and `.csv` beside the other format."""


def bare(path: str) -> str:
    """Without the names of its parts."""
    return re.sub(r"\{\w+\}", "{}", path)


def test_every_path_is_on_the_page() -> None:
    paths = openapi_document()["paths"]
    served = {bare(path.removeprefix("/api/v1")) for path in paths if not path.startswith("/api/v1/agent/")}
    # Paths that share all but their end are written once: `GET /a/b` · `/c` or `c.csv`.
    named = {bare(path) for path in re.findall(r"`[A-Z]+ (/[^` ?]*)", PAGE)}
    ends = {bare(end).rsplit("/", 1)[-1] for end in re.findall(r"`([^` ]+)`", PAGE)}
    missing = {path for path in served - named if path.rsplit("/", 1)[-1] not in ends}
    assert len(served) > 100
    assert missing - ENDINGS_ALONE == set()


def test_no_row_is_there_twice() -> None:
    calls = re.findall(r"^\| (`[A-Z]+ /[^|]*`)", PAGE, re.M)
    assert sorted(calls) == sorted(set(calls))
