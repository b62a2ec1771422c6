"""The parts of both proofs as data: what each runs, what it needs installed, and who reads its result."""

from __future__ import annotations

from dataclasses import dataclass

from tools.steps import Step

LONG = ("kernel", "faults", "stack", "packages", "long")
PYTEST = ".venv/bin/python -m pytest -q -p no:cacheprovider"


@dataclass(frozen=True)
class Part:
    """Tests that run together. command: of bash; it writes what `reader` reads to the file {out}. usual_s draws the bar."""

    name: str
    reader: str
    command: str
    after: tuple[str, ...]
    usual_s: float


INSTALLS = {
    "python": Step("python", "make .cache/stamps/python", usual_s=60),
    "modules": Step("modules", "make frontend/node_modules/.package-lock.json", usual_s=30),
    "gcc": Step("gcc", "make test-packages", usual_s=40),
    "dashboard": Step("dashboard", "make frontend/dist/index.html", after=("modules",), usual_s=30),
    "agent": Step("agent", "make agent", usual_s=60),
    "everything": Step("everything", "make verify-tools", usual_s=300),
}
INSTALLED_FIRST = {"test": ("python", "modules", "gcc", "dashboard", "agent"), "long": ("everything",)}


def _go(target: str) -> str:
    return f"make -s -C agents {target} GO_TEST_FLAGS=-json >{{out}}"


def _pytest(options: str) -> str:
    return f"{PYTEST} {options} --junitxml={{out}}"


QUICK = (
    Part(
        "backend",
        "pytest",
        _pytest("-n 2 --dist worksteal backend/tests --ignore backend/tests/system"),
        ("python", "agent"),
        300,
    ),
    Part("agents", "go", _go("test"), ("gcc",), 200),
    Part("frontend", "vitest", "cd frontend && npx vitest run --reporter=json --outputFile={out}", ("modules",), 90),
    Part("stack", "pytest", _pytest("backend/tests/system"), ("python", "gcc", "dashboard", "agent", "backend"), 60),
)
"""The parts of the quick proof. The stack waits for the backend's tests: it moves packets in real time."""


def long_parts(name: str) -> tuple[Part, ...]:
    """The parts of one part of the long proof, or of its sample: one after the other, they measure real time."""
    after = INSTALLED_FIRST["long"]
    own = [Part(f"{name}-backend", "pytest", _pytest(f"--verify {name} backend/tests"), after, 600)]
    if name in ("kernel", "faults", "sample"):
        own.insert(0, Part(f"{name}-agents", "go", _go(f"verify-{name}"), after, 600))
    return tuple(own)
