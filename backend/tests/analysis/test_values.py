"""What each run gave goes out and comes back as it was."""

from __future__ import annotations

import json

import numpy as np

from downlink.analysis.comparison import places
from downlink.analysis.values import RunValues, compare_runs, values_from
from downlink.domain.results.metric import LINKED, PHASES

PLACES = places(PHASES)
TIME = ("overall", "time_to_level_s")


def made(condition: str, numbers: list[float], flow: int = 1) -> RunValues:
    own = PLACES if flow else tuple((phase, name) for phase in PHASES for name in LINKED)
    values = np.full((len(numbers), len(own)), np.nan)
    values[:, 0] = numbers
    runs = tuple(f"{condition}-{cycle}" for cycle in range(len(numbers)))
    late = np.zeros((len(numbers), 2 if flow else 0), bool)
    late[:1] = True
    return RunValues(
        "geo", condition, flow, "cubic" if flow else "", runs, tuple(range(len(numbers))), own, values, late
    )


def test_they_come_back_as_they_were() -> None:
    for each in (made("a", [1.5, np.nan]), made("a", [2.0], flow=0)):
        back = values_from(json.loads(json.dumps(each.to_dict())))
        assert back.side.cycles == each.cycles
        assert (back.runs, back.places, back.cc) == (each.runs, each.places, each.cc)
        np.testing.assert_array_equal(back.values, each.values)
        np.testing.assert_array_equal(back.not_within, each.not_within)


def test_one_place_says_which_runs_did_not_come_to_it() -> None:
    each = made("a", [1.0, 2.0])
    assert each.at(TIME)[1].tolist() == [True, False]
    assert each.at(PLACES[0])[1].tolist() == [False, False]
    assert each.at(PLACES[0])[0].tolist() == [1.0, 2.0]
    assert each.known == (PLACES[0],)


def test_fewer_places_are_the_same_runs() -> None:
    less = made("a", [1.0, 2.0]).only([TIME, PLACES[0]])
    assert (less.places, less.values.shape) == ((PLACES[0], TIME), (2, 2))
    assert less.at(TIME)[1].tolist() == [True, False]


def test_links_are_compared_beside_flows_where_both_were_logged() -> None:
    sides = [made("a", [1.0, 2.0]), made("b", [3.0, 5.0]), made("a", [1.0, 2.0], flow=0), made("b", [4.0, 4.0], flow=0)]
    found = [each for each in compare_runs(sides, "b", [PLACES[0]], 7) if int(each.difference.n)]
    assert [(each.flow, each.condition, float(each.difference.mean)) for each in found] == [
        (1, "a", -2.5),
        (0, "a", -2.5),
    ]
    assert [each.tested is not None for each in found] == [True, False]
