"""Results of test runners, read as tests: pytest's JUnit file, `go test -json`, vitest's JSON. Standard library alone.

All seconds are wall time as the runner measured it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

Verdict = Literal["passed", "failed", "left"]


@dataclass(frozen=True)
class Test:
    """One test. left: not run, with the reason in `why`; why of a failed test is its output."""

    name: str
    seconds: float
    verdict: Verdict
    why: str = ""


def read_pytest(file: Path) -> Iterator[Test]:
    """Yield the tests of a JUnit file. Several entries of one test (a failing tear-down) stay several."""
    for case in ElementTree.parse(file).iter("testcase"):  # noqa: S314 - our own runner wrote it
        name = f"{case.get('classname', '').removeprefix('tests.').replace('.', '/')}::{case.get('name')}"
        seconds = float(case.get("time") or 0)
        bad = next((each for each in case if each.tag in ("failure", "error")), None)
        skipped = case.find("skipped")
        if bad is not None:
            yield Test(name, seconds, "failed", bad.text or bad.get("message") or "")
        elif skipped is not None:
            yield Test(name, seconds, "left", skipped.get("message") or "")
        else:
            yield Test(name, seconds, "passed")


def read_go(file: Path) -> Iterator[Test]:
    """Yield the top-level tests of `go test -json`, and a failed one for each package that did not build or crashed."""
    output: dict[tuple[str, str], list[str]] = defaultdict(list)
    failed: set[str] = set()
    for event in _events(file):
        package = str(event.get("Package") or event.get("ImportPath") or "").rpartition("/")[2]
        test = str(event.get("Test") or "").partition("/")[0]
        key = (package, test)
        match event.get("Action"):
            case "output" | "build-output":
                output[key].append(event["Output"])
            case ("pass" | "fail" | "skip") as action if test and "/" not in event["Test"]:
                failed |= {package} if action == "fail" else set()
                yield _go_test(key, action, event, output)
            case "fail" if not test and package not in failed:
                yield Test(f"{package} (package)", 0, "failed", "".join(output[key]))


def _events(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(errors="replace").splitlines():
        if line.startswith("{"):
            yield json.loads(line)
        else:  # what go itself prints, of a module that cannot be loaded for one
            yield {"Action": "output", "Package": "go", "Output": f"{line}\n"}


def _go_test(
    key: tuple[str, str], action: str, event: dict[str, Any], output: dict[tuple[str, str], list[str]]
) -> Test:
    verdict: dict[str, Verdict] = {"pass": "passed", "fail": "failed", "skip": "left"}
    why = "" if action == "pass" else "".join(output[key])
    return Test("/".join(key), float(event.get("Elapsed") or 0), verdict[action], why)


def read_vitest(file: Path) -> Iterator[Test]:
    """Yield the tests of vitest's JSON, and a failed one for each file that could not be loaded."""
    for suite in json.loads(file.read_text())["testResults"]:
        name = suite["name"].rpartition("/src/")[2]
        if suite["status"] == "failed" and not suite["assertionResults"]:
            yield Test(name, 0, "failed", suite.get("message", ""))
        for each in suite["assertionResults"]:
            verdict: Verdict = each["status"] if each["status"] in ("passed", "failed") else "left"
            why = "\n".join(each.get("failureMessages") or ())
            yield Test(f"{name} {each['fullName']}", (each.get("duration") or 0) / 1000, verdict, why)


READERS: dict[str, Callable[[Path], Iterator[Test]]] = {
    "pytest": read_pytest,
    "go": read_go,
    "vitest": read_vitest,
}


def slowest(tests: list[Test], most: int = 10) -> list[Test]:
    return sorted(tests, key=lambda test: -test.seconds)[:most]
