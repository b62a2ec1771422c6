"""The study's `run` to its end, with an interruption in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.system.conftest import DASHBOARD, ROOT
from tests.system.test_demo import home, read_until

pytestmark = pytest.mark.verify("stack")

__all__ = ["home"]  # the fixture of the demo's tests


def study(home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "study", "run", "001", "--trial-s", "2", "--home", home, "--dashboard", DASHBOARD]
    environment = {**os.environ, "DOWNLINK_PORT": "", "PYTHONUNBUFFERED": "1", "PYTHONPATH": "backend"}
    return subprocess.Popen(
        list(map(str, command)), cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.timeout(400)
def test_a_study_that_was_interrupted_goes_on_and_keeps_what_it_found(home: Path) -> None:
    first = study(home)
    said = read_until(first, "2 of 8 runs")
    assert "to go" in said
    first.send_signal(signal.SIGINT)
    said, _ = first.communicate(timeout=90)
    assert "nothing is left running" in said

    second = study(home)
    said, _ = second.communicate(timeout=240)
    assert second.returncode == 0, said
    assert "1 of 8 runs" not in said, "what had ended was not run again"
    assert "001-pairs: 6 of 6 runs complete, n = 1 of 10" in said
    assert_kept(home / "trial")


def assert_kept(into: Path) -> None:
    assert sorted(path.name for path in into.iterdir()) == [
        f"{stem}{rest}" for stem in ("001-pairs", "001-vivace-elsewhere") for rest in ("-tables.zip", ".json", ".zip")
    ]
    record = json.loads((into / "001-pairs.json").read_text())
    assert record["runs"]["complete"] == record["runs_planned"] == 6
    assert (record["n"], record["full_n"], record["is_short"]) == (1, 10, True)
    assert record["link_logs"] == 6
    assert 0 <= record["late_share_max"] <= 0.05, "later ones are repeated"
    with zipfile.ZipFile(into / "001-pairs-tables.zip") as tables:
        assert {"runs.csv", "metrics.csv", "report.json"} <= set(tables.namelist())
        lines = tables.read("runs.csv").decode().splitlines()
    assert sum("Cubic and BBR" in line for line in lines) >= 1
