"""Whole path traces: published ranges, and what must hold for any stations, shell and rule."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from downlink.codec.path import decode_path, encode_path
from downlink.codec.path_checks import great_circle_km
from downlink.constellation.exact import hold_against, path_rows
from downlink.constellation.maker import make_path
from downlink.constellation.requests import code_orbits
from downlink.constellation.routes import stretches
from downlink.constellation.sky import Sky
from downlink.domain.errors import InvalidError
from downlink.domain.links.pathtrace import LIGHT_M_PER_S, Gap, LinkModel, Route, Station
from downlink.domain.links.ready_paths import LOWER, PLACES, REFERENCE

from .skies import EPOCH, asked

BEIJING, NEW_YORK, LONDON = (PLACES[name] for name in ("beijing", "new-york", "london"))
BARE = Route("shortest", stay_s=0)

RANGES = [
    # stations, code, least elevation, RTT from and to in ms, hops from and to: every 10 s for 2 h
    ((BEIJING, NEW_YORK), REFERENCE, 25.0, 102.0, 104.1, 13, 14),
    ((LONDON, NEW_YORK), REFERENCE, 40.0, 49.7, 53.6, 6, 7),
    ((LONDON, NEW_YORK), LOWER, 25.0, 42.4, 44.4, 5, 7),
]


@pytest.mark.sampled("faults")
@pytest.mark.parametrize(("stations", "code", "elevation", "low", "high", "fewest", "most"), RANGES)
def test_shortest_paths_have_the_known_round_trips(
    stations: tuple[Station, Station], code: str, elevation: float, low: float, high: float, fewest: int, most: int
) -> None:
    """At each moment by itself: a trace leaves a satellite before it sets, and then has a longer path."""
    sky = Sky(code_orbits(code), stations, EPOCH, elevation, None, "+grid", look_ahead=False)
    found = stretches(sky, BARE, 10_000_000, 7_200_000_000)
    round_trips = []
    for each in found:
        assert each.nodes is not None
        assert fewest <= len(each.nodes) - 1 <= most
        at_us = np.arange(each.start_us, each.end_us, 10_000_000)
        round_trips += (2e6 * sky.hop_lengths(each.nodes, at_us).sum(axis=0) / LIGHT_M_PER_S).tolist()
    assert [min(round_trips), max(round_trips)] == pytest.approx([low, high], abs=0.051)


stations = st.builds(Station, st.just("one"), st.floats(-52, 52), st.floats(-180, 180), st.floats(0, 3_000))
codes = st.sampled_from([REFERENCE, LOWER, "D:1000:53.0:1160/29/5", "S:780:86.4:264/12/2"])
rules = st.one_of(
    st.builds(Route, st.just("shortest"), st.floats(0, 30)),
    st.just(Route("hold")),
    st.builds(Route, st.just("slots"), slot_s=st.just(15.0), offset_s=st.floats(0, 15)),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stations, stations, codes, rules, st.floats(5, 40), st.integers(0, 2**31))
def test_what_must_hold_of_any_path(
    one: Station, two: Station, code: str, route: Route, elevation: float, seed: int
) -> None:
    """encode_path checks joins, times and light; hold_against the orbits: microsecond, least elevation, pattern, height."""
    other = Station("other", two.latitude_deg, two.longitude_deg, two.height_m)
    wanted = asked([one, other], 90, code, least_elevation_deg=elevation, route=route, seed=seed)
    header, columns = make_path(wanted)
    assert decode_path(encode_path(header, columns))[0] == header
    found = hold_against(header, columns, wanted.orbits)
    assert found.most_error_ns < 1_000
    assert found.least_elevation_deg is None or found.least_elevation_deg >= elevation - 1e-4
    assert found.least_isl_height_km is None or found.least_isl_height_km >= 80
    for _, rows in path_rows(columns):
        total_ns = sum(int(columns["delay_ns"][each].min()) for each in rows)
        assert total_ns >= 0.999 * great_circle_km(one, other) * 1e12 / LIGHT_M_PER_S - 5e5


def test_the_same_seed_makes_the_same_file_and_another_one_other_gaps() -> None:
    first, again, other = (make_path(asked([LONDON, NEW_YORK], 300, seed=seed)) for seed in (1, 1, 2))
    assert encode_path(*first) == encode_path(*again)
    assert np.array_equal(first[1]["delay_ns"], other[1]["delay_ns"])
    assert not np.array_equal(first[1]["gap_us"], other[1]["gap_us"])


def test_gaps_are_of_changed_hops_alone_and_within_their_limits() -> None:
    links = LinkModel(gsl_gap=Gap(30, 40), isl_gap=Gap(5, 6))
    _, columns = make_path(asked([LONDON, NEW_YORK], 600, links=links))
    before: set[tuple[int, int]] = set()
    seen = set()
    for number, (nodes, rows) in enumerate(path_rows(columns)):
        hops = list(pairwise(nodes))
        for hop, each in zip(hops, rows, strict=True):
            gap_us = int(columns["gap_us"][each[0]])
            low, high = (30_000, 40_000) if min(hop) < 0 else (5_000, 6_000)
            assert gap_us == 0 if hop in before or not number else low <= gap_us <= high
            seen.add((gap_us > 0, min(hop) < 0))
        before = set(hops)
    assert seen == {(False, False), (False, True), (True, False), (True, True)}


@pytest.mark.sampled("faults")
def test_a_path_stays_unless_a_hop_sets_and_bare_ones_flap() -> None:
    def stays_s(route: Route) -> list[float]:
        _, columns = make_path(asked([BEIJING, NEW_YORK], 900, route=route))
        return [float(np.ptp(columns["at_us"][rows[0]])) / 1e6 for _, rows in path_rows(columns)]

    bare, kept, held = stays_s(BARE), stays_s(Route("shortest", 15)), stays_s(Route("hold"))
    assert len(bare) > len(kept) > len(held)
    assert min(bare[:-1]) < 15


def test_slots_change_at_their_ends_alone() -> None:
    _, columns = make_path(asked([BEIJING, NEW_YORK], 600, route=Route("slots", slot_s=15, offset_s=4)))
    starts = np.unique([columns["at_us"][rows[0][0]] for _, rows in path_rows(columns)])
    assert len(starts) > 5
    assert set((starts[1:] - 4_000_000) % 15_000_000) == {0}


def test_a_bent_pipe_has_one_satellite_and_stations_between_may_pass_on() -> None:
    between = Station("reykjavik", 64.15, -21.94)
    madrid = Station("madrid", 40.42, -3.70)
    _, columns = make_path(asked([madrid, LONDON, between], 120, isl="none", least_elevation_deg=40))
    for nodes, _ in path_rows(columns):
        assert nodes[0] == -1
        assert nodes[-1] == -3
        assert all(min(pair) < 0 <= max(pair) for pair in pairwise(nodes))


def test_another_orbit_is_noticed() -> None:
    wanted = asked([LONDON, NEW_YORK], 60)
    header, columns = make_path(wanted)
    columns["delay_ns"] = columns["delay_ns"] + 2_000
    with pytest.raises(InvalidError, match=r"2\.. us off the exact orbit"):
        hold_against(header, columns, wanted.orbits)


def test_the_distances_of_satellites_bound_what_the_format_checks() -> None:
    header, _ = make_path(asked([LONDON, NEW_YORK], 60))
    assert math.isclose(header.constellation.least_radius_km, 7_528, abs_tol=12)
    assert math.isclose(header.constellation.most_radius_km, 7_528, abs_tol=12)
