"""What lies outside, what is said of it, and which runs are in a row."""

from __future__ import annotations

from uuid import UUID

import pytest

from downlink.domain.campaigns.expectation import Check, Expectation, checks, checks_of, sentence, series_outside, unmet

GOODPUT, RTT, WAITING = "overall.goodput_bps", "steady.rtt_ms", "overall.waiting_bytes"
NUMBERS = {(GOODPUT, 2): 3e6, (GOODPUT, 1): 12.1e6, (RTT, 1): 600.0, (WAITING, None): 5e4}


def of(value: float, above: float | None = None, below: float | None = None, expectation: int = 1) -> Check:
    return Check(expectation, GOODPUT, 1, value, above, below)


def test_a_bound_itself_lies_outside() -> None:
    assert [of(value, above=2, below=5).is_met for value in (1, 2, 2.5, 5, 6)] == [False, False, True, False, False]
    assert [of(value, above=2).is_met for value in (2, 1e12)] == [False, True]
    assert [of(value, below=2).is_met for value in (0, 2)] == [True, False]


def test_every_flow_that_has_the_number_is_checked_unless_one_is_named() -> None:
    assert [(each.flow, each.value) for each in checks([Expectation(GOODPUT, above=1)], "on", "geo", NUMBERS)] == [
        (1, 12.1e6),
        (2, 3e6),
    ]
    (second,) = checks([Expectation(GOODPUT, above=4e6, flow=2)], "on", "geo", NUMBERS)
    assert second == Check(1, GOODPUT, 2, 3e6, 4e6, None)
    (link,) = checks([Expectation(WAITING, below=1e6)], "on", "geo", NUMBERS)
    assert link.flow is None
    assert checks([Expectation("startup.goodput_bps", above=1)], "on", "geo", NUMBERS) == []


def test_it_concerns_its_condition_and_link_alone_and_keeps_its_place() -> None:
    expected = [
        Expectation(RTT, above=1, condition="off"),
        Expectation(RTT, above=1, link="leo"),
        Expectation(RTT, above=1, condition="on", link="geo"),
        Expectation(RTT, below=500),
    ]
    found = checks(expected, "on", "geo", NUMBERS)
    assert [(each.expectation, each.is_met) for each in found] == [(3, True), (4, False)]
    assert list(unmet(found)) == [4]
    assert checks_of([each.to_dict() for each in found]) == found
    assert checks_of(None) == []


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (of(12.1e6, above=20e6), "Goodput of flow 1, overall: 12.1 Mb/s, expected above 20."),
        (of(250e6, 20e6, 120e6), "Goodput of flow 1, overall: 250 Mb/s, expected above 20 and below 120."),
        (of(19.9999e6, above=20e6), "Goodput of flow 1, overall: 19.9999 Mb/s, expected above 20."),
        (of(20e6, above=20e6), "Goodput of flow 1, overall: 20 Mb/s, expected above 20."),
        (of(123_456_789e6, below=1e9), "Goodput of flow 1, overall: 123000000 Mb/s, expected below 1000."),
        (
            Check(1, "steady.utilisation_ratio", 1, 0.05, 0.5, None),
            "Utilisation of flow 1, steady: 5 % of nominal rate, expected above 50.",
        ),
        (Check(1, WAITING, None, 4e6, None, 1e6), "Waiting for the hop, overall: 4 MB, expected below 1."),
    ],
)
def test_what_is_said_has_the_unit_that_people_read(check: Check, said: str) -> None:
    assert sentence([check]) == said


OUT, IN, NONE = [of(1, above=2)], [of(3, above=2)], [of(1, above=2, expectation=2)]


@pytest.mark.parametrize(
    ("runs", "at", "expected"),
    [
        ([OUT], 0, [0]),
        ([OUT, OUT, OUT], 1, [0, 1, 2]),
        ([OUT, IN, OUT, OUT], 3, [2, 3]),
        ([OUT, IN, OUT, OUT], 0, [0]),
        ([OUT, NONE, OUT], 2, [0, 2]),
        ([OUT, IN], 1, []),
        ([OUT, NONE], 1, []),
    ],
)
def test_a_row_goes_from_inside_to_inside(runs: list[list[Check]], at: int, expected: list[int]) -> None:
    ids = [UUID(int=number) for number in range(len(runs))]
    found = series_outside(zip(ids, runs, strict=True), 1)
    assert [each.int for each in found.get(ids[at], ())] == expected


def test_one_flow_outside_is_enough_for_a_run_to_be_outside() -> None:
    run = UUID(int=1)
    assert series_outside([(run, [*IN, *OUT])], 1) == {run: (run,)}
