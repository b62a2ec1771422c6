"""The version stands in several files, since each tool reads its own: all name the changelog's newest one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NEWEST = re.search(r"^## (\d+\.\d+\.\d+)$", (ROOT / "docs/changelog.md").read_text(), re.MULTILINE)
PLACES = {
    "Makefile": r"^VERSION := (\S+)$",
    "agents/Dockerfile": r"-X main\.version=(\S+?)'",
    "backend/Dockerfile": r"make build VERSION=(\S+)$",
    "backend/pyproject.toml": r'^version = "(\S+)"$',
    "docs/deploy/kubernetes/kustomization.yaml": r'newTag: "(\S+)"',
    "docs/operations.md": r"downlink-agent_(\d\S+)_amd64\.deb",
    "backend/tests/system/packaged.py": r'^VERSION, NEXT = "(\S+?)"',
}


@pytest.mark.parametrize("place", PLACES)
def test_each_place_names_the_newest_version(place: str) -> None:
    assert NEWEST
    found = re.findall(PLACES[place], (ROOT / place).read_text(), re.MULTILINE)
    assert set(found) == {NEWEST[1]}


def test_the_dashboards_package_and_its_lock_name_it_too() -> None:
    assert NEWEST
    package, lock = (
        json.loads((ROOT / "frontend" / name).read_text()) for name in ("package.json", "package-lock.json")
    )
    assert {package["version"], lock["version"], lock["packages"][""]["version"]} == {NEWEST[1]}


def test_it_left_its_dump() -> None:
    assert NEWEST
    assert (ROOT / f"backend/tests/data/server-{NEWEST[1]}.sql.gz").exists()
