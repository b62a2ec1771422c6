"""The table of rooms in docs/architecture.md is what the program does: no room takes a library that another one is kept for."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "backend" / "downlink"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
ROW = re.compile(r"^\| (?P<names>`[^|]+`) \| [^|]+ \| (?P<libraries>[^|]+) \|$", re.MULTILINE)
# They come with the ones that the table names.
PARTS = {"starlette": "fastapi", "sse_starlette": "fastapi", "uvicorn": "fastapi", "pydantic_settings": "pydantic",
         "kombu": "celery", "psycopg": "sqlalchemy", "alembic": "sqlalchemy"}  # fmt: skip


@cache
def table() -> dict[str, str]:
    """Room or file to what it may import, as the page says it."""
    backend = PAGE.partition("### `backend/downlink`")[2].partition("### ")[0]
    rows = [(row["names"], row["libraries"]) for row in ROW.finditer(backend)]
    return {name.strip("/"): libraries for names, libraries in rows for name in re.findall(r"`([^`]+)`", names)}


@cache
def kept() -> set[str]:
    """Every library that some room is kept for."""
    words = {word for libraries in table().values() for word in re.findall(r"[a-z0-9_]+", libraries)}
    return words & {name for path in PACKAGE.rglob("*.py") for name in imported(path)}


@cache
def imported(path: Path) -> frozenset[str]:
    """The top names of everything that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(PARTS.get(name, name) for name in found)


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def test_the_table_has_a_row_for_every_room() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert rooms - set(table()) == set()
    assert {
        "numpy",
        "sqlalchemy",
        "celery",
        "fastapi",
        "httpx",
        "obstore",
        "pydantic",
        "rich",
        "smtplib",
        "vl_convert",
    } <= kept()


def strangers(path: Path) -> set[str]:
    """What a file imports although its room may not."""
    may = table().get(room(path), "")
    found = (imported(path) & kept()) - set(re.findall(r"[a-z0-9_]+", may))
    if (only := re.search(r"(\w+), in `(\w+\.py)` alone", may)) and path.name != only[2]:
        found |= imported(path) & {only[1]}
    return found | (imported(path) - {"downlink"} - sys.stdlib_module_names if room(path) == "domain" else set())


def test_every_file_imports_what_its_room_may() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 100
    assert {str(path): found for path in files if (found := strangers(path))} == {}


def test_the_table_has_the_layers_of_the_contracts_from_the_top_down() -> None:
    contracts = tomllib.loads((ROOT / "backend" / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    floor = {name.split(".")[1]: at for at, layer in enumerate(layers) for name in layer.split(" | ")}
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert set(floor) == modules - {"__init__"}
    floors = [floor[name.removesuffix(".py")] for name in table()]
    assert (len(floors), floors) == (len(floor), sorted(floors))


def test_the_page_names_every_package_of_the_agents_and_every_feature_of_the_dashboard() -> None:
    agents, dashboard = (PAGE.partition(f"### `{name}`")[2].partition("### ")[0] for name in ("agents", "frontend"))
    packages = {file.parent.name for file in (ROOT / "agents" / "internal").rglob("*.go")}
    features = {path.name for path in (ROOT / "frontend/src/features").iterdir() if path.is_dir()}
    for text, names in ((agents, packages), (dashboard, features)):
        assert len(names) > 9
        assert {name for name in names if f"`{name}`" not in text and f"/{name}`" not in text} == set()


SUBJECTS = {"campaigns", "runs", "traces", "results", "links", "fleet", "people", "notices"}


@pytest.mark.parametrize("room", ["api", "actions", "views", "storage", "domain"])
def test_the_large_rooms_have_the_same_second_level(room: str) -> None:
    folders = {path.parent.name for path in (PACKAGE / room).glob("*/__init__.py")}
    assert folders - SUBJECTS == {"api": {"http", "schemas"}, "storage": {"tables"}}.get(room, set())


def test_a_stored_campaign_is_read_by_one_function() -> None:
    """Elsewhere `.spec` is handed on whole: its keys are the domain's. The search alone looks into it, since it is done in SQL."""
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Subscript | ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "spec"
    }
    assert readers == {"storage/campaigns/search.py"}
    assert "from_dict(row.spec)" in (PACKAGE / "storage/campaigns/campaign_store.py").read_text()
