"""Lists that two places must hold alike: a program in two languages, a document, a help text."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest
import typer
from pydantic import SecretStr

from downlink.analysis.exits.sweep import SWEEPABLE
from downlink.cli import campaign_results, exits, imports, notify
from downlink.cli.campaign_results import FigureKind
from downlink.domain.notices.notification import FAILURES_IN_ROW, GONE_AFTER_MIN, ChannelKind
from downlink.importers.foreign import KNOWN
from downlink.importers.model import SourceKind
from downlink.process.settings import Settings
from downlink.views.results.tables import RUN_TABLE

ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "frontend" / "src"
FORMATS = {
    SourceKind.IPERF3: "iperf3", SourceKind.NDT7: "ndt7", SourceKind.TCP_INFO: "tcp-info", SourceKind.FLENT: "flent",
    SourceKind.ACK_CSV: "per-ACK CSV", SourceKind.DOWNLINK_CSV: "CSV",
}  # fmt: skip
"""What people call a format."""
OF_THE_LAUNCHER = {"8400"}


def document(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def help_of(command: object, parameter: str) -> str:
    """The help of a command's argument or option."""
    annotation = inspect.signature(command, eval_str=True).parameters[parameter].annotation  # type: ignore[arg-type]
    return next(each.help for each in get_args(annotation) if isinstance(each, typer.models.ParameterInfo)) or ""


def test_the_command_draws_the_kinds_of_figures_that_the_dashboards_script_draws() -> None:
    (kinds,) = re.findall(r"interface FigureRequest \{\n  kind: (.+)\n", (PAGES / "app" / "figures.ts").read_text())
    assert re.findall(r"'(\w+)'", kinds) == list(FigureKind)
    own_words = set(re.findall(r"(\w+): ", help_of(campaign_results.figure, "kind")))
    assert own_words >= set(FigureKind) - {FigureKind.STACK, FigureKind.OBJECTS}


def test_the_command_names_what_can_be_swept() -> None:
    detectors, versions = (help_of(campaign_results.sweep, name) for name in ("detector", "version"))
    for detector, version in SWEEPABLE:
        assert re.search(rf"\b{detector}\b", detectors)
        assert version in versions


def test_every_list_of_the_formats_that_are_read_is_whole() -> None:
    *first, last = SourceKind
    assert set(FORMATS) == set(SourceKind)
    described = re.findall(r"@description (iperf3, .+)", (PAGES / "api" / "schema.d.ts").read_text())
    assert len(described) > 1
    assert set(described) == {f"{', '.join(first)} or {last}"}
    texts = {
        "docs/imports.md": re.sub(r"\n[^|].*", "", document("imports.md").partition("| kind |")[2]),
        "DropZone.tsx": (PAGES / "features" / "imports" / "DropZone.tsx").read_text(),
        "a refusal": KNOWN,
        "import": help_of(imports.import_command, "files"),
        "exits": help_of(exits.exits_command, "file"),
    }
    for place, text in texts.items():
        assert [word for word in FORMATS.values() if word.lower() not in text.lower()] == [], place


def test_a_channel_is_added_with_the_same_kinds_and_defaults_everywhere() -> None:
    assert [kind for kind in get_args(ChannelKind) if kind not in help_of(notify.add, "kind")] == []
    form = (PAGES / "features" / "notifications" / "NewChannel.tsx").read_text()
    assert re.findall(r"(failures_in_row|gone_after_min): (\d+),", form) == [
        ("failures_in_row", str(FAILURES_IN_ROW)),
        ("gone_after_min", str(GONE_AFTER_MIN)),
    ]


def test_the_data_format_lists_the_columns_of_runs_csv() -> None:
    (line,) = re.findall(r"^- \*\*`runs\.csv`\*\*(.+)$", document("data-format.md"), re.MULTILINE)
    assert re.findall(r"`(\w+)`", line) == list(RUN_TABLE)


def rows_of_settings() -> dict[str, str]:
    """By variable: the second cell of its row."""
    rows = re.findall(r"^\| (`DOWNLINK_.+) \| (.+) \|$", document("operations.md"), re.MULTILINE)
    return {name: meaning for names, meaning in rows for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize("name", Settings.model_fields)
def test_the_table_of_settings_has_each_variable_with_its_default(name: str) -> None:
    default = Settings.model_fields[name].default
    plain = default.get_secret_value() if isinstance(default, SecretStr) else default
    tokens = re.findall(r"`([^`]+)`", rows_of_settings()[f"DOWNLINK_{name.upper()}"])
    assert plain in (None, "") or str(plain) in tokens


def test_the_table_of_settings_names_no_number_that_is_no_default() -> None:
    rows = rows_of_settings()
    defaults = {str(field.default) for field in Settings.model_fields.values()}
    assert set(rows) == {f"DOWNLINK_{name.upper()}" for name in Settings.model_fields}
    assert {token for row in rows.values() for token in re.findall(r"`(\d+)`", row)} - defaults == OF_THE_LAUNCHER
