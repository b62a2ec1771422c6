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

from downlink.constellation.elements import elements_text, one_of_each, read_elements
from downlink.constellation.fallen_satellites import without_lost
from downlink.constellation.graph import grid_hops
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


@pytest.mark.parametrize("coded", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", [WHOLE, as_csv(messages(range(3))).replace("\r", ""), as_pairs(messages(range(3)))])
def test_files_are_read_as_every_system_writes_them(text: str, ends: str, coded: str) -> None:
    written = text.replace("\n", ends).encode(coded)
    assert names(read_elements(elements_text(written))) == names(read_elements(text))


def test_an_element_file_as_powershell_writes_it_makes_a_path(tmp_path: Path) -> None:
    file, to = tmp_path / "one.csv", tmp_path / "mine.dlpath"
    file.write_bytes(as_csv(messages(range(60))).encode("utf-16"))
    run(
        "make", "mine", "--hours", "0.02", "--station", "london", "--station", "frankfurt", "--elevation", "0",
        "--isl", "none", "--elements", str(file), "--to", str(to),
    )  # fmt: skip
    assert "right" in run("check", str(to), "--elements", str(file)).stdout


def test_two_lines_of_two_satellites_are_no_element_set() -> None:
    sets = lines(range(3))
    read = read_elements("\n".join(["SAT-0", sets[0], sets[3], "SAT-2", *sets[4:]]))
    assert names(read) == ["SAT-2"]
    reason = "its lines are of two satellites, 00000 and 00001: lines between them are missing"
    assert [str(each) for each in read.left_out] == [f"SAT-0 (line 2): {reason}"]


@pytest.mark.parametrize("begin", [b"\x1f\x8b\x08", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"])
def test_a_packed_element_file_is_refused_with_what_to_do(begin: bytes) -> None:
    with pytest.raises(InvalidError, match=r"it is packed \(.*\)\. Unpack it"):
        elements_text(begin + b"rest")


def commented(form: Callable[[list[dict[str, str]]], str]) -> Callable[[list[dict[str, str]]], str]:
    return lambda found: "# of the catalogue, today\n\nCOMMENT by = hand\n" + form(found)


@pytest.mark.parametrize(
    "form",
    [
        lambda found: as_csv(found).replace(",", ";"),
        lambda found: as_csv(found).replace(",", "\t"),
        lambda found: as_csv(found).replace("\r\n", "\r\n# a comment\r\n", 1),
        lambda found: as_csv(found).replace("OBJECT_NAME", "object_name").replace("MEAN_MOTION,", "mean_motion,"),
        lambda found: as_xml(found).replace("<ndm>", '<ndm xmlns="urn:ccsds:schema:ndmxml">'),
        *(commented(form) for form in (as_csv, as_xml, json.dumps, as_pairs)),
    ],
)
def test_messages_are_read_as_spreadsheets_and_people_write_them(form: Callable[[list[dict[str, str]]], str]) -> None:
    read = read_elements(form(messages(range(4))))
    assert (names(read), read.left_out) == ([f"SAT {number}" for number in range(4)], ())


def test_a_part_that_is_no_message_leaves_the_others() -> None:
    good = messages(range(2))
    read = read_elements(json.dumps([good[0], None, ["x"], good[1]]))
    assert names(read) == ["SAT 0", "SAT 1"]
    assert [each.place for each in read.left_out] == ["element set 2", "element set 3"]
    bare = as_xml(good).replace("<metadata>", "<other>", 1).replace("</metadata>", "</other>", 1)
    assert len(read_elements(bare.replace("tleParameters>", "unknown>", 2)).left_out) == 1
    quoted_row = as_csv(good).replace("SAT 0", '"SAT 0', 1)
    assert names(read_elements(quoted_row)) == ["SAT 1"]


@pytest.mark.parametrize("text", ["[" * 100_000, "[" + "1" * 5_000 + "]", '<?xml version="1.0" encoding="none"?><ndm'])
def test_hostile_messages_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InvalidError, match="element file: it cannot be read"):
        read_elements(text)


def test_what_a_source_says_in_place_of_elements_is_shown() -> None:
    with pytest.raises(InvalidError, match=r"no element sets, but .*logged in.*Fetch it again, signed in"):
        read_elements('{"error":"You must be logged in to complete this action"}')
    good = messages(range(1))
    with pytest.raises(InvalidError, match="element set 1: EPOCH is missing"):
        read_elements(json.dumps([{**good[0], "EPOCH": None}]))
    with pytest.raises(InvalidError, match=r"EPOCH '24\.11\.2026' is no moment in UTC such as 2026-"):
        read_elements(json.dumps([{**good[0], "EPOCH": "24.11.2026"}]))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"INCLINATION": "-999"}, "its inclination of -999 degrees is not from 0 to 180"),
        ({"INCLINATION": "9999"}, "its inclination of 9999 degrees is not from 0 to 180"),
        ({"ECCENTRICITY": "-0.1"}, "its elements make no orbit"),
        ({"MEAN_MOTION": "-15"}, "its elements make no orbit"),
        ({"MEAN_ANOMALY": "9999"}, "the angle of its anomaly, 9999 degrees, is beyond a turn"),
        ({"ARG_OF_PERICENTER": "inf"}, "its elements are no numbers"),
        ({"RA_OF_ASC_NODE": "1,5"}, "decimals have a point"),
    ],
)
def test_elements_beyond_their_bounds_are_left_out(changed: dict[str, str], reason: str) -> None:
    good = messages(range(2))
    read = read_elements(json.dumps([good[0], {**good[1], **changed}]))
    assert names(read) == ["SAT 0"]
    assert reason in read.left_out[0].reason


def test_an_epoch_beyond_its_year_is_left_out() -> None:
    one, two = lines(range(1))
    read = read_elements("\n".join([*lines(range(1, 2)), summed(f"{one[:20]}400{one[23:]}"), two]))
    assert [str(each) for each in read.left_out] == [
        "00000 (line 3): its epoch is day 400 of a year, which has at most 366"
    ]


def at_day(number: int, day: int) -> list[str]:
    """The set of a satellite of `lines`, of another day of the year 2000."""
    one, two = lines(range(number, number + 1))
    return [f"SAT-{number}", summed(f"{one[:20]}{day:03}{one[23:]}"), two]


def test_of_several_sets_of_a_satellite_the_nearest_to_the_start_is_used() -> None:
    read = read_elements("\n".join([*at_day(1, 1), *at_day(1, 3), *at_day(1, 3), *at_day(1, 6), *at_day(2, 6)]))
    assert (len(read.satellites), read.epoch, read.spread_s) == (5, EPOCH + timedelta(days=5), 0)
    used = one_of_each(read, EPOCH + timedelta(days=2))
    assert [each.place for each in used.labels] == ["line 5", "line 14"]
    assert [each.place for each in used.left_out] == ["line 2", "line 8", "line 11"]
    assert "the set of line 5 is of the same satellite" in used.left_out[0].reason
    assert used.spread_s == 3 * 86_400


def test_satellites_of_other_names_or_without_a_number_are_not_the_same() -> None:
    """Shells that a program made and somebody joined count from 1 each."""
    first, second = at_day(1, 1), at_day(1, 3)
    joined = read_elements("\n".join([*first, "OTHER", *second[1:], *at_day(0, 1), *at_day(0, 3)]))
    assert one_of_each(joined, EPOCH) is joined


def test_the_path_is_made_and_checked_with_one_set_of_each(tmp_path: Path) -> None:
    file, to = tmp_path / "one.tle", tmp_path / "mine.dlpath"
    file.write_text(shell(10, *at_day(10, 1), *at_day(10, 3)))
    run(
        "make", "mine", "--hours", "0.02", "--station", "london", "--station", "frankfurt", "--elevation", "0",
        "--isl", "none", "--elements", str(file), "--to", str(to), "--start", f"{EPOCH:%Y-%m-%dT%H:%M:%S}",
    )  # fmt: skip
    header = json.loads(run("show", str(to), "--json").stdout)["header"]
    assert header["constellation"]["satellites"] == 60
    assert "SAT-10 (line 35)" in header["asked"]["left_out"]["first"][0]
    assert "right" in run("check", str(to), "--elements", str(file)).stdout


def test_a_second_line_alone_names_no_other_satellite() -> None:
    sets = lines(range(1, 4))
    read = read_elements("\n".join(["SAT-1", *sets[1:]]))
    assert names(read) == ["00002", "00003"]
    assert [str(each) for each in read.left_out] == ["SAT-1 (line 2): the first line of its element set is missing"]
    marked = read_elements("\ufeff" + "\n".join(sets))
    assert names(marked) == ["00001", "00002", "00003"]


def test_lines_that_are_no_set_stand_in_no_plane() -> None:
    whole = read_elements("6 10\n" + WHOLE)
    assert read_elements("6 10\na word\nof somebody\n" + WHOLE + "\nthe end").grid == whole.grid
    lost = shell(13, "SAT-13", lines(range(13, 14))[1])
    holed = read_elements("6 10\n" + lost + "\nthe end").grid
    assert holed is not None
    assert holed.numbers == tuple(number for number in range(60) if number != 13)
    with pytest.raises(InvalidError, match=r"6 planes of 11 are 66, and it has 60 element sets \(other lines: 1\)"):
        read_elements("6 11\n" + WHOLE + "\nthe end")


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
