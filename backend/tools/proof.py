"""Runs the two proofs: `make test`, the quick one, and `make verify`, the long one, whole or by parts.

    python3 backend/tools/proof.py test
    python3 backend/tools/proof.py kernel faults stack packages long
    python3 backend/tools/proof.py sample

Called by the system's Python from the top of the checkout: what a part needs is installed by steps of the same run. Prints a table
of parts with tests and seconds, the slowest tests, the failures, and one closing line. Exit: 0 when everything passed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # called as a file, its own folder alone would be searched
from tools.proof_parts import INSTALLS, LISTS, LONG, QUICK, Part, long_parts
from tools.results import READERS, Test, slowest
from tools.steps import INTERRUPTED, Outcome, Step, run

FOLDER = Path(".cache/proof")
WHY_LINES = 40
LOOP = "while True: pass"
NOT_AS_ROOT = "Not root: network namespaces, BPF programs and the small real stack were left out; only `make verify` as root proves them."
NO_RACE = "No gcc: the agents' tests ran without the race detector."


@dataclass(frozen=True)
class Result:
    """A part that has ended, and its tests. left: how many tests belong to the long proof."""

    part: Part
    outcome: Outcome
    tests: tuple[Test, ...]
    left: int

    def count(self, verdict: str) -> int:
        return sum(test.verdict == verdict for test in self.tests)

    @property
    def failed(self) -> list[Test]:
        return [test for test in self.tests if test.verdict == "failed"]

    @property
    def is_ok(self) -> bool:
        return self.outcome.is_ok and not self.failed


def parts_of(names: Sequence[str], only: str | None) -> tuple[Part, ...]:
    """Return the parts of these proofs, or the one that was asked for."""
    if list(names) != ["test"]:
        return tuple(part for name in names for part in long_parts(name))
    usual = [part for part in QUICK if part.name != "stack" or os.geteuid() == 0]
    return tuple(part for part in usual if only in (None, part.name))


def prove(names: Sequence[str], parts: Sequence[Part], most_at_once: int, seed: int) -> int:
    """Run these parts of these proofs, print how they ended; return the exit status."""
    print(f"PROOF_SEED={seed} draws what is taken of tests of one kind.", flush=True)
    if "sample" in names:
        list_sample(seed)
    outcomes = {outcome.name: outcome for outcome in run(_steps(parts, seed), most_at_once, folder=FOLDER)}
    results = [read(part, outcomes[part.name]) for part in parts]
    installs = [outcome for name, outcome in outcomes.items() if name in INSTALLS]
    print("\n".join(report(results, installs, is_quick=names == ["test"])))
    passed, failed = (sum(result.count(verdict) for result in results) for verdict in ("passed", "failed"))
    broken = sum(result.outcome.has_begun and not result.is_ok and not result.failed for result in results)
    not_run = sum(not result.outcome.has_begun for result in results)
    proof = "test" if names == ["test"] else "verify"
    left_out = f", {not_run} of {len(results)} parts not run" if not_run else ""
    print(f"\n{proof}: {passed} passed, {failed + broken} failed{left_out}")
    return int(failed + broken + not_run > 0)


def list_sample(seed: int) -> None:
    """Print the tests of the sample, once what lists them is installed: `make verify-sample SEED=…` runs the same ones."""
    run([INSTALLS["everything"]], 1, folder=FOLDER)
    for command in LISTS:
        subprocess.run(["bash", "-c", command], env={**os.environ, "PROOF_SEED": str(seed)}, check=False)
    sys.stdout.flush()


def _steps(parts: Sequence[Part], seed: int) -> list[Step]:
    """Return what the parts need, then the parts."""
    needed = [step for name, step in INSTALLS.items() if name in _needed(parts)]
    names = {part.name for part in parts} | {step.name for step in needed}
    return [*needed, *(_step(part, seed, names) for part in parts)]


def _needed(parts: Sequence[Part]) -> set[str]:
    """Return the names of the installs that parts come after, and of those that these come after."""
    needed = {name for part in parts for name in part.after if name in INSTALLS}
    return needed | {name for each in needed for name in INSTALLS[each].after}


def _step(part: Part, seed: int, names: Set[str]) -> Step:
    out = _file(part).resolve()
    out.unlink(missing_ok=True)
    _left_file(part).unlink(missing_ok=True)
    env = {"PROOF_SEED": str(seed), "PROOF_LEFT_FILE": str(_left_file(part).resolve())}
    after = tuple(name for name in part.after if name in names)
    return Step(part.name, part.command.format(out=out), after, env=env, usual_s=part.usual_s, stop_s=60)


def _file(part: Part) -> Path:
    return FOLDER / f"{part.name}.result"


def _left_file(part: Part) -> Path:
    return FOLDER / f"{part.name}.left"


def read(part: Part, outcome: Outcome) -> Result:
    """Read what a part wrote; without a result it has no tests and its outcome tells."""
    file = _file(part)
    is_written = file.exists() and file.stat().st_size > 0
    tests = tuple(READERS[part.reader](file)) if is_written else ()
    deselected = int(_left_file(part).read_text()) if _left_file(part).exists() else 0
    return Result(part, outcome, tests, deselected + sum(test.verdict == "left" for test in tests))


def report(results: Sequence[Result], installs: Sequence[Outcome], *, is_quick: bool) -> list[str]:
    """Return the lines of the table, of failures, of the slowest tests."""
    lines = ["", "installed       " + ", ".join(f"{each.name} {each.seconds:.0f} s" for each in installs)]
    lines += ["", f"{'part':<18}{'passed':>8}{'failed':>8}{'left':>8}{'seconds':>9}  result"]
    lines += [_row(result) for result in results]
    for result in results:
        lines += _slowest(result)
    for result in results:
        lines += _failures(result)
    if is_quick:
        lines += ["", f"Left for `make verify`: {sum(result.left for result in results)} tests."]
        lines += [NOT_AS_ROOT] if os.geteuid() != 0 else []
        lines += [] if has_compiler() else [NO_RACE]
    return lines


def _row(result: Result) -> str:
    verdict = "ok" if result.is_ok else "FAILED" if result.outcome.has_begun else "not run"
    counts = f"{result.count('passed'):>8}{len(result.failed):>8}{result.left:>8}"
    return f"{result.part.name:<18}{counts}{result.outcome.seconds:>9.0f}  {verdict}"


def _slowest(result: Result) -> list[str]:
    ran = [test for test in result.tests if test.verdict != "left"]
    if not ran:
        return []
    return [
        "",
        f"The slowest of {result.part.name}:",
        *(f"{test.seconds:8.1f} s  {test.name}" for test in slowest(ran)),
    ]


def _failures(result: Result) -> list[str]:
    if result.is_ok:
        return []
    if not result.outcome.has_begun:
        before = ", ".join(result.part.after)
        return ["", f"{result.part.name} did not run: it comes after {before}, and one of them failed."]
    lines = ["", f"{result.part.name} failed; the whole log: {result.outcome.log}"]
    for test in result.failed:
        lines += [f"FAILED {test.name}", *(f"    {line}" for line in test.why.splitlines()[-WHY_LINES:])]
    if not result.failed and result.outcome.log.exists():
        lines += [f"    {line}" for line in result.outcome.log.read_text(errors="replace").splitlines()[-WHY_LINES:]]
    return lines


def has_compiler() -> bool:
    return subprocess.run(["sh", "-c", "command -v gcc"], capture_output=True, check=False).returncode == 0


def seed_of_commit(environ: Mapping[str, str]) -> int:
    """Return PROOF_SEED where it is set, else a number from the commit's hash, else 1."""
    if asked := environ.get("PROOF_SEED"):
        return int(asked)
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return int(done.stdout[:8], 16) if re.fullmatch(r"[0-9a-f]{40}\s*", done.stdout) else 1


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many processors busy until the block ends."""
    running = [subprocess.Popen(["setpriv", "--pdeathsig", "KILL", sys.executable, "-c", LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=["test", *LONG, "sample"], metavar="PROOF")
    parser.add_argument("--only", choices=[part.name for part in QUICK], help="Run one part of the quick proof")
    parser.add_argument("--seed", type=int, default=seed_of_commit(os.environ), help="The commit's when not given")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="Run N busy loops beside it")
    asked = parser.parse_args(arguments)
    if "test" in asked.names and asked.names != ["test"]:
        parser.error("the quick proof runs by itself")
    most_at_once = 3 if asked.names == ["test"] else 1
    try:
        with busy(asked.busy):
            return prove(asked.names, parts_of(asked.names, asked.only), most_at_once, asked.seed)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
