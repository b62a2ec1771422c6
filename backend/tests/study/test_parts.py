"""The studies: their files, their short form, what they need and how long they take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from downlink.codec.campaign_file import parse_campaign
from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign, StopRule
from downlink.domain.errors import InvalidError
from downlink.domain.links.link import Link, Orbit
from downlink.stack.needs import profile_name
from study.campaigns.parts import (
    FOLDER,
    STUDIES,
    Pace,
    Part,
    Queues,
    Slot,
    duration_text,
    expected_s,
    full_cycles,
    next_campaign,
    parts_of,
    queues_of,
    short_form,
    trial_form,
    without_causes,
)

ROOT = Path(__file__).resolve().parents[3]
PARTS = [part for parts in STUDIES.values() for part in parts]
FACTS = {"geo": (144_000_000, 597.0), "leo": (100_000_000, 40.0), "terrestrial": (50_000_000, 20.0)}
"""Nominal rate and base RTT of the profiles, by the first word of their names."""


def text_of(part: Part) -> str:
    return (ROOT / part.path).read_text()


def make_link(name: str) -> Link:
    rate_bps, rtt_ms = FACTS[profile_name(name).partition("-")[0]]
    return Link(name, Orbit.GEO, "", rate_bps, rtt_ms, f"{name}-receiver", (f"{name}-1", f"{name}-2"))


def short_queues(part: Part) -> Queues:
    campaign = parse_campaign(short_form(text_of(part), part.short))
    return queues_of(campaign, {name: make_link(name) for name in campaign.links})


def test_every_file_is_part_of_one_study() -> None:
    assert sorted(part.file for part in PARTS) == sorted(path.stem for path in (ROOT / FOLDER).glob("*.yaml"))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.file)
def test_the_short_form_differs_in_its_cycles_alone(part: Part) -> None:
    full, short = parse_campaign(text_of(part)), parse_campaign(short_form(text_of(part), part.short))
    assert full_cycles(text_of(part)) == full.timetable.cycles
    assert short.timetable.cycles == part.short
    assert {**short.to_dict(), "timetable": None} == {**full.to_dict(), "timetable": None}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.file)
def test_enough_runs_are_left_for_an_interval(part: Part) -> None:
    least = {"002-geo": 40, "002-leo": 60}.get(part.file, 3 if part.file.startswith("004-") else 5)
    assert least <= part.short <= full_cycles(text_of(part))


def test_the_short_form_says_its_n() -> None:
    text = "name: x\ntimetable: {cycles: 213, pause_s: 0}\n"
    assert (
        short_form(text, 40)
        == "# Short form: n = 40 of the paper's 213.\nname: x\ntimetable: {cycles: 40, pause_s: 0}\n"
    )
    assert short_form(text, 213) == text


def test_the_four_studies_fit_into_four_hours() -> None:
    """On two cores, two campaigns at once, by the plan's own durations, which hold some seconds more than a run takes."""
    parts = [part for name in ("000", "001", "002", "003") for _, part in parts_of(name)]
    assert expected_s([short_queues(part) for part in parts], lanes=2) <= 4 * 3600


def test_a_study_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidError, match="no study 009; there are 000, 001, 002, 003, 004, checks, bbr"):
        parts_of("009")


def test_one_file_of_a_study_can_be_named() -> None:
    assert parts_of("003-best") == parts_of("003")
    assert [(study, part.file) for study, part in parts_of("000-d-pairs")] == [("000", "000-d-pairs")]


def runs(*durations_s: float, alone: bool = False) -> list[Slot]:
    return [Slot(duration_s, alone) for duration_s in durations_s]


@pytest.mark.parametrize(
    ("campaigns", "lanes", "expected"),
    [
        ([{"a": runs(10, 10)}, {"b": runs(5, 5)}], 2, 20),
        ([{"a": runs(10, 10)}, {"b": runs(5, 5)}], 1, 30),
        ([{"a": runs(10)}, {"a": runs(5)}], 2, 15),  # one link
        ([{"a": runs(10), "b": runs(7)}], 1, 10),  # the links of one campaign go side by side
        ([{"a": runs(10, 10)}, {"b": runs(5, alone=True)}], 2, 25),
        (
            [{"a": runs(10)}, {"a": runs(5)}, {"b": runs(12)}],
            2,
            15,
        ),  # the third goes before the second, whose link is taken
        ([], 2, 0),
    ],
)
def test_how_long_campaigns_take_side_by_side(campaigns: list[Queues], lanes: int, expected: float) -> None:
    assert expected_s(campaigns, lanes) == expected


@pytest.mark.parametrize(
    ("waiting", "busy", "place"),
    [([("a",), ("b",)], [], 0), ([("a",), ("b",)], ["a"], 1), ([("a", "b")], ["b"], None), ([], [], None)],
)
def test_the_next_campaign_is_the_first_whose_links_are_free(
    waiting: list[tuple[str, ...]], busy: list[str], place: int | None
) -> None:
    assert next_campaign(waiting, busy) == place


def test_the_time_left_follows_from_what_the_work_so_far_took() -> None:
    pace = Pace(planned_s=600, all_work_s=1000)
    assert pace.left_s(elapsed_s=5, done_work_s=0, left_work_s=1000) == 600
    assert pace.left_s(elapsed_s=100, done_work_s=200, left_work_s=800) == 400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (89.4, "89 s"), (90, "2 min"), (3_540, "59 min"), (3_600, "1 h 00 min"), (15_000, "4 h 10 min")],
)
def test_durations_are_read_at_a_glance(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def trial_of(part: Part) -> Campaign:
    return campaign_from_dict(json.loads(json.dumps(trial_form(parse_campaign(text_of(part)), 1, 3))))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.file)
def test_a_trial_tries_every_condition_once_and_briefly(part: Part) -> None:
    campaign, full = trial_of(part), parse_campaign(text_of(part))
    assert [each.name for each in campaign.conditions] == [each.name for each in full.conditions]
    assert {each.stop for each in campaign.conditions} <= {StopRule(seconds=3), StopRule(bytes=3_000_000)}
    assert (campaign.timetable.cycles, campaign.name) == (1, f"{full.name} (trial)")
    assert {flow.start_s for each in campaign.conditions for flow in each.flows} <= {0.0, 1.5}


def test_a_cause_that_is_written_later_makes_no_other_campaign() -> None:
    text = text_of(STUDIES["003"][0]) + "# A remark\n"
    later = text.replace("most: 1, source", "most: 1, why: The queue drops early, source")
    other = text.replace("most: 1,", "most: 2,")
    assert len({text, later, other}) == 3
    plain = without_causes(parse_campaign(text))
    assert without_causes(parse_campaign(later)) == plain
    assert without_causes(parse_campaign(other)) != plain


def test_the_figures_of_paper_004_have_the_machine_for_one_run_at_a_time() -> None:
    """Five INTCP flows at once are too much for two cores."""
    campaigns = [parse_campaign(text_of(part)) for _, part in parts_of("004")]
    assert all(condition.is_host_wide for campaign in campaigns for condition in campaign.conditions)
