"""The built dashboard in Debian's browser, on a server with a past: what it asks for, what it takes, what it does when files are lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.process.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres
from downlink.storage.migrate import upgrade
from downlink.storage.notices.events import add_event
from downlink.storage.unit import UnitFactory, open_units
from tests.fixtures.api_process import ApiProcess, running_api
from tests.fixtures.browser import ACCOUNT, DASHBOARD, FRONTEND, add_account, run_script
from tests.fixtures.numbered_log import number_log
from tests.fixtures.printed import FORMATS, page_mm, read_printed
from tests.system.watching import family, processor_s

pytestmark = [pytest.mark.verify("stack"), pytest.mark.timeout(180)]
NAME = "Demo: HyStart on and off"
RECORDED = FRONTEND.parent / "docs" / "examples" / "recorded-hystart.zip"
# A study of which a run failed, after retention has removed its raw samples.
WITH_FAILURES = FRONTEND.parent / "backend" / "tests" / "data" / "recorded-pairs.zip"
PAPER_MM = {"A4": (210, 297), "Letter": (216, 279)}
# `make idle` looks for five minutes.
IDLE_S = float(os.environ.get("DOWNLINK_IDLE_S", "30"))
IDLE_SHARE = 0.01
EVENTS = 10_000
KB = 1_000
PAST = """
    INSERT INTO events (at, kind, data) SELECT now(), 'agent', '{}' FROM generate_series(1, :count)
"""


@dataclass(frozen=True)
class Site:
    api: ApiProcess
    served: Path
    campaign: str
    database_pid: int
    units: UnitFactory

    def run(self, script: str, *options: str) -> list[str]:
        return run_script(script, "--base-url", self.api.address, *ACCOUNT, *options).splitlines()

    def watching(self, script: str, *options: str) -> subprocess.Popen[str]:
        """The script under way, with its standard input and output."""
        command = ["node", f"e2e/{script}", "--base-url", self.api.address, *ACCOUNT, *options]
        return subprocess.Popen(command, cwd=FRONTEND, stdin=PIPE, stdout=PIPE, text=True, bufsize=1)

    def share_of_a_core(self, meanwhile: Callable[[], None]) -> float:
        """What the api and the database use, their helpers included, until this returns."""
        before, began = self._worked_s(), time.monotonic()
        meanwhile()
        return (self._worked_s() - before) / (time.monotonic() - began)

    def _worked_s(self) -> float:
        return sum(map(processor_s, family(self.api.pid) | family(self.database_pid)))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("site")
    shutil.copytree(DASHBOARD, home / "served")
    with Supervisor(home / "servers") as supervisor:
        url = start_postgres(supervisor, home / "postgres")
        upgrade(Settings(database_url=SecretStr(url)))
        units = open_units(url, 2)
        number_log(units, 1)
        with units() as unit:
            unit.session.execute(text(PAST), {"count": EVENTS - 150})
        for _ in range(300):  # on both sides of event 10,000
            with units() as unit:
                add_event(unit, datetime.now(UTC), "agent", {})
        with units() as unit:
            add_account(unit)
            campaign, _ = load_archive(unit, RECORDED.read_bytes())
        with running_api(home, units, dashboard_dir=home / "served") as api:
            yield Site(api, home / "served", str(campaign), supervisor.pid("postgres"), units)
        units.close()


@pytest.mark.verify("long", measures=True)
@pytest.mark.timeout(2 * IDLE_S + 180)
def test_an_idle_tab_costs_nothing(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """One request a minute at most, and less than a hundredth of a core beyond what api and database use with no tab open."""
    alone = site.share_of_a_core(lambda: time.sleep(IDLE_S / 3))
    place = ("--path", f"/campaigns/{site.campaign}", "--seconds", f"{IDLE_S:g}")
    asked: list[str] = []
    with site.watching("idle.mjs", *place) as page:
        output = page.stdout
        assert output
        assert output.readline() == "idle\n"
        share = site.share_of_a_core(lambda: asked.extend(output.readlines()))
    with capsys.disabled():
        print(
            f"\nan idle tab: {len(asked)} requests in {IDLE_S:g} s; api and database use {100 * share:.2f} % of a core, "
            f"without it {100 * alone:.2f} %"
        )
    assert len(asked) <= max(1, IDLE_S // 60), asked
    assert share - alone < IDLE_SHARE


def test_pages_are_compressed_on_the_wire(site: Site) -> None:
    """Uncompressed they take 0.7 and 1.2 MB."""
    campaign = f"/campaigns/{site.campaign}"
    taken = {
        path: int(count) for count, path in (line.split() for line in site.run("wire.mjs", "/campaigns", campaign))
    }
    assert taken["/campaigns"] < 330 * KB
    assert taken[campaign] < 560 * KB


def test_samples_are_zoomed_to_single_ones_and_back_undoes_it(site: Site) -> None:
    """By mouse and keyboard; the numbers behind the chart are those of the trace."""
    runs = site.api.client.get(f"/api/v1/campaigns/{site.campaign}/runs").json()["items"]
    whole, single, again = site.run("samples.mjs", "--run", runs[0]["id"])
    assert whole == again
    assert re.fullmatch(r"[\d,]+ of 7,001 samples, min-max", whole)
    assert re.fullmatch(r"every sample: \d+", single)


def test_charts_are_taken_away_as_files_that_hold_what_they_show(site: Site) -> None:
    """SVG, PNG and CSV, opened; 35 seconds of two conditions."""
    assert site.run("taking.mjs", "--campaign", site.campaign) == ["Throughput: 70", "Congestion window: 70"]


def test_results_are_read_on_a_phone(site: Site) -> None:
    """What matters is in sight at 390 px, and is what the API says."""
    said = site.run("narrow.mjs", "--campaign", NAME)
    assert [line.partition(":")[0] for line in said] == ["HyStart on", "HyStart off", "difference", "summary.csv"]


def test_a_run_is_found_and_its_figure_saved_by_keyboard_alone(site: Site) -> None:
    reached = site.run("keyboard.mjs", "--campaign", NAME)
    assert len(reached) == 6
    assert all(int(line.split()[0]) < 30 for line in reached), reached


def test_a_part_whose_script_does_not_come_is_tried_again_and_then_says_so_in_its_place(site: Site) -> None:
    runs = site.api.client.get(f"/api/v1/campaigns/{site.campaign}/runs").json()["items"]
    assert site.run("lost-part.mjs", "--run", runs[0]["id"]) == [
        "there at the second try",
        "1 heading above what is missing",
        "there when it is tried again",
    ]


def test_a_printed_report_has_all_that_the_page_says_and_nothing_that_only_a_screen_needs(
    site: Site, tmp_path: Path
) -> None:
    with site.units() as unit:
        campaign, _ = load_archive(unit, WITH_FAILURES.read_bytes())
    (said,) = site.run("printing.mjs", "--campaign", str(campaign), "--into", str(tmp_path))
    for paper in FORMATS:
        printed = read_printed(said, tmp_path, paper)
        assert page_mm(tmp_path, paper) == PAPER_MM[paper]
        assert len(printed.said["conditions"]) == 2
        assert len(printed.said["figures"]) >= 8
        assert all(figure["caption"].startswith("Figure ") for figure in printed.said["figures"])
        assert [row[1] for row in printed.said["keys"]] == ["5"] * 4, "n of each flow"
        assert [row[-1].split(":")[0] for row in printed.said["failures"]] == ["clock_unsure"]
        assert "Print or save as PDF" in printed.said["screenOnly"]
        assert (printed.missing(), printed.strays(), printed.torn()) == ([], [], []), paper


@pytest.fixture
def restored(site: Site) -> Iterator[None]:
    yield
    shutil.rmtree(site.served)
    shutil.copytree(DASHBOARD, site.served)


def rebuilt(folder: Path) -> Path:
    """The dashboard as a later version has it: all its files have other names."""
    shutil.copytree(DASHBOARD, folder)
    files = [*folder.glob("assets/*.js"), *folder.glob("assets/*.css")]
    names = re.compile("|".join(re.escape(file.name) for file in files))
    for file in [folder / "index.html", *files]:
        file.write_text(names.sub(lambda found: f"later-{found[0]}", file.read_text()))
    for file in files:
        file.rename(file.with_name(f"later-{file.name}"))
    return folder


@pytest.mark.usefixtures("restored")
def test_an_open_page_of_an_older_version_loads_itself_anew_once(site: Site, tmp_path: Path) -> None:
    after = rebuilt(tmp_path / "later")
    assert site.run("lost-files.mjs", "--served", str(site.served), "--after", str(after)) == ["loaded", "agents"]


@pytest.mark.usefixtures("restored")
def test_a_page_whose_files_stay_away_says_so_in_words(site: Site, tmp_path: Path) -> None:
    after = tmp_path / "broken"
    shutil.copytree(DASHBOARD, after)
    for file in after.glob("assets/AgentsPage-*"):
        file.unlink()
    assert site.run("lost-files.mjs", "--served", str(site.served), "--after", str(after)) == [
        "loaded",
        "files_missing",
    ]


@contextmanager
def open_page(site: Site) -> Iterator[Callable[[str], str]]:
    """A campaign's page in the browser; what is called says a step of away.mjs and answers what the page then shows."""
    with site.watching("away.mjs", "--campaign", site.campaign) as page:
        assert page.stdin
        assert page.stdout
        stdin, stdout = page.stdin, page.stdout

        def step(name: str) -> str:
            stdin.write(f"{name}\n")
            return stdout.readline().strip()

        assert stdout.readline().strip() == "ready"
        yield step
        stdin.close()


def test_a_page_says_that_a_frozen_server_does_not_answer(site: Site) -> None:
    with open_page(site) as step:
        site.api.freeze()
        try:
            assert step("frozen") == "said"
        finally:
            site.api.thaw()
        assert step("thawed") == "gone"


def test_a_page_whose_server_is_gone_says_so_once_and_waits_for_it(site: Site) -> None:
    """A page whose file cannot be fetched keeps its frame, and is there when the server is back."""
    with open_page(site) as step:
        site.api.stop()
        try:
            assert step("away") == "1 files_missing"
        finally:
            site.api.start()
        assert step("back") == "agents"
