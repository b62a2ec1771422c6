"""The study's program: beside the product, not in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from setuptools import find_packages
from typer.testing import CliRunner

from downlink.main import app as product
from study.__main__ import app

BACKEND = Path(__file__).resolve().parents[2]


def test_the_package_ships_the_product_alone() -> None:
    tool = tomllib.loads((BACKEND / "pyproject.toml").read_text())["tool"]
    shipped = find_packages(str(BACKEND), include=tool["setuptools"]["packages"]["find"]["include"])
    assert {name.partition(".")[0] for name in shipped} == {"downlink"}
    assert "study" not in (BACKEND / "Dockerfile").read_text()


def test_users_are_offered_none_of_its_commands() -> None:
    said, own = (CliRunner().invoke(each, ["--help"]).output for each in (product, app))
    for command in ("reproduction", "causes", "checks", "intcp", "pair-table"):
        assert command in own
        assert command not in said


def test_a_refusal_is_a_sentence_and_an_exit_status(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    status, said = run("checks", str(page), "--archives", str(tmp_path))
    assert (status, said.startswith(f"study: The archives in {tmp_path} cannot be read: ")) == (2, True)
    assert not page.exists()


def run(*words: str) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": "backend"}
    command = [sys.executable, "-m", "study", *words]
    done = subprocess.run(command, cwd=BACKEND.parent, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr
