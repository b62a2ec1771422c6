"""The dashboard in Debian's browser against the real stack: a researcher's first visit, then every page under axe."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from downlink.stack.launcher import command
from tests.fixtures.browser import ACCOUNT, run_script
from tests.fixtures.foreign_files import iperf3_file
from tests.system.conftest import System
from tests.system.test_join import take_joined, type_on_new_host

CAMPAIGN = """
name: In the browser
links: [terrestrial]
stop: {seconds: 4}
phases: {startup_s: 1, steady_s: 1}
timetable: {cycles: 2}
conditions:
  - {name: Small buffer, receiver: {net.ipv4.tcp_rmem: 4096 131072 400000}}
  - {name: Large buffer, receiver: {net.ipv4.tcp_rmem: 4096 131072 6000000}}
"""


@pytest.fixture(scope="module")
def downloaded(system: System, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The CSV that the visitor took away."""
    folder = tmp_path_factory.mktemp("visit")
    (folder / "campaign.yaml").write_text(CAMPAIGN)
    (folder / "field.json").write_bytes(iperf3_file(8))
    link = command(system.stack.env, "setup-link")
    names = {"campaign": "campaign.yaml", "download": "summary.csv", "other": "field.json"}
    files = [part for name, file in names.items() for part in (f"--{name}", str(folder / file))]
    run_script("journey.mjs", "--setup-link", link, *ACCOUNT, *files, timeout_s=300)
    return folder / "summary.csv"


@pytest.mark.timeout(360)
def test_a_first_visit_ends_with_the_numbers_on_disk(downloaded: Path) -> None:
    with downloaded.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["condition"] for row in rows} == {"Small buffer", "Large buffer"}
    assert {row["n"] for row in rows if row["metric"] == "throughput_bps" and row["phase"] == "overall"} == {"2"}


@pytest.mark.timeout(120)
def test_the_line_of_the_page_lets_a_host_join(system: System, downloaded: Path) -> None:
    account = ("--base-url", system.stack.address, *ACCOUNT)
    type_on_new_host(run_script("enrol.mjs", *account, "--name", "by-page", timeout_s=100))
    assert take_joined(system, "by-page")["host"]["kernel"]


@pytest.mark.timeout(600)
def test_every_page_is_accessible_and_fits_its_window(system: System, downloaded: Path) -> None:
    said = run_script("run.mjs", "--base-url", system.stack.address, *ACCOUNT, timeout_s=580)
    assert said.count("ok ") >= 40
    assert "FAULT" not in said
