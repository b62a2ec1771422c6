"""The dashboard in Debian's browser against the real stack: a researcher's first visit, then every page under axe."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from downlink.stack.launcher import command
from downlink.stack.process import wait_until
from tests.fixtures.browser import ACCOUNT, run_script
from tests.fixtures.foreign_files import iperf3_file
from tests.system.conftest import SENDER, System
from tests.system.test_faults import kill
from tests.system.test_join import take_joined, type_on_new_host

pytestmark = pytest.mark.verify("stack")

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

FAILING = """
name: With a run that fails
links: [terrestrial]
stop: {seconds: 8}
phases: {startup_s: 1, steady_s: 1}
timetable: {cycles: 1}
limits: {attempts: 1}
conditions:
  - {name: Once more}
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


@pytest.mark.timeout(360)
@pytest.mark.usefixtures("downloaded")
def test_why_a_run_failed_is_found_and_it_is_run_again(system: System) -> None:
    """The sender's agent dies during the run, comes back, and the researcher needs nothing but the page."""
    campaign = system.launch(FAILING)
    system.wait_for_data(campaign)
    kill(system, SENDER.agent)
    system.rig.start_agent(SENDER)
    failed = system.wait_for_run(campaign, "failed", timeout_s=60)
    assert failed["reason"] == "agent_restarted"
    system.wait_complete(campaign)
    account = ("--base-url", system.stack.address, *ACCOUNT)
    said = run_script("rerun.mjs", *account, "--campaign", "With a run that fails", timeout_s=300).splitlines()
    assert [line.partition(":")[0] for line in said] == ["the list", "its page", "the new attempt"]
    assert all(failed["detail"] in line for line in said[:2]), said
    assert "complete" in said[2]
    states = [(run["attempt"], run["state"]) for run in system.runs_in_time(campaign)]
    assert sorted(states) == [(1, "failed"), (2, "complete")]


SCRIPTS = (
    '<img src=x onerror="alert(1)">',
    "</title><script>alert(1)</script>",
    "<svg onload=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "{{constructor.constructor('alert(1)')()}}",
)
"""What would run where a page took text for markup: OWASP's kinds."""


@pytest.mark.timeout(400)
@pytest.mark.usefixtures("downloaded")
def test_text_that_people_store_is_shown_and_never_runs(system: System) -> None:
    client = system.client
    for number, words in enumerate(SCRIPTS):
        file = io.BytesIO(iperf3_file(10 + number))
        file.name = f"{words.replace('/', '')}.json"
        made = client.upload("/imports", [(file.name, file)], {"campaign": words, "condition": words})["campaign_id"]
        assert wait_until(lambda made=made: client.get(f"/campaigns/{made}")["state"] == "complete", 120)
        client.patch(f"/campaigns/{made}", {"notes": words, "tags": [words[:30]]})
        noted = {"kind": "note", "text": words, "from_at": "2026-01-02T03:04:05Z", "campaign_id": made}
        client.post("/annotations", noted)
        client.post("/tokens", {"name": words, "scopes": ["read"]})
        client.post("/invitations", {"name": words, "role": "viewer"})
    account = ("--base-url", system.stack.address, *ACCOUNT)
    texts = [part for words in SCRIPTS for part in ("--text", words)]
    said = run_script("stored.mjs", *account, *texts, timeout_s=380).splitlines()
    assert len(said) == 4 * len(SCRIPTS) + 7


@pytest.fixture
def path_made(system: System) -> str:
    """A path over satellites that a worker has made."""
    made = str(system.client.post("/paths", {"ready": "beijing-new-york", "hours": 0.2})["id"])
    assert wait_until(lambda: system.client.get(f"/paths/{made}")["state"] == "ready", 120)
    return made


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("downloaded", "path_made")
def test_every_page_is_accessible_and_fits_its_window(system: System) -> None:
    said = run_script("run.mjs", "--base-url", system.stack.address, *ACCOUNT, timeout_s=580)
    assert said.count("ok ") >= 40
    assert "FAULT" not in said
    assert "ok    path-ready" in said
