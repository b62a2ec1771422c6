"""Bodies of requests: numbers and truth values are taken as they are written."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from downlink.api.schemas.access import TokenBody
from downlink.api.schemas.base import Body
from downlink.api.schemas.channels import ChannelChange
from downlink.api.schemas.imports import ImportFields
from downlink.api.schemas.links import LinkChange, QuickTestBody
from downlink.api.schemas.retention import RetentionBody
from downlink.api.schemas.sweeps import SweepBody
from downlink.api.schemas.triggers import CallBody

SWEEP = {"detector": "search", "version": "3.1"}
TOKEN = {"name": "a", "scopes": ["read"]}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (RetentionBody, {"traces_days": True}),
        (RetentionBody, {"traces_days": "5"}),
        (RetentionBody, {"is_pinned": 1}),
        (RetentionBody, {"is_pinned": "yes"}),
        (LinkChange, {"allowance_bytes": True}),
        (LinkChange, {"reset_day": True}),
        (LinkChange, {"base_rtt_ms": "600"}),
        (QuickTestBody, {"sender": True}),
        (ChannelChange, {"is_enabled": "false"}),
        (ChannelChange, {"failures_in_row": "3"}),
        (TokenBody, {**TOKEN, "expires_in_days": True}),
        (SweepBody, {**SWEEP, "grid": {"threshold": [True]}}),
        (CallBody, {"value": True}),
        (CallBody, {"value": "0.5"}),
    ],
)
def test_a_text_or_a_truth_value_is_no_number(kind: type[Body], said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate(said)


def test_numbers_are_taken_as_programs_write_them() -> None:
    assert LinkChange.model_validate({"allowance_bytes": 5e9}).allowance_bytes == 5_000_000_000
    assert LinkChange.model_validate({"base_rtt_ms": 600}).base_rtt_ms == 600
    assert CallBody.model_validate_json('{"value": 1}').value == 1
    assert SweepBody.model_validate({**SWEEP, "grid": {"threshold": [30, 2.5]}}).grid == {"threshold": [30, 2.5]}
    assert TokenBody.model_validate({**TOKEN, "expires_in_days": None}).expires_in_days is None
    assert ImportFields.model_validate({"skip_refused": "true"}).skip_refused  # a form has texts alone
