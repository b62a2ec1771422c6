"""docs/agent-protocol.md names every field of every message, where it says what the message is for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from downlink.protocol import messages

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "agent-protocol.md").read_text()
SECTIONS = {part.split(".", 1)[0]: part for part in PAGE.split("\n## ")[1:]}
# What every order or event has is said once, above its table.
ORDERS = {
    "go": messages.GoOrder,
    "abort": messages.AbortOrder,
    "upload": messages.UploadOrder,
    "discard": messages.DiscardOrder,
}
EVENTS = {
    "ready": messages.ReadyEvent, "failed": messages.FailedEvent, "finished": messages.FinishedEvent,
    "restored": messages.RestoredEvent, "uploaded": messages.UploadedEvent,
}  # fmt: skip


def named(text: str) -> set[str]:
    """Every word within backticks."""
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", text))))


def row(section: str, name: str) -> str:
    found = re.search(rf"^\| `{name}` \|.*$", SECTIONS[section], re.MULTILINE)
    assert found, f"section {section} has no row for {name}"
    return found[0]


@pytest.mark.parametrize(
    ("section", "model"),
    [
        ("1", messages.JoinRequest), ("1", messages.JoinResponse), ("1", messages.Host), ("1", messages.PolicyFacts),
        ("1", messages.MonthFacts), ("2", messages.PollRequest),
        ("2", messages.PollResponse), ("2", messages.SpoolEntry), ("2", messages.RunProgress), ("2", messages.UploadProgress),
        ("2", messages.ControlOption), ("3", messages.PrepareOrder), ("3", messages.Sampling), ("3", messages.FlowOrder),
        ("3", messages.TcpTransport), ("3", messages.SplitTransport), ("3", messages.IntcpTransport), ("3", messages.Peer),
        ("3", messages.Neighbour), ("3", messages.Offer), ("3", messages.RunBudget), ("6", messages.WrongAt), ("6", messages.Delivery),
        ("6", messages.SiteTable),
        ("6", messages.FlowOutcome), ("6", messages.HystartExits), ("6", messages.ChunkStored), ("6", messages.LinkOutcome),
        ("6", messages.LinkLoss),
        ("6", messages.ChunksAnswer), ("6", messages.ChunkAnswer),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)  # fmt: skip
def test_a_section_names_every_field_of_its_messages(section: str, model: type[BaseModel]) -> None:
    assert set(model.model_fields) - named(SECTIONS[section]) - {"kind", "lease"} == set()


@pytest.mark.parametrize("kind", ORDERS)
def test_the_row_of_an_order_names_its_fields(kind: str) -> None:
    assert set(ORDERS[kind].model_fields) - named(row("2", kind)) - {"kind", "run_id", "attempt", "lease"} == set()


@pytest.mark.parametrize("kind", EVENTS)
def test_the_row_of_an_event_names_its_fields(kind: str) -> None:
    assert set(EVENTS[kind].model_fields) - named(row("5", kind)) - {"kind", "attempt", "at", "lease"} == set()


def test_the_rows_of_a_poll_are_its_fields() -> None:
    table = SECTIONS["2"].split("Orders (")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(messages.PollRequest.model_fields)


def test_every_order_names_its_run_and_attempt() -> None:
    said = SECTIONS["2"].split("Orders (")[1].split("| kind |")[0]
    assert {"run_id", "attempt"} <= named(said)
    assert all({"run_id", "attempt"} <= set(model.model_fields) for model in ORDERS.values())


def test_a_file_that_the_page_names_is_there() -> None:
    golden = {path.name for path in (DOCS / "protocol").iterdir()}
    assert {name for name in re.findall(r"`(\w+\.(?:json|txt))`", PAGE) if name not in golden} == set()
