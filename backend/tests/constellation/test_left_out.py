"""A satellite that cannot be used is left out and named; the others make the path."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from downlink.constellation.elements import read_elements
from downlink.constellation.graph import grid_hops
from downlink.constellation.lost import without_lost
from downlink.constellation.orbits import Orbits
from downlink.domain.errors import InvalidError
from tests.cli.test_paths_command import run
from tests.constellation.test_parts import EPOCH, as_csv, as_xml, lines, messages

DAY_US = 86_400_000_000
DEEP = (
    "1 50463U 19074B   26328.50000000  .00000000  00000-0  00000-0 0  9995",
    "2 50463   4.6198  89.0659 9884983   0.0000  17.4000  0.01958082    10",
)
"""Far beyond where SGP4 has orbits, as the set of a telescope in the shadow of the Earth has it."""


def summed(line: str) -> str:
    """The line with a right checksum."""
    return line[:68] + str(sum(int(each) if each.isdecimal() else each == "-" for each in line[:68]) % 10)


def falling(number: int) -> list[str]:
    """The set of a satellite of `lines` with so much drag that it comes down within hours."""
    one, two = lines(range(number, number + 1))
    return ["FALLING", summed(f"{one[:53]} 99999-0{one[61:]}"), summed(f"{two[:52]}16.20000000{two[63:]}")]


def shell(at: int, *other: str) -> str:
    """Sixty satellites with names of their own, with others in the place of one."""
    sets = lines(range(60))
    every = [line for each in range(60) for line in (f"SAT-{each}", *sets[2 * each : 2 * each + 2])]
    return "\n".join([*every[: 3 * at], *other, *every[3 * at + 3 :]])


WHOLE = shell(0, "SAT-0", *lines(range(1)))


def names(orbits: Orbits) -> list[str]:
    return [each.name for each in orbits.labels]


@pytest.mark.parametrize("later", [timedelta(hours=6), timedelta(days=7)])
def test_one_that_has_come_down_leaves_the_others(later: timedelta) -> None:
    read = read_elements(shell(10, *falling(10)))
    assert (len(read.satellites), read.left_out) == (60, ())
    kept = without_lost(read, EPOCH + later, DAY_US)
    assert len(kept.satellites) == 59
    (left,) = kept.left_out
    assert (left.what, left.place) == (falling(10)[0], "line 32")
    assert names(kept) == [each for each in names(read) if each != left.what]


def test_one_beyond_the_earths_orbits_is_left_out_by_name_and_line() -> None:
    read = read_elements(shell(3, "DEEP", *DEEP))
    assert len(read.satellites) == 59
    assert [str(each) for each in read.left_out] == ["DEEP (line 11): its elements make no orbit around the Earth"]


def test_with_planes_the_others_keep_their_neighbours() -> None:
    """Of 6 planes of 10, satellite 13 is missing: the hops are those of the whole grid without its four."""
    whole = read_elements("6 10\n" + WHOLE)
    holed = read_elements("6 10\n" + shell(13, "DEEP", *DEEP))
    assert whole.grid is not None
    assert holed.grid is not None
    by_name = {tuple(names(whole)[each] for each in pair) for pair in grid_hops(whole.grid)}
    missing = names(whole)[13]
    assert {tuple(names(holed)[each] for each in pair) for pair in grid_hops(holed.grid)} == {
        pair for pair in by_name if missing not in pair
    }
    assert len(by_name) - len(grid_hops(holed.grid)) in (3, 4)


@pytest.mark.parametrize(
    ("spoil", "left"),
    [
        (lambda text: text[:-40], "the second line|its checksum is wrong or it is cut"),
        (lambda text: "# from a catalogue\n" + text, None),
        (lambda text: "SB KEPS @ AMSAT $ORB26328\nTwo lines\n" + text, "no element set of two lines follows"),
        (lambda text: "\n".join("   " + line for line in text.splitlines()), None),
        (lambda text: text.replace(" ", "\N{NO-BREAK SPACE}"), None),
        (lambda text: text.replace("\n", "\r\n"), None),
    ],
)
def test_what_is_no_element_set_is_passed_over_and_named(spoil: Callable[[str], str], left: str | None) -> None:
    read = read_elements(spoil(WHOLE))
    assert len(read.satellites) >= 59
    said = "; ".join(map(str, read.left_out))
    assert bool(said) == bool(left)
    if left:
        assert any(part in said for part in left.split("|"))


def quoted(found: list[dict[str, str]]) -> str:
    """As `csv.QUOTE_ALL` writes it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(found[0]), quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


def as_pairs(found: list[dict[str, str]]) -> str:
    """Key and value, as CCSDS 502.0 has it, with units."""
    units = {"INCLINATION": " [deg]", "MEAN_MOTION": " [rev/day]"}
    return "\n\n".join(
        "\n".join(["CCSDS_OMM_VERS = 2.0", *(f"{key} = {value}{units.get(key, '')}" for key, value in each.items())])
        for each in found
    )


@pytest.mark.parametrize("form", [as_csv, as_xml, json.dumps, quoted, as_pairs])
def test_messages_leave_out_what_cannot_be_used(form: Callable[[list[dict[str, str]]], str]) -> None:
    good = messages(range(4))
    bad = {**good[0], "OBJECT_NAME": "ODD", "ECCENTRICITY": "1.5"}
    read = read_elements(form([*good[:2], bad, *good[2:]]))
    assert [str(each) for each in read.left_out] == ["ODD (element set 3): its elements make no orbit around the Earth"]
    expected = read_elements(json.dumps(good))
    assert [each.no_kozai for each in read.satellites] == [each.no_kozai for each in expected.satellites]


def test_numbers_that_are_none_have_no_place() -> None:
    good = messages(range(4))
    read = read_elements(json.dumps([*good[:3], {**good[3], "BSTAR": "nan"}]))
    kept = without_lost(read, EPOCH, 60_000_000)
    assert len(kept.satellites) == 3
    assert "no numbers" in kept.left_out[0].reason or "SGP4" in kept.left_out[0].reason


def test_none_left_is_refused_with_the_first_reason() -> None:
    with pytest.raises(InvalidError, match=r"line 2: .* has no place: .* as all others"):
        without_lost(read_elements("\n".join(falling(0))), EPOCH + timedelta(days=2), DAY_US)


def test_the_path_is_made_shown_and_checked_without_it(tmp_path: Path) -> None:
    file, to = tmp_path / "one.tle", tmp_path / "mine.dlpath"
    file.write_text(shell(10, *falling(10)))
    asked = (
        "make", "mine", "--hours", "0.02", "--start", f"{EPOCH + timedelta(days=2):%Y-%m-%dT%H:%M:%S}", "--station", "london",
        "--station", "frankfurt", "--elevation", "0", "--isl", "none", "--elements", str(file), "--to", str(to),
    )  # fmt: skip
    made = run(*asked)
    name = falling(10)[0]
    assert f"1 of 60 satellites are left out: {name} (line 32): " in made.stderr.replace("\n", " ")
    assert f"{name} (line 32)" in made.stdout
    header = json.loads(run("show", str(to), "--json").stdout)["header"]
    assert header["constellation"]["satellites"] == 59
    assert header["asked"]["left_out"]["satellites"] == 1
    assert "right" in run("check", str(to), "--elements", str(file)).stdout
    with pytest.raises(InvalidError, match=r"1 of 60 satellites cannot be used, and --strict .*line 32") as refusal:
        run(*asked, "--strict")
    assert refusal.value.code == "partial"
    assert np.isfinite(header["constellation"]["least_radius_km"])
