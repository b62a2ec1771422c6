"""`make mutants N=100 SEED=1`: would the tests notice a wrong token? One change at a time, drawn by a seed.

A sampled change goes into a copy of the backend, where the tests of domain, codec and analysis run: first those that import what was
changed. It is killed when a test fails or hangs. Changes that no test can notice are listed with their reason in
`equivalent_mutants.txt`.
Runs in an environment of its own (it imports Cosmic Ray); the tests run in the project's.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

BACKEND = Path(__file__).resolve().parents[1]
ROOMS = ("analysis", "domain", "codec")
SEEN_BY = {"analysis": ("analysis",), "codec": ("codec", "analysis"), "domain": ("domain", "codec", "analysis")}
"""Rooms whose tests can notice a change of a room: the domain imports nothing, analysis and codec import it, and
nobody imports analysis."""
LEAN = ("--noconftest", "-p", "pytest_asyncio.plugin", "-p", "pytest_timeout", "-p", "tests.fixtures.properties")
"""Options for rooms that need no servers: what the suite's conftest.py and the other plugins import takes longer
than most tests."""
QUICK = ("-m", "not verify")
"""The quick proof, which conftest.py would select: what has a mark of the long one measures, or takes long."""
PASSED, NOTHING_RAN = 0, 5
"""Statuses of pytest."""
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
TEST_LIMIT_S = 300
LEAST_KILLED = 0.85


@dataclass(frozen=True)
class Mutant:
    """One changed token: before and after are the changed lines."""

    module: str
    line: int
    before: str
    after: str
    code: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}\n    - {self.before}\n    + {self.after}"

    @property
    def key(self) -> str:
        """Return the change's name in the list of equivalent changes: its text, so that other lines may move."""
        return f"{self.module} | {self.before} | {self.after}"


def sites(module: Path) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Find the positions in a module that can be changed, with the operators for each."""
    sites_of: dict[tuple[int, int], list[tuple[str, int]]] = {}
    nodes = list(ast_nodes(get_ast_from_path(module)))
    for name in sorted(operator_names()):
        operator = get_operator(name)
        if operator.arguments():
            continue
        places = (position for node in nodes for position in operator().mutation_positions(node))
        for occurrence, (start, _) in enumerate(places):
            sites_of.setdefault(start, []).append((name, occurrence))
    return sites_of


def draw(modules: Sequence[Path], dice: random.Random) -> Iterator[Mutant]:
    """Mutants without end: a place, each as likely as any other, then one of its changes."""
    everywhere = [(module, changes) for module in modules for _, changes in sorted(sites(module).items())]
    dice.shuffle(everywhere)
    for module, changes in everywhere:
        if mutant := mutate(module, *dice.choice(changes)):
            yield mutant


def mutate(module: Path, operator: str, occurrence: int) -> Mutant | None:
    """The changed module, or None where only an annotation or nothing would change."""
    code = module.read_text()
    changed = mutate_code(code, get_operator(operator)(), occurrence)
    if changed is None or meaning(changed) == meaning(code):
        return None
    lines = [line for line in difflib.ndiff(code.splitlines(), changed.splitlines()) if line[0] in "-+"]
    before = next((line[2:].strip() for line in lines if line[0] == "-"), "")
    after = next((line[2:].strip() for line in lines if line[0] == "+"), "")
    same = zip(code.splitlines(), changed.splitlines(), strict=False)
    number = next((i for i, (old, new) in enumerate(same, 1) if old != new), 1)
    return Mutant(str(module.relative_to(BACKEND)), number, before, after, changed)


class _NoAnnotations(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        node.annotation = ast.Constant(value=None)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return node


def meaning(code: str) -> str:
    """Return the code that runs: annotations are left out, because nothing in these rooms reads them."""
    try:
        return ast.dump(_NoAnnotations().visit(ast.parse(code)))
    except SyntaxError:
        return "no program"


def is_killed(mutant: Mutant, bench: Path, python: Path) -> bool:
    """Return whether the tests notice the change, in the copy `bench`."""
    file = bench / mutant.module
    original = file.read_text()
    file.write_text(mutant.code)
    try:
        return any(not passes(files, bench, python) for files in in_order(mutant.module, bench))
    finally:
        file.write_text(original)


def in_order(module: str, bench: Path) -> list[list[str]]:
    """The test files that can see the module: those that import it notice soonest, then those of its room, then the others."""
    first, name = module.split("/")[1], module.removesuffix(".py").replace("/", ".")
    lines: dict[tuple[bool, bool], list[str]] = {}
    for room in SEEN_BY[first]:
        for file in sorted((bench / "tests" / room).rglob("test_*.py")):
            key = name not in file.read_text(), room != first
            lines.setdefault(key, []).append(str(file.relative_to(bench.parent)))
    return [lines[key] for key in sorted(lines)]


def passes(files: Sequence[str], bench: Path, python: Path) -> bool:
    command = [str(python), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *LEAN, *QUICK, *files]
    environment = {**os.environ, "PYTHONPATH": str(bench), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PROOF_ALL": "1"}
    try:
        done = subprocess.run(
            command, cwd=bench.parent, env=environment, capture_output=True, timeout=TEST_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (PASSED, NOTHING_RAN)


def copy_of_the_backend(folder: Path) -> Path:
    """A checkout to spoil: the tests look for docs and migrations beside the backend."""
    root = BACKEND.parent
    shutil.copytree(BACKEND, folder / "backend", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("docs", "migrations", "agents", "frontend"):
        (folder / name).symlink_to(root / name)
    return folder / "backend"


def judge(mutants: Sequence[Mutant], python: Path, jobs: int) -> list[bool]:
    """Return for each mutant whether it is killed, in order; one copy of the backend per job."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        benches: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            benches.put(copy_of_the_backend(Path(folder) / str(job)))
        refuse_failing_tests(Path(folder) / "0" / "backend", python)

        def one(numbered: tuple[int, Mutant]) -> bool:
            number, mutant = numbered
            bench = benches.get()
            try:
                killed = is_killed(mutant, bench, python)
            finally:
                benches.put(bench)
            print(f"{number:4} {'killed  ' if killed else 'SURVIVED'} {mutant}", flush=True)
            return killed

        killed = list(pool.map(one, enumerate(mutants, 1)))
        refuse_failing_tests(Path(folder) / "0" / "backend", python)
        return killed


def refuse_failing_tests(bench: Path, python: Path) -> None:
    """Tests that fail on unchanged code, before or after, would call every change noticed."""
    failing = [room for room in ROOMS if not passes([f"backend/tests/{room}"], bench, python)]
    if failing:
        sys.exit(f"The tests of {', '.join(failing)} fail without any change: correct them first.")


def known_equivalent() -> set[str]:
    lines = EQUIVALENT.read_text().splitlines()
    return {line for line in lines if line and not line.startswith(("#", " "))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--python", type=Path, required=True, help="the interpreter that runs the tests")
    parser.add_argument("--only", default="", help="modules whose path holds this text")
    options = parser.parse_args()
    modules = sorted(m for room in ROOMS for m in (BACKEND / "downlink" / room).rglob("*.py") if options.only in str(m))
    equivalent = known_equivalent()
    drawn = (mutant for mutant in draw(modules, random.Random(options.seed)) if mutant.key not in equivalent)
    mutants = [mutant for mutant, _ in zip(drawn, range(options.number), strict=False)]
    killed = judge(mutants, options.python.absolute(), options.jobs)
    print(f"{sum(killed)} of {len(killed)} changes noticed ({sum(killed) / len(killed):.0%}), seed {options.seed};")
    print(
        f"{len(equivalent)} that no test can notice are listed in {EQUIVALENT.name}. At least {LEAST_KILLED:.0%} is asked."
    )
    return 0 if sum(killed) >= LEAST_KILLED * len(killed) else 1


if __name__ == "__main__":
    sys.exit(main())
