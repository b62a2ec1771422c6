"""The pages of a paper, made of a campaign file and of the tables that a server exports."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from downlink.actions.campaigns.archive_read import load_archive
from downlink.cli.published_table import number
from downlink.codec.campaign_file import parse_campaign
from study.__main__ import app
from study.pages.paper_picture import LABEL, LINE, PLOT, TOP, picture, span_of
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
ROW = {"name": "x", "unit": "s", "least": 8.0, "most": 8.0, "estimate": 6.0, "low": 5.0, "high": 10.0}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    for name in ("studies", "archives", "into"):
        (tmp_path / name).mkdir()
    shutil.copy(EXAMPLES / "demo-hystart.yaml", tmp_path / "studies" / "000-demo.yaml")
    return tmp_path / "studies", tmp_path / "archives", tmp_path / "into"


def write(folders: tuple[Path, Path, Path]) -> str:
    options = zip(("--studies", "--archives", "--into"), map(str, folders), strict=True)
    answer = CliRunner().invoke(app, ["reproduction", *(word for pair in options for word in pair)])
    assert answer.exit_code == 0, answer.output
    return answer.output


def keep_tables(lab: Lab, archives: Path) -> UUID:
    with lab.units() as unit:
        campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
    with zipfile.ZipFile(archives / "000-demo-tables.zip", "w") as tables:
        tables.writestr("reproduction.csv", lab.call("GET", f"/campaigns/{campaign}/reproduction.csv"))
    record = {"n": 3, "full_n": 10, "is_short": True, "commit": "0123456789abcdef", "ended_at": "2026-11-21T23:31:00Z"}
    (archives / "000-demo.json").write_text(json.dumps(record))
    return campaign


def test_a_study_that_has_not_been_run_names_its_command_and_no_number(folders: tuple[Path, Path, Path]) -> None:
    assert "000-demo.yaml has not been run yet: make study-000" in write(folders)
    page = (folders[2] / "peters-2021.md").read_text()
    assert "**Not run yet**: `make study-000`" in page
    assert "| 1 MB, HyStart on | 9 s ± 1.8 (Text beside Figure 6) | - | not run yet |  |" in page
    assert "| [Peters 2021](peters-2021.md) | 7 | 7 | 0 | 0 | 0 | 0 |" in (folders[2] / "README.md").read_text()
    assert (
        "| 000-demo.yaml | - | - | - | - | not run yet | - | `make study-000` |"
        in (folders[2] / "README.md").read_text()
    )


def test_a_page_has_published_and_own_values_with_interval_and_n_and_how_they_were_made(
    lab: Lab, folders: tuple[Path, Path, Path]
) -> None:
    campaign = keep_tables(lab, folders[1])
    write(folders)
    page = (folders[2] / "peters-2021.md").read_text()
    runs = "[runs](README.md#how-the-numbers-were-made)"
    assert f"Campaign `000-demo.yaml` ({runs}); repeat with `make study-000`." in page
    index = (folders[2] / "README.md").read_text()
    assert "| 000-demo.yaml | 3 of 10 | - | none | - | 2026-11-21 | commit 0123456789ab | `make study-000` |" in index
    (value,) = (
        value
        for figure in lab.call("GET", f"/campaigns/{campaign}/reproduction")["figures"]
        for value in figure["values"]
        if value["name"] == "5 MB, HyStart off"
    )
    ours = f"{number(value['estimate'])} ({number(value['low'])}–{number(value['high'])}), n = 3"
    assert f"| 5 MB, HyStart off | 8 s ± 0.8 (Text beside Figure 6; the conclusions have 7) | {ours} |" in page
    for image in folders[2].glob("figures/*.svg"):
        ElementTree.parse(image)  # noqa: S314 - our own
        assert f"(figures/{image.name})" in page


def test_runs_that_are_missing_and_files_that_differed_are_told(folders: tuple[Path, Path, Path]) -> None:
    lab_record = {"n": 3, "full_n": 3, "runs_planned": 30, "runs": {"complete": 29, "failed": 5}, "commit": "0" * 40}
    record = folders[1] / "000-demo.json"
    for said, told in (({"is_changed": True}, "29 of 30 | none | - | - | commit 000000000000 with changes"),
                       ({"runs": {"complete": 30}}, "30 | none | - | - | commit 000000000000")):  # fmt: skip
        record.write_text(json.dumps({**lab_record, **said}))
        write(folders)
        assert f"| 000-demo.yaml | 3 of 3 | {told} | `make study-000` |" in (folders[2] / "README.md").read_text()


def test_a_cause_is_shown_where_ours_is_off_as_the_file_has_it_now(lab: Lab, folders: tuple[Path, Path, Path]) -> None:
    keep_tables(lab, folders[1])
    file = folders[0] / "000-demo.yaml"
    cause = "The return channel has no frames (causes.md; docs/controls/dl_hybla.md)"
    file.write_text(file.read_text().replace("published: 6, ", f"published: 6, why: {cause}, "))
    write(folders)
    linked = (
        "The return channel has no frames ([causes.md](causes.md); [controls/dl_hybla.md](../controls/dl_hybla.md))"
    )
    assert f"| outside | {linked} |" in (folders[2] / "peters-2021.md").read_text()


def test_the_committed_pages_are_what_the_archives_and_campaign_files_say(tmp_path: Path) -> None:
    docs = EXAMPLES.parent
    options = ("--studies", docs / "examples/studies", "--archives", docs / "reproduction/archives", "--into", tmp_path)
    assert CliRunner().invoke(app, ["reproduction", *map(str, options)]).exit_code == 0
    for made in tmp_path.rglob("*.*"):
        assert made.read_text() == (docs / "reproduction" / made.relative_to(tmp_path)).read_text(), made.name


def test_every_value_that_is_missed_has_a_cause_and_the_pages_that_it_names_are_there() -> None:
    folder = EXAMPLES.parent / "reproduction"
    pages = [page.read_text() for page in folder.glob("*.md")]
    assert any("| outside | " in page for page in pages)
    assert not any("| outside |  |" in page for page in pages)
    for name in {name for page in pages for name in re.findall(r"\]\(([^)#:]+\.md)\)", page)}:
        assert (folder / name).is_file(), name


def test_every_archive_is_on_a_page_with_its_date_and_commit() -> None:
    """A study whose result nobody can read is one that was not made."""
    folder = EXAMPLES.parent / "reproduction"
    index = (folder / "README.md").read_text()
    pages = "".join(
        page.read_text()
        for page in (
            *folder.glob("*.md"), EXAMPLES.parent / "controls/bbr-beside-cubic.md", EXAMPLES.parent / "intcp/study.md",
        )
    )  # fmt: skip
    for record in folder.glob("archives/*.json"):
        said = json.loads(record.read_text())
        assert f"| {record.stem}.yaml | {said['n']} of {said['full_n']} |" in index
        assert f"| {said['ended_at'][:10]} | commit {said['commit'][:12]}" in index
        assert f"`{record.stem}.yaml`" in pages or f"| {record.stem} |" in pages, record.stem


def test_a_folder_that_names_nothing_and_a_broken_archive_are_said(folders: tuple[Path, Path, Path]) -> None:
    (folders[1] / "000-demo-tables.zip").write_bytes(b"no zip")
    options = ["--studies", str(folders[0]), "--archives", str(folders[1]), "--into", str(folders[2])]
    broken = CliRunner().invoke(app, ["reproduction", *options])
    empty = CliRunner().invoke(app, ["reproduction", "--studies", str(folders[2]), "--into", str(folders[2])])
    assert (broken.exit_code, empty.exit_code) == (1, 1)
    assert "cannot be read" in str(broken.exception)
    assert "names a published figure" in str(empty.exception)


def test_marks_lie_where_their_values_do() -> None:
    least, most = span_of(ROW)
    root = ElementTree.fromstring(picture([ROW], "T"))  # noqa: S314
    (dot,) = root.iter("{http://www.w3.org/2000/svg}circle")
    assert float(dot.attrib["cx"]) == pytest.approx(LABEL + PLOT * (6 - least) / (most - least), abs=0.1)
    assert TOP < float(dot.attrib["cy"]) < TOP + LINE
    marks = [
        each.attrib["d"] for each in root.iter("{http://www.w3.org/2000/svg}path") if "stroke-dasharray" in each.attrib
    ]
    assert marks == [f"M{round(LABEL + PLOT * (8 - least) / (most - least), 1)} {TOP}v{LINE - 10}"]
    assert "not run yet" in picture([{**ROW, "estimate": None, "low": None, "high": None}], "T")


def test_an_axis_begins_at_zero_unless_something_lies_below() -> None:
    assert span_of(ROW)[0] == 0
    assert span_of({**ROW, "low": -3.0})[0] < -3
    assert span_of(ROW)[1] > 10


def test_every_study_of_a_paper_names_what_it_reproduces_and_is_a_campaign() -> None:
    files = sorted((EXAMPLES / "studies").glob("*.yaml"))
    found = {file.stem: parse_campaign(file.read_text()).reproduces for file in files}
    assert {stem for stem, figures in found.items() if figures} >= {
        "000-b-gigabyte",
        "001-pairs",
        "002-geo",
        "002-leo",
        "003-best",
    }
    table_one = {value.name: (value.least, value.tolerance) for figure in found["002-geo"] for value in figure.values}
    assert table_one["GEO, success"] == (64.4, 10)
    assert [table_one[f"GEO, {name}"][0] for name in ("cg", "ex", "dp", "hr")] == [11.0, 12.4, 18.1, 5.7]
