"""What schedules of faults have met, as a table at the end (tests/actions/test_chaos.py)."""

from __future__ import annotations

from collections import Counter
from typing import Any

MOST_LISTED = 20


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """For each kind of fault: in how many schedules, and how many of these survived. How the runs ended."""
    met: Counter[str] = Counter()
    survived: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    failed: list[int] = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            said = dict(report.user_properties) if report.when == "call" else {}
            if "kinds" not in said:
                continue
            met.update(set(said["kinds"]))
            survived.update(set(said["kinds"]) if outcome == "passed" else ())
            ends.update(said.get("ends", ()))
            failed += [said["seed"]] if outcome == "failed" else []
    if sum(ends.values()) > MOST_LISTED:
        _write(terminalreporter, met, survived, ends)
    if failed:
        terminalreporter.write_line(
            f"failed seeds: {failed[:MOST_LISTED]}; one alone: CHAOS_SEED={failed[0]} CHAOS_N=1"
        )


def _write(reporter: Any, met: Counter[str], survived: Counter[str], ends: Counter[str]) -> None:
    reporter.write_line(f"{'fault':22}{'schedules':>10}{'survived':>10}")
    for kind in sorted(met):
        reporter.write_line(f"{kind:22}{met[kind]:10}{survived[kind]:10}")
    reporter.write_line(f"{'runs ended as':42}{'':10}")
    for end, count in ends.most_common():
        reporter.write_line(f"{end:32}{count:10}")
