"""Every bound of the campaign file, on both sides; and its schema, which says the same."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from downlink.codec.campaign_reading import find_campaign
from downlink.codec.campaign_shape import campaign_schema
from downlink.domain.campaigns.campaign import Campaign
from tools import campaign_reference


def file(**changes: Any) -> dict[str, Any]:
    base = {"name": "x", "links": ["geo"], "stop": {"seconds": 60}, "timetable": {"cycles": 3}, "conditions": named(1)}
    return {**base, **changes}


def named(count: int) -> list[dict[str, Any]]:
    return [{"name": f"c{index}"} for index in range(count)]


def names(count: int) -> list[str]:
    return [f"n{index}" for index in range(count)]


def flow(**changes: Any) -> dict[str, Any]:
    return file(conditions=[{"name": "a", "flows": [changes]}])


def spaced(duration_h: float, every_s: float) -> dict[str, Any]:
    return file(timetable={"duration_h": duration_h, "every_s": every_s})


ALLOWED_AND_NOT = [
    (file(name="x" * 200), file(name="x" * 201)),
    (file(notes="x" * 10_000), file(notes="x" * 10_001)),
    (file(links=names(64)), file(links=names(65))),
    (file(conditions=named(64)), file(conditions=named(65))),
    (file(stop={"seconds": 1}), file(stop={"seconds": 0.999})),
    (file(stop={"seconds": 86_400}), file(stop={"seconds": 86_400.1})),
    (file(stop={"bytes": 1}), file(stop={"bytes": 0})),
    (file(stop={"bytes": 10**13}), file(stop={"bytes": 10**13 + 1})),
    (file(phases={"startup_s": 0.5}), file(phases={"startup_s": 0.499})),
    (file(phases={"steady_s": 0.5}), file(phases={"steady_s": 0.499})),
    (file(phases={"steady_s": 86_400}), file(phases={"steady_s": 86_401})),
    (file(timetable={"cycles": 1}), file(timetable={"cycles": 0})),
    (file(timetable={"cycles": 100_000}), file(timetable={"cycles": 100_001})),
    (
        file(timetable={"cycles": 50_000}, conditions=named(2)),
        file(timetable={"cycles": 50_001}, conditions=named(2)),
    ),
    (file(timetable={"cycles": 1, "pause_s": 0}), file(timetable={"cycles": 1, "pause_s": -1})),
    (file(timetable={"cycles": 1, "pause_s": 86_400}), file(timetable={"cycles": 1, "pause_s": 86_401})),
    (file(timetable={"cycles": 1, "seed": 0}), file(timetable={"cycles": 1, "seed": -1})),
    (file(timetable={"cycles": 1, "seed": 2**32 - 1}), file(timetable={"cycles": 1, "seed": 2**32})),
    (spaced(24 * 366, 3_600), spaced(24 * 366 + 1, 3_600)),
    (spaced(0.001, 1), spaced(0.0009, 1)),
    (spaced(1, 1), spaced(1, 0.5)),
    (spaced(1, 3_600), spaced(1, 3_600.5)),
    (spaced(24 * 366, 30 * 86_400), spaced(24 * 366, 30 * 86_400 + 1)),
    (file(limits={"attempts": 1}), file(limits={"attempts": 0})),
    (file(limits={"attempts": 10}), file(limits={"attempts": 11})),
    (file(limits={"bytes": 1}), file(limits={"bytes": 0})),
    (file(limits={"bytes": 10**18}), file(limits={"bytes": 10**18 + 1})),
    (flow(cc="x" * 15), flow(cc="x" * 16)),
    (flow(sender=1), flow(sender=0)),
    (flow(sender=16), flow(sender=17)),
    (flow(start_s=0), flow(start_s=-0.1)),
    (flow(start_s=59.9), flow(start_s=60)),
    (flow(probe={"every_ms": 20}), flow(probe={"every_ms": 19})),
    (flow(probe={"every_ms": 1000}), flow(probe={"every_ms": 1001})),
    (flow(pacing_rate_bps=8), flow(pacing_rate_bps=7)),
    (flow(pacing_rate_bps=10**12), flow(pacing_rate_bps=10**12 + 1)),
    (flow(options={"a": 2**63 - 1}), flow(options={"a": 2**63})),
    (flow(options={"a": 1 - 2**63}), flow(options={"a": -(2**63)})),
    (flow(options={"a": "text"}), flow(options={"a": ["list"]})),
    (
        file(conditions=[{"name": "a", "flows": [{}] * 16}]),
        file(conditions=[{"name": "a", "flows": [{}] * 17}]),
    ),
    (
        file(stop={"bytes": 1}, conditions=[{"name": "a", "flows": [{"start_s": 86_400}]}]),
        file(stop={"bytes": 1}, conditions=[{"name": "a", "flows": [{"start_s": 86_401}]}]),
    ),
]


@pytest.mark.parametrize(("allowed", "refused"), ALLOWED_AND_NOT)
def test_a_campaign_file_is_read_up_to_each_bound(allowed: dict[str, Any], refused: dict[str, Any]) -> None:
    assert isinstance(find_campaign(allowed), Campaign)
    problems = find_campaign(refused)
    assert isinstance(problems, list)
    assert len(problems) == 1


def test_the_schema_takes_and_refuses_the_same() -> None:
    """What no key can know by itself, a schema cannot either: these are judged after it."""
    judge = jsonschema_rs.validator_for(campaign_schema())
    beyond = {"cycles", "duration_h", "options", "start_s"}
    for allowed, refused in ALLOWED_AND_NOT:
        assert judge.is_valid(allowed), allowed
        if not judge.is_valid(refused):
            continue
        assert any(word in str(refused) for word in beyond), refused


def test_the_documented_keys_are_those_of_the_schema() -> None:
    assert campaign_reference.LIST.read_text() == campaign_reference.reference(), (
        f"write it again: {campaign_reference.COMMAND}"
    )
