"""What is installed is what was locked: every package with its hashes, the build's own too, and no address of a download."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BACKEND = ROOT / "backend"
LOCKS = (
    "requirements.lock",
    "requirements-server.lock",
    "requirements-audit.lock",
    "requirements-uv.lock",
    "requirements-mutants.lock",
    "requirements-kubernetes.lock",
)
PROJECT = tomllib.loads((BACKEND / "pyproject.toml").read_text())["project"]


def locked(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", (BACKEND / name).read_text(), re.MULTILINE))


def asked(requirements: list[str]) -> set[str]:
    """Names alone, as locks write them."""
    return {re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-") for requirement in requirements}


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_hash_and_no_lock_an_address(name: str) -> None:
    text = (BACKEND / name).read_text()
    blocks = re.split(r"^(?=[a-z0-9._-]+==)", text, flags=re.MULTILINE)[1:]
    assert blocks
    assert [block.split("==")[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text)


def test_the_server_takes_what_it_needs_in_the_versions_that_are_tested() -> None:
    server, everything = locked("requirements-server.lock"), locked("requirements.lock")
    assert server.items() <= everything.items()
    assert asked(PROJECT["dependencies"]) <= set(server)


def test_the_server_takes_no_tool_of_development_and_no_private_server() -> None:
    extras = PROJECT["optional-dependencies"]
    assert asked(extras["dev"] + extras["embedded"]) & set(locked("requirements-server.lock")) == set()


def test_what_builds_the_package_is_locked_and_nothing_else_is_fetched_for_it() -> None:
    build = tomllib.loads((BACKEND / "pyproject.toml").read_text())["build-system"]["requires"]
    for lock in ("requirements.lock", "requirements-server.lock"):
        assert asked(build) <= set(locked(lock))
    for file in (ROOT / "Makefile", BACKEND / "Dockerfile"):
        for line in re.findall(r"(?:pip|\"\$\$@\") install .*", file.read_text()):
            assert "--require-hashes" in line or "--no-build-isolation" in line or "uv" in line, line
