import csv
import re
from pathlib import Path

import pytest

from downlink.domain.fleet.setting import Scope, is_host_wide, settings

DOCS = Path(__file__).resolve().parents[3] / "docs"
PROTOCOL = DOCS / "agent-protocol.md"
ROWS = {row["name"]: row for row in csv.DictReader((DOCS / "settings.csv").read_text().splitlines())}


def documented() -> dict[str, str]:
    """Setting name to scope, from the table of section 4."""
    section = PROTOCOL.read_text().split("## 4. Settings")[1].split("## 5.")[0]
    found = {}
    for line in section.splitlines():
        if not line.startswith("| `"):
            continue
        _, names, scope, _ = (part.strip() for part in line.split("|"))
        words = re.findall(r"`([^`]+)`", names)
        prefix = words.pop(0) if words[0].endswith(".") else ""
        found.update({prefix + word: scope for word in words})
    return found


def test_the_table_is_the_documented_one() -> None:
    assert set(settings()) == set(documented())


def test_scopes_are_the_documented_ones() -> None:
    for name, scope in documented().items():
        is_host = scope == "host" or name == "net.ipv4.tcp_mem"
        assert is_host_wide(name) == is_host, name
    assert settings()["route.initcwnd"].scope is Scope.ROUTE


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row["name"])
def test_bounds_are_the_documented_ones(row: dict[str, str]) -> None:
    setting = settings()[row["name"]]
    assert setting.scope == row["scope"]
    if row["form"] == "word":
        return
    text = "{0} {0} {0}" if row["form"] == "three" else "{0}"
    least, most = int(row["least"]), int(row["most"])
    assert setting.accepts(text.format(least))
    assert setting.accepts(text.format(most))
    assert not setting.accepts(text.format(least - 1))
    assert not setting.accepts(text.format(most + 1))


def test_the_file_lists_every_setting() -> None:
    assert set(ROWS) == set(settings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("net.ipv4.tcp_rmem", "4096 131072 60000000"),
        ("tcp_cubic.hystart", "0"),
        ("tcp_cubic.hystart_detect", "3"),
        ("net.core.default_qdisc", "fq_codel"),
        ("route.initcwnd", "32"),
        ("net.ipv4.tcp_no_metrics_save", "1"),
    ],
)
def test_values_of_the_right_shape_are_accepted(name: str, value: str) -> None:
    assert settings()[name].accepts(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("net.ipv4.tcp_rmem", "4096 131072"),
        ("net.ipv4.tcp_rmem", "131072 4096 60000000"),
        ("net.ipv4.tcp_rmem", "0 4096 60000000"),
        ("net.ipv4.tcp_rmem", "4096 131072 99999999999"),
        ("tcp_cubic.hystart", "2"),
        ("tcp_cubic.hystart", "-1"),
        ("tcp_cubic.hystart", "1; reboot"),
        ("tcp_cubic.hystart", "1\n"),
        ("tcp_cubic.hystart", "\u0661"),
        ("tcp_cubic.beta", "1024"),
        ("net.core.default_qdisc", "../fq"),
        ("net.core.default_qdisc", "a" * 16),
        ("route.initrwnd", "0"),
        ("net.ipv4.tcp_no_metrics_save", "0"),
        ("net.ipv4.tcp_ecn", ""),
    ],
)
def test_other_values_are_refused(name: str, value: str) -> None:
    assert not settings()[name].accepts(value)
