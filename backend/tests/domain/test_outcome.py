"""What agents report of a run, of any version."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from downlink.domain.runs.outcome import FlowOutcome, LinkLoss, LinkOutcome, Route

FIRST_VERSION = '{"end": "sender", "flow": 1, "ended": "stop_rule", "chunks": 1, "detail": null, "app_bytes": 7}'
WITH_PARTS = (
    '{"sites": {"rows": 3, "chunks": 1}, "way": {"source": "10.0.0.2", "interface": "sat"}, "delivery": {"zero_us": -1},'
    ' "samples": 123456789012345678901234567890, "new": {"deep": [1, null]}, "kept": 1, "PARTS": 2, "hystart_exits": {"train": 0}}'
)


@pytest.mark.parametrize("stored", ["{}", FIRST_VERSION, WITH_PARTS])
def test_an_outcome_is_written_as_it_was_read(stored: str) -> None:
    """Key for key in their order: what is absent, null, unknown here, or longer than 64 bits included."""
    assert json.dumps(FlowOutcome.read(json.loads(stored)).to_json()) == stored


def test_what_was_not_reported_is_none_and_not_zero() -> None:
    outcome = FlowOutcome.read(json.loads(FIRST_VERSION))
    assert (outcome.samples, outcome.first_byte_us, outcome.point, outcome.detail) == (None, None, None, None)
    assert (outcome.announced_chunks, outcome.app_bytes) == (1, 7)
    with pytest.raises(KeyError):
        _ = FlowOutcome.read({"samples": 4}).announced_chunks


def test_parts_are_objects_themselves() -> None:
    outcome = FlowOutcome.read(json.loads(WITH_PARTS))
    assert outcome.sites
    assert outcome.delivery
    assert outcome.way
    assert (outcome.sites.samples, outcome.sites.announced_chunks) == (3, 1)
    assert (outcome.delivery.samples, outcome.delivery.zero_us) == (None, -1)
    assert (outcome.way.interface, outcome.way.next_hop) == ("sat", None)
    lost = [{"flow": None, "way": "up", "cause": "noise", "packets": 2}]
    link = LinkOutcome.read({"lost": lost, "counted_flows": [1]})
    assert link.losses
    assert (link.losses[0].flow, link.losses[0].packets) == (None, 2)
    assert link.to_json() == {"lost": lost, "counted_flows": [1]}
    assert LinkOutcome.read({"lost": []}).losses == []
    assert LinkOutcome.read({}).losses is None, "not counted"


def test_a_field_is_replaced_in_its_place_and_the_rest_stays() -> None:
    outcome = FlowOutcome.read({"peer_address": "192.0.2.1:5", "new": 1, "way": {"source": "10.0.0.2", "metric": 3}})
    assert outcome.way
    changed = replace(outcome, peer_address="192.0.2.0/24:5", way=replace(outcome.way, source="10.0.0.0/24"))
    assert json.dumps(changed.to_json()) == (
        '{"peer_address": "192.0.2.0/24:5", "new": 1, "way": {"source": "10.0.0.0/24", "metric": 3}}'
    )
    assert outcome.way == Route.read({"source": "10.0.0.2", "metric": 3}), "frozen"


def test_outcomes_that_differ_in_what_is_not_read_here_differ() -> None:
    assert FlowOutcome.read({"samples": 1, "new": 1}) != FlowOutcome.read({"samples": 1, "new": 2})
    assert FlowOutcome.read({"samples": 1}) == FlowOutcome.read({"samples": 1})


@pytest.mark.parametrize("stored", [None, [], "stop_rule", 1])
def test_only_an_object_is_an_outcome(stored: object) -> None:
    with pytest.raises(TypeError, match="an outcome is an object"):
        FlowOutcome.read(stored)


def test_a_loss_without_its_number_is_not_read_as_none() -> None:
    loss = LinkLoss.read({"flow": 1, "way": "down", "cause": "noise"})
    with pytest.raises(AttributeError):
        _ = loss.packets
