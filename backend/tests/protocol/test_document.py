"""docs/agent-protocol.md names every field of every message, where it says what the message is for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from downlink.actions.runs.outcomes import BAD_ENDS
from downlink.domain.runs.run import Reason
from downlink.protocol import chunks, events, facts, orders, outcomes, poll

DOCS = Path(__file__).resolve().parents[3] / "docs"
GO_MESSAGES = DOCS.parent / "agents" / "internal" / "server" / "protocol" / "messages.go"
PAGE = (DOCS / "agent-protocol.md").read_text()
SECTIONS = {part.split(".", 1)[0]: part for part in PAGE.split("\n## ")[1:]}
# What every order or event has is said once, above its table.
ORDERS = {
    "go": orders.GoOrder,
    "abort": orders.AbortOrder,
    "upload": orders.UploadOrder,
    "discard": orders.DiscardOrder,
}
EVENTS = {
    "ready": events.ReadyEvent, "failed": events.FailedEvent, "finished": events.FinishedEvent,
    "restored": events.RestoredEvent, "uploaded": events.UploadedEvent,
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
        ("1", facts.JoinRequest), ("1", facts.JoinResponse), ("1", facts.Host), ("1", facts.PolicyFacts),
        ("1", facts.MonthFacts), ("2", poll.PollRequest),
        ("2", poll.PollResponse), ("2", poll.SpoolEntry), ("2", poll.RunProgress), ("2", poll.UploadProgress),
        ("2", facts.ControlOption), ("3", orders.PrepareOrder), ("3", orders.Sampling), ("3", orders.FlowOrder),
        ("3", orders.TcpTransport), ("3", orders.SplitTransport), ("3", orders.IntcpTransport), ("3", orders.Peer),
        ("3", orders.Neighbour), ("3", orders.Offer), ("3", orders.RunBudget), ("6", outcomes.WrongAt), ("6", outcomes.Delivery),
        ("6", outcomes.SiteTable),
        ("6", outcomes.FlowOutcome), ("6", outcomes.HystartExits), ("6", chunks.ChunkStored), ("6", outcomes.LinkOutcome),
        ("6", outcomes.LinkLoss),
        ("6", chunks.ChunksAnswer), ("6", chunks.ChunkAnswer),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)  # fmt: skip
def test_a_section_names_every_field_of_its_messages(section: str, model: type[BaseModel]) -> None:
    assert set(model.model_fields) - named(SECTIONS[section]) - {"kind", "lease"} == set()


def test_section_7_lists_the_reasons_and_go_writes_no_other() -> None:
    assert re.findall(r"`(\w+)`", SECTIONS["7"]) == [reason.value for reason in Reason]
    assert go_constants("Reason") < {reason.value for reason in Reason}


def test_the_endings_of_a_flow_are_those_of_the_document_and_of_go() -> None:
    endings = set(get_args(outcomes.FlowOutcome.model_fields["ended"].annotation))
    line = next(line for line in SECTIONS["6"].splitlines() if line.startswith("- `ended`:"))
    assert set(re.findall(r"`(\w+)`", line)) - {"ended"} == endings == go_constants("Ended")
    assert {ended for _, ended in BAD_ENDS} == endings - {"stop_rule"}, (
        "each other ending condemns its run at some point"
    )


def go_constants(kind: str) -> set[str]:
    """The values of the constants of this type in the agents' messages."""
    return set(re.findall(rf'^\t{kind}\w+ +{kind} = "(\w+)"$', GO_MESSAGES.read_text(), re.MULTILINE))


@pytest.mark.parametrize("kind", ORDERS)
def test_the_row_of_an_order_names_its_fields(kind: str) -> None:
    assert set(ORDERS[kind].model_fields) - named(row("2", kind)) - {"kind", "run_id", "attempt", "lease"} == set()


@pytest.mark.parametrize("kind", EVENTS)
def test_the_row_of_an_event_names_its_fields(kind: str) -> None:
    assert set(EVENTS[kind].model_fields) - named(row("5", kind)) - {"kind", "attempt", "at", "lease"} == set()


def test_the_rows_of_a_poll_are_its_fields() -> None:
    table = SECTIONS["2"].split("Orders (")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(poll.PollRequest.model_fields)


def test_every_order_names_its_run_and_attempt() -> None:
    said = SECTIONS["2"].split("Orders (")[1].split("| kind |")[0]
    assert {"run_id", "attempt"} <= named(said)
    assert all({"run_id", "attempt"} <= set(model.model_fields) for model in ORDERS.values())


def test_a_file_that_the_page_names_is_there() -> None:
    golden = {path.name for path in (DOCS / "protocol").iterdir()}
    assert {name for name in re.findall(r"`(\w+\.(?:json|txt))`", PAGE) if name not in golden} == set()
