"""The golden messages of docs/protocol, decoded and encoded again; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from downlink.protocol.chunks import ChunksAnswer
from downlink.protocol.events import AnyEvent
from downlink.protocol.facts import JoinRequest, JoinResponse
from downlink.protocol.observations import ObservationsAnswer, ObservationsHold, ObservationsRequest
from downlink.protocol.poll import PollRequest, PollResponse

GOLDEN = Path(__file__).resolve().parents[3] / "docs" / "protocol"
TYPES: dict[str, Any] = {
    "chunks_answer": ChunksAnswer,
    "event": AnyEvent, "join_request": JoinRequest, "join_response": JoinResponse, "observations_request": ObservationsRequest,
    "observations_answer": ObservationsAnswer, "observations_hold": ObservationsHold,
    "order": PollResponse,
    "poll_request": PollRequest, "poll_response": PollResponse,
}  # fmt: skip
FILES = sorted(path for path in GOLDEN.glob("*.json") if path.stem != "chunk_header")


def adapter(stem: str) -> TypeAdapter[Any]:
    return TypeAdapter(next(kind for prefix, kind in TYPES.items() if stem.startswith(prefix)))


def golden(stem: str) -> dict[str, Any]:
    message: dict[str, Any] = json.loads((GOLDEN / f"{stem}.json").read_text())
    return message


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_message_survives_decoding_and_encoding(path: Path) -> None:
    kind = adapter(path.stem)
    message = json.loads(path.read_text())
    assert json.loads(kind.dump_json(kind.validate_python(message))) == message


def test_every_golden_message_is_covered() -> None:
    assert len(FILES) >= 14


@pytest.mark.parametrize(
    ("stem", "change"),
    [
        ("join_request", {"name": "a b"}),
        ("join_request", {"name": "x" * 64}),
        ("join_request", {"name": "evil\x1b[2J"}),
        ("poll_request", {"wait_s": 26}),
        ("poll_request", {"status": "asleep"}),
        ("poll_request", {"detail": "bell \x07"}),
        ("poll_request", {"detail": "x" * 2001}),
        ("poll_request", {"spool": [{"run_id": "01890a5d-ac96-774b-bcce-b302099a8000", "attempt": 1, "chunks": -1}]}),
        ("event_ready", {"data_address": "example.org/path"}),
        ("event_ready", {"settings_before": {"a" * 101: "1"}}),
        ("event_ready", {"fingerprint": {"a": {"b": {"c": {"d": 1}}}}}),
        ("event_ready", {"fingerprint": {"a": "\x00"}}),
        ("event_failed", {"reason": "because"}),
        ("event_restored", {"differences": [0] * 65}),
    ],
)
def test_what_an_agent_may_not_say(stem: str, change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        adapter(stem).validate_python({**golden(stem), **change})


@pytest.mark.parametrize("value", [-1, 2**63, float("nan"), float("inf"), "1"])
def test_outcomes_hold_plain_bounded_numbers(value: Any) -> None:
    message = golden("event_finished")
    message["flows"][0]["lateness_max_us"] = -1 if value == "1" else value
    if value == 2**63:
        message["flows"][0]["app_bytes"] = value
    with pytest.raises(ValidationError):
        adapter("event_finished").validate_python(message)


def test_a_newer_agent_may_say_more() -> None:
    message = {**golden("poll_request"), "mood": "good"}
    assert adapter("poll_request").validate_python(message)


def test_no_key_of_a_hop_is_shown_where_an_order_is_logged() -> None:
    order = adapter("order_prepare_relay").validate_python(golden("order_prepare_relay"))
    other = adapter("order_prepare_intcp").validate_python(golden("order_prepare_intcp"))
    assert not [key for key in ("00112233", "ffeeddcc", "01234567") if key in repr(order) + repr(other)]
