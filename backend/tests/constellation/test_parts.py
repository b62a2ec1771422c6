"""Codes, element files, radio, knots, network: each by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sgp4.exporter import export_omm, export_tle

from downlink.constellation.code import parse_code
from downlink.constellation.elements import read_elements, warnings
from downlink.constellation.graph import grid_hops
from downlink.constellation.knots import fine_times, knots
from downlink.constellation.messages import LABELS
from downlink.constellation.orbits import Floats, Grid, Orbits, Whole, near_positions, positions
from downlink.constellation.radio import loss_ppb, rate_bps, snr_db
from downlink.constellation.requests import code_orbits, ready_path, station, with_numbers
from downlink.constellation.sky import Sky
from downlink.constellation.visibility import check_seen, unseen
from downlink.domain.errors import InvalidError
from downlink.domain.links.pathtrace import LinkModel, LossCurve, Radio, Station
from downlink.domain.links.ready_paths import READY

from .skies import EPOCH, SMALL

WRONG_CODES = {
    "D:1150:53:1600/32": "is no constellation code",
    "X:1150:53:1600/32/5": "'X' is not known",
    "D:1150:53:1601/32/5": "1601 satellites do not divide by 32 planes. Take 1600 or 1632",
    "D:1150:53:20100/30/5": "20100 is not allowed",
    "D:1150:53:1600/32/32": "32 is not below the 32 planes",
    "D:11.5.0:53:1600/32/5": "is no number",
    "D:90:53:1600/32/5": "90.0 is not allowed",
}


@pytest.mark.parametrize("code", WRONG_CODES)
def test_a_wrong_code_says_which_part_is_wrong(code: str) -> None:
    with pytest.raises(InvalidError) as caught:
        parse_code(code)
    assert WRONG_CODES[code] in caught.value.message


def test_a_grid_has_four_hops_at_each_satellite_and_a_star_a_seam() -> None:
    hops = grid_hops(Grid(8, 10, seam=3))
    assert np.bincount(hops.ravel()).tolist() == [4] * 80
    assert [70, 3] in hops[:, ::-1].tolist()
    star = np.bincount(grid_hops(Grid(8, 10, seam=None)).ravel())
    assert np.flatnonzero(star == 3).tolist() == [*range(10), *range(70, 80)]


def test_rates_are_those_of_the_link_budget_at_1150_km() -> None:
    """Slant ranges at 25, 40, 60 and 90 degrees; reckoned by hand from 3GPP TR 38.821's set 1."""
    ranges_km = np.array([2_140.0, 1_636.0, 1_302.0, 1_150.0])
    rates = rate_bps(Radio(), snr_db(Radio(), ranges_km)) / 1e6
    assert np.allclose(rates, [15.1, 20.6, 25.8, 28.7], atol=0.35)


def test_loss_is_straight_in_its_logarithm_and_constant_beyond() -> None:
    curve = LossCurve(low_snr_db=2, low_snr_ratio=1e-2, high_snr_db=6, high_snr_ratio=1e-6)
    assert loss_ppb(curve, np.array([0.0, 2, 4, 6, 9])).tolist() == [10_000_000, 10_000_000, 100_000, 1_000, 1_000]
    assert loss_ppb(LossCurve(0, 0, 1, 0), np.array([0.5])).tolist() == [0]


@given(st.floats(1e4, 1e6), st.floats(0.01, 0.05), st.floats(2, 300))
@example(927_473.0, 0.042_968_75, 159.0)  # pieces of 2.2 s at best, on a grid of 1 s
def test_few_knots_are_within_a_microsecond(size_ns: float, turn: float, length_s: float) -> None:
    at_us = fine_times(0, int(length_s * 1e6))
    delay_ns = size_ns * np.cos(turn * at_us / 1e6)
    kept = knots(at_us, delay_ns)
    assert kept[0] == 0
    assert kept[-1] == len(at_us) - 1
    assert np.max(np.abs(np.interp(at_us, at_us[kept], delay_ns[kept]) - delay_ns)) < 1_000
    best = max(1, length_s * turn * np.sqrt(size_ns / 8_000))
    # Knots are at whole seconds: rounding costs little where pieces are long, and up to half of them where they are of 1 to 3 s.
    factor = 1.2 if length_s / best >= 3 else 2
    assert len(kept) - 1 <= factor * best + 5


def test_positions_between_coarse_times_are_off_by_centimetres() -> None:
    sky = Sky(code_orbits(SMALL), [Station("a", 0, 0)], EPOCH, 25, None, "none")
    at_us = np.arange(0, 61_000_000, 700_000)
    off_km = near_positions(sky.satellites, EPOCH, at_us) - positions(sky.satellites, EPOCH, at_us)
    assert np.max(np.abs(off_km)) < 5e-5


def lines(numbers: range, name: bool = False) -> list[str]:
    satellites = code_orbits(SMALL).satellites
    found = []
    for number in numbers:
        satellites[number].classification, satellites[number].intldesg = "U", "00001A"
        found += ["SAT"] * name + list(export_tle(satellites[number]))
    return found


def first_four(orbits: Orbits, at_us: Whole) -> Floats:
    return positions(Sky(orbits, [], EPOCH, 0, None, "none").satellites, EPOCH, at_us)[:4]


def test_element_files_are_read_with_names_and_planes() -> None:
    read = read_elements("\n".join(lines(range(4), name=True)))
    assert (len(read.satellites), read.grid, read.spread_s) == (4, None, 0)
    assert read.epoch == EPOCH
    at_us = np.array([0, 60_000_000])
    off_km = first_four(read, at_us) - first_four(code_orbits(SMALL), at_us)
    assert np.max(np.abs(off_km)) < 0.05  # a TLE's last digits
    assert read_elements("\n".join(["2 2", *lines(range(4))])).grid == Grid(2, 2, 0)


def messages(numbers: range) -> list[dict[str, str]]:
    """As a catalogue offers them: numbers of nine digits, which no two lines can hold."""
    satellites = code_orbits(SMALL).satellites
    found = []
    for number in numbers:
        satellites[number].classification, satellites[number].intldesg = "U", "00001A"
        fields = export_omm(satellites[number], f"SAT {number}")
        found.append({name: str(value) for name, value in {**fields, "NORAD_CAT_ID": 799_500_000 + number}.items()})
    return found


def as_csv(found: list[dict[str, str]]) -> str:
    return "\r\n".join([",".join(found[0]), *(",".join(each.values()) for each in found)])


MEAN = {"EPOCH", "MEAN_MOTION", "ECCENTRICITY", "INCLINATION", "RA_OF_ASC_NODE", "ARG_OF_PERICENTER", "MEAN_ANOMALY"}
METADATA = {"OBJECT_NAME", "OBJECT_ID", "CENTER_NAME", "REF_FRAME", "TIME_SYSTEM", "MEAN_ELEMENT_THEORY"}


def as_xml(found: list[dict[str, str]]) -> str:
    def part(tag: str, names: set[str], each: dict[str, str]) -> str:
        return f"<{tag}>" + "".join(f"<{name}>{each[name]}</{name}>" for name in sorted(names)) + f"</{tag}>"

    written = []
    for each in found:
        data = part("meanElements", MEAN, each) + part("tleParameters", set(each) - MEAN - METADATA, each)
        written.append(
            f"<omm><body><segment>{part('metadata', METADATA, each)}<data>{data}</data></segment></body></omm>"
        )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<ndm>{"".join(written)}</ndm>'


@pytest.mark.parametrize("form", [as_csv, as_xml, json.dumps])
def test_messages_have_the_orbits_that_they_were_made_of(form: Callable[[list[dict[str, str]]], str]) -> None:
    read = read_elements(form(messages(range(4))))
    assert (len(read.satellites), read.grid, read.spread_s, read.epoch) == (4, None, 0, EPOCH)
    at_us = np.array([0, 60_000_000])
    assert np.max(np.abs(first_four(read, at_us) - first_four(code_orbits(SMALL), at_us))) < 0.05


def test_messages_need_no_labels_and_take_numbers() -> None:
    labels = {*LABELS, *METADATA, "NORAD_CAT_ID", "EPOCH"}
    numbers = {name: float(value) for name, value in messages(range(1))[0].items() if name not in labels}
    assert read_elements(json.dumps({**numbers, "EPOCH": "2000-01-01T00:00:00Z"})).epoch == EPOCH


def test_messages_say_what_is_wrong_with_them() -> None:
    good = messages(range(2))
    cases = {
        "it has no satellites": "[]",
        "element set 1: MEAN_MOTION is missing": json.dumps([{**good[1], "MEAN_MOTION": ""}]),
        "element set 1: it cannot be read": json.dumps([{**good[0], "BSTAR": "much"}]),
        "element set 1: its elements are of DSST": json.dumps([{**good[0], "MEAN_ELEMENT_THEORY": "DSST"}]),
        "element set 1: its elements make no orbit": json.dumps([{**good[0], "ECCENTRICITY": "1.5"}]),
        "element file: it cannot be read": as_xml(good)[:-9],
        "element file: it cannot be read ": "[1, 2]",
    }
    for said, text in cases.items():
        with pytest.raises(InvalidError, match=said):
            read_elements(text)


def test_element_files_say_what_is_wrong_with_them() -> None:
    good = lines(range(2))
    cases = {
        "it has no satellites": "",
        "line 2: its checksum": "\n".join([good[0], good[1][:20] + "9" + good[1][21:]]),
        "line 1: the second line": good[0],
        "line 1: no element set": "hello\nworld",
        "2 planes of 3 are 6": "\n".join(["2 3", *good]),
    }
    for said, text in cases.items():
        with pytest.raises(InvalidError, match=said):
            read_elements(text)


def test_old_and_mixed_elements_are_warned_of() -> None:
    read = read_elements("\n".join(lines(range(2))))
    assert warnings(read, EPOCH) == []
    (said,) = warnings(read, EPOCH.replace(month=2))
    assert "31 days from" in said


def test_a_station_that_sees_nothing_is_told_with_an_elevation_that_would_do() -> None:
    sky = Sky(code_orbits(SMALL), [Station("north", 75, 0), Station("pole", -89, 0)], EPOCH, 25, None, "none")
    found = {each.station: each for each in unseen(sky, 600_000_000)}
    assert set(found) == {"north", "pole"}
    assert 0 < found["north"].enough_deg < 25
    assert found["pole"].enough_deg < 0
    with pytest.raises(InvalidError, match=r"no elevation would do .* Take other satellites or another station"):
        check_seen([found["pole"]], 25)
    dark = replace(found["north"], share=1, enough_deg=12.5)
    with pytest.raises(
        InvalidError, match=r"station north: it sees no .* Take a least elevation of at most 12.5 degrees"
    ):
        check_seen([dark], 25)
    enough = Sky(sky.orbits, sky.stations[:1], EPOCH, found["north"].enough_deg, None, "none")
    assert unseen(enough, 600_000_000) == []


def test_places_and_numbers_are_read_or_refused() -> None:
    assert station("here,1,2,30") == Station("here", 1, 2, 30)
    assert station("london").latitude_deg == 51.5074
    links = with_numbers(LinkModel(), ["radio.bandwidth_mhz=20", "isl_rate_bps=5000000"])
    assert (links.radio.bandwidth_mhz, links.isl_rate_bps) == (20, 5_000_000)
    for said in ("nowhere", "a,b,c", "a,1", "a,1,2,3,4", "a,91,0"):
        with pytest.raises(InvalidError):
            station(said)
    for said in ("radio=1", "bandwidth=1", "isl_rate_bps", "isl_rate_bps=fast", "radio.bandwidth_mhz.x=1"):
        with pytest.raises(InvalidError):
            with_numbers(LinkModel(), [said])


@pytest.mark.parametrize("name", READY)
def test_ready_made_paths_are_whole(name: str) -> None:
    assert ready_path(name, "test").duration_us == 86_400_000_000
