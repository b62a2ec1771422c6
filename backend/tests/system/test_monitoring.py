"""The alert rules, by Prometheus's own tool."""

from __future__ import annotations

import subprocess

import pytest

from tests.system.conftest import ROOT

pytestmark = pytest.mark.verify("packages")

FOLDER = ROOT / "docs" / "monitoring"


@pytest.mark.parametrize("what", [("check", "config", "prometheus.yaml"), ("test", "rules", "alerts.test.yaml")])
def test_the_alert_rules_are_sound_and_fire_when_they_should(what: tuple[str, ...]) -> None:
    done = subprocess.run(["promtool", *what], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
