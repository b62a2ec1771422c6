"""The page of what the campaigns of paper 004 found."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from study.__main__ import app
from tests.study.test_checks import cells

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "intcp" / "study.md"
ARCHIVES = DOCS / "reproduction" / "archives"
SVG = "{http://www.w3.org/2000/svg}"
COLUMNS = (
    "link", "condition", "cycle", "position", "state", "flow", "phase", "goodput_bps", "one_way_delay_ms", "in_order_delay_ms",
    "jitter_ms",
)  # fmt: skip


def write(archives: Path, page: Path) -> str:
    answer = CliRunner().invoke(app, ["intcp", str(page), "--archives", str(archives)])
    assert answer.exit_code == 0, answer.output
    return page.read_text()


def archive(folder: Path, study: str, rows: Iterable[dict[str, Any]], link: str = "", **others: str) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows({"link": "path", "state": "complete", "flow": 1, "phase": "overall", **row} for row in rows)
    with zipfile.ZipFile(folder / f"{study}-tables.zip", "w") as tables:
        tables.writestr("metrics.csv", text.getvalue())
        tables.writestr("link.csv", link)
        for name, own in others.items():
            tables.writestr(name, own)
    record = {
        "name": study,
        "study": "004",
        "n": 2,
        "full_n": 2,
        "commit": "c0ffee",
        "ended_at": "2026-11-26T00:00:00Z",
    }
    (folder / f"{study}.json").write_text(json.dumps(record))


def test_the_page_and_its_pictures_say_what_the_archives_say(tmp_path: Path) -> None:
    page = write(ARCHIVES, tmp_path / "study.md")
    assert page == PAGE.read_text()
    drawn = {each.name: each.read_text() for each in (tmp_path / "figures").iterdir()}
    assert drawn.keys() == {"gains.svg", "buffers.svg"}
    for name, svg in drawn.items():
        assert svg == (PAGE.parent / "figures" / name).read_text(), name
        assert f"](figures/{name})" in page


def svg_of(folder: Path, name: str) -> ElementTree.Element:
    return ElementTree.fromstring((folder / "figures" / name).read_text())  # noqa: S314 - our own picture


def dots(svg: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(each.get("cx", "")), float(each.get("cy", ""))) for each in svg.iter(f"{SVG}circle")]


def words(svg: ElementTree.Element) -> dict[str, float]:
    return {each.text or "": float(each.get("y", "")) for each in svg.iter(f"{SVG}text")}


def test_gains_over_loss_are_ratios_of_pairs_with_the_published_values_as_lines(tmp_path: Path) -> None:
    def rows(loss: str, cycles: Iterable[int], reno: tuple[float, float, float]) -> Iterable[dict[str, Any]]:
        for cycle in cycles:
            for position, (name, values) in enumerate({"INTCP": (16e6, 100, 10), "Reno": reno}.items(), 1):
                numbers = dict(zip(("goodput_bps", "one_way_delay_ms", "jitter_ms"), values, strict=True))
                yield {
                    "link": f"intcp-loss-{loss}", "condition": name, "cycle": cycle, "position": position, **numbers,
                }  # fmt: skip

    archive(tmp_path, "004-6-low", [*rows("0", (1, 2), (10e6, 100 / 0.58, 10 / 0.47))])
    archive(tmp_path, "004-6-high", [*rows("1e-2", (1,), (1.6e6, 100, 100))])
    write(tmp_path, tmp_path / "study.md")
    svg = svg_of(tmp_path, "gains.svg")
    names = words(svg)
    lines = sorted(
        float(str(each.get("d")).split()[1].partition("L")[0])
        for each in svg.iter(f"{SVG}path")
        if each.get("stroke-dasharray")
    )
    assert len(lines) == 3
    drawn = [each for each in dots(svg) if each[1] > 24]  # below the legend
    assert sorted(top for left, top in drawn if left < 200) == lines, "as published where nothing is lost"
    assert len(drawn) == 6, "losses that were not measured have no dot"
    by_loss = {round(top) for left, top in drawn if left > 500}
    assert {round(names[each] - 4) for each in ("10", "1", "0.1")} == by_loss, "of one run, too"
    published = sorted(top for text, top in names.items() if text.startswith("published"))
    assert min(after - before for before, after in pairwise(published)) >= 12, "none covers another"


def test_a_buffer_is_a_point_of_what_it_costs_and_buys(tmp_path: Path) -> None:
    sizes = {0: (10, 100), 8_000_000: (20, 1_400), 24_000_000: (20.1, 1_410)}
    rows = [
        {
            "condition": f"INTCP, buffer_bytes {size}", "cycle": cycle, "position": position,
            "goodput_bps": mbps * 1e6 + cycle, "one_way_delay_ms": delay_ms + cycle,
        }
        for position, (size, (mbps, delay_ms)) in enumerate(sizes.items())
        for cycle in (1, 2)
    ]  # fmt: skip
    archive(tmp_path, "004-buffers", rows)
    write(tmp_path, tmp_path / "study.md")
    svg = svg_of(tmp_path, "buffers.svg")
    small, large, larger = dots(svg)
    assert small[0] < large[0] < larger[0]
    assert small[1] > large[1] > larger[1]
    assert "default" in words(svg)
    assert "8 MB, 24 MB" in words(svg), "labels that would cover each other are one"


def test_what_was_not_run_is_said_with_what_to_type(tmp_path: Path) -> None:
    archive(tmp_path, "004-6-low", [])
    page = write(tmp_path, tmp_path / "study.md")
    assert page.count("**Not run yet**") == 9
    assert '`make study-intcp FIGURE="5a"`' in page
    assert '`make study-intcp FIGURE="6-high"`' in page, "the other half of the figure is there"


def test_a_figure_has_a_column_for_each_link_and_a_line_for_each_condition(tmp_path: Path) -> None:
    shown = {"intcp-switch-2s": (16e6, 17e6), "intcp-switch-10s": (18e6, 18e6)}
    rows = [
        {"link": link, "condition": "INTCP", "cycle": cycle, "position": 1, "goodput_bps": value}
        for link, values in shown.items()
        for cycle, value in enumerate(values, 1)
    ]
    failed = {**rows[0], "cycle": 3, "state": "failed", "goodput_bps": 1.0}
    archive(tmp_path, "004-5a", [*rows, failed, {**rows[0], "phase": "steady", "goodput_bps": 15e6}])
    whole, steady = write(tmp_path, tmp_path / "study.md").split("Goodput from 10 to 50 s")
    _, two, four, *_, ten = cells(whole, "INTCP")
    assert two.startswith("16.5 (")
    assert (four, ten) == ("-", "18 (18–18)")
    assert cells(steady, "INTCP")[1:] == ["15", "-", "-", "-", "-"]


def test_a_part_that_is_off_is_compared_pair_by_pair(tmp_path: Path) -> None:
    def row(condition: str, cycle: int, mbps: float, delay_ms: float) -> dict[str, Any]:
        values = {"goodput_bps": mbps * 1e6, "one_way_delay_ms": delay_ms, "in_order_delay_ms": 9, "jitter_ms": 10}
        return {"condition": condition, "cycle": cycle, "position": 1 if condition == "INTCP" else 2, **values}

    pairs = [(1, 16, 120), (2, 12, 160)]
    rows = [row("INTCP", *pair) for pair in pairs]
    rows += [row("no cache", cycle, mbps / 2, delay_ms * 3) for cycle, mbps, delay_ms in pairs]
    archive(tmp_path, "004-parts", rows)
    page = write(tmp_path, tmp_path / "study.md")
    assert cells(page, "INTCP")[-4:] == ["-", "-", "-", "-"]
    assert cells(page, "no cache")[-4:] == [
        "0.5 (0.5–0.5)",
        "3 (3–3)",
        "1 (1–1)",
        "1 (1–1)",
    ]


def test_receivers_of_one_content_are_compared_with_and_without_caches(tmp_path: Path) -> None:
    def rows(condition: str, mbps: Iterable[float]) -> Iterable[dict[str, Any]]:
        for cycle in (1, 2):
            for flow, rate in enumerate(mbps, 1):
                yield {"condition": condition, "cycle": cycle, "position": 1, "flow": flow, "goodput_bps": rate * 1e6}

    found = [*rows("INTCP, receivers 1", [16]), *rows("INTCP-uni, receivers 1", [16])]
    found += [*rows("INTCP, receivers 2", [14, 18]), *rows("INTCP-uni, receivers 2", [8, 8])]
    sent = [("INTCP, receivers 1", "", 100), ("INTCP, receivers 2", "", 102), ("INTCP, receivers 2", "1", 7)]
    link = "".join(
        f'"{name}",{cycle},complete,{flow},overall,{value}\n' for name, flow, value in sent for cycle in (1, 2)
    )
    archive(tmp_path, "004-7", found, "condition,cycle,state,flow,phase,offered_bytes\n" + link)
    page = write(tmp_path, tmp_path / "study.md")
    shown = [each.partition(" ")[0] for each in cells(page, "2")[1:]]
    assert shown == ["16", "14", "8", "8", "2", "1.02"]
    assert cells(page, "4")[1:] == ["-"] * 6


@pytest.mark.parametrize(("rates", "index"), [((5, 5, 5, 5), "1 (1–1)"), ((20, 0, 0, 0), "0.25 (0.25–0.25)")])
def test_flows_that_share_a_hop_have_an_index(tmp_path: Path, rates: tuple[float, ...], index: str) -> None:
    rows = [
        {"condition": "four", "cycle": cycle, "position": 1, "flow": flow, "phase": "steady", "goodput_bps": rate * 1e6}
        for cycle in (1, 2)
        for flow, rate in enumerate(rates, 1)
    ]
    archive(tmp_path, "004-several", rows)
    _, _, together, fair = cells(write(tmp_path, tmp_path / "study.md"), "four")
    assert (together, fair) == ("20 (20–20)", index)


def test_an_archive_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    archive(tmp_path, "004-parts", [])
    (tmp_path / "004-parts-tables.zip").write_bytes(b"no zip")
    answer = CliRunner().invoke(app, ["intcp", str(tmp_path / "page.md"), "--archives", str(tmp_path)])
    assert answer.exit_code == 1
    assert str(tmp_path) in str(answer.exception)
    assert not (tmp_path / "page.md").exists()


@pytest.mark.parametrize(("mbps", "verdict"), [(17.0, "held"), (16.9, "not held")])
def test_a_goal_is_held_where_our_mean_meets_its_bound(tmp_path: Path, mbps: float, verdict: str) -> None:
    shown = {"INTCP": mbps * 1e6, "Cubic": mbps * 1e6 / 1.351 if verdict == "held" else mbps * 1e6 / 1.34}
    rows = [
        {"link": f"intcp-switch-{seconds}s", "condition": name, "cycle": cycle, "position": 1, "goodput_bps": value}
        for seconds in (2, 10)
        for name, value in shown.items()
        for cycle in (1, 2)
    ]
    archive(tmp_path, "004-5a", rows)
    page = write(tmp_path, tmp_path / "study.md")
    assert cells(page, "INTCP, 10 s between switches: at least 17.0 Mb/s")[-1] == verdict
    assert cells(page, "INTCP over Cubic end to end, 10 s between switches: at least 1.35")[-1] == verdict
    within = cells(page, "Cubic end to end, 10 s between switches: within 15 % of 12.1 Mb/s")
    assert within[-1] == "held"
    assert cells(page, "INTCP, 4 s between switches: at least 17.0 Mb/s")[-2:] == ["-", "-"], "no run has it"


def test_bands_are_of_runs_and_what_was_published_of_a_distribution_is_shown(tmp_path: Path) -> None:
    head = "link,condition,cycle,state,kind,p5_ms,p95_ms"
    lines = [
        f"intcp-gsl-{rtt_ms}ms,{name},{cycle},complete,in_order_delay,10,{10 + width}"
        for rtt_ms, own in ((20, 39), (50, 40))
        for name, width in (("INTCP", own), ("Reno", 40))
        for cycle in (1, 2)
    ]
    archive(tmp_path, "004-5c", [], **{"delays.csv": "\n".join([head, *lines])})
    columns = ("paper", "figure", "name", "unit", "share", "least", "most", "tolerance", "estimate", "low", "high")
    line = "P,Figure 6(a),Delay,ms,0.8,,180,,169,162,174,24,,inside,,"
    table = "\n".join([",".join((*columns, "n", "not_within", "reading", "equivalence_p", "why")), line])
    archive(tmp_path, "004-6-day", [], **{"reproduction.csv": table})
    page = write(tmp_path, tmp_path / "study.md")
    band = "From 5 to 95 % of a run's delays in order, INTCP over Reno, {} ms: below 1"
    assert [cells(page, band.format(rtt_ms))[-1] for rtt_ms in (20, 50)] == ["held", "not held"]
    repaired = "Of what INTCP sent again on a hop or its consumer asked for again, in a run: at least 99 % on a hop"
    assert cells(page, repaired)[-1] == "-", "counters are not kept"
    assert cells(page, "Delay")[1:] == ["at most 180 ms at 80 %", "169 (162–174), n = 24", "inside"]
