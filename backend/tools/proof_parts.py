"""The parts of both proofs as data: what each runs, what it needs installed, and who reads its result."""

from __future__ import annotations

from dataclasses import dataclass

from tools.steps import Step

LONG = ("kernel", "faults", "stack", "packages", "long")
NOTHING_TO_RUN = 5
"""pytest's status where no test of its folders belongs to the part."""
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
    "agent": Step("agent", "make agents/bin/downlink-agent", usual_s=80),
    "everything": Step("everything", "make verify-tools", usual_s=300),
}


def _go(target: str) -> str:
    return f"make -s -C agents {target} GO_TEST_FLAGS=-json >{{out}}"


def _pytest(options: str) -> str:
    return f"{PYTEST} {options} --junitxml={{out}} || [ $? -eq {NOTHING_TO_RUN} ]"


LISTS = (
    f"{PYTEST} --collect-only --verify sample backend/tests | grep ::",
    "make -s -C agents verify-sample LIST=1",
)
"""Commands that print the sample of the long proof."""

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
    after = ("everything",)
    rooms, system = "backend/tests --ignore backend/tests/system", "backend/tests/system"
    own = [
        Part(f"{name}-backend", "pytest", _pytest(f"-n 2 --dist loadfile --verify {name} {rooms}"), after, 600),
        Part(f"{name}-stack", "pytest", _pytest(f"--verify {name} {system}"), after, 600),
    ]
    if name == "packages":
        debian = _pytest("backend/tests/storage backend/tests/jobs")
        own.append(Part("packages-servers", "pytest", f"TEST_SERVERS=debian {debian}", after, 60))
    if name in ("kernel", "faults", "sample"):
        own.insert(0, Part(f"{name}-agents", "go", _go(f"verify-{name}"), after, 600))
    return tuple(own)
