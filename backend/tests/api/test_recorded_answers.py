"""Answers that the dashboard's tests use are this server's own: RECORD_ANSWERS=1 writes them anew when they have changed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.lab import Lab

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "frontend" / "src" / "testing" / "recorded"
GOLDEN_LINE = (ROOT / "docs" / "protocol" / "join_command.txt").read_text()
EXAMPLE_TOKEN = re.findall(r"dle_\S+", GOLDEN_LINE)[0]
# What differs from one recording to the next.
VARYING = {
    r"dle_[\w-]{43}": EXAMPLE_TOKEN,
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z": "2026-01-02T04:08:20.000Z",
    r"http://testserver": "https://downlink.example",
}


def enrolment(lab: Lab) -> Any:
    return lab.call("POST", "/agents/enrolments", {"name": "viasat-client"})


@pytest.mark.parametrize("record", [enrolment])
def test_the_recorded_answer_is_what_the_server_says(lab: Lab, record: Callable[[Lab], Any]) -> None:
    text = json.dumps(record(lab), indent=2, ensure_ascii=False) + "\n"
    for pattern, example in VARYING.items():
        text = re.sub(pattern, lambda _, said=example: said, text)
    file = FOLDER / f"{record.__name__}.json"
    if os.environ.get("RECORD_ANSWERS"):
        file.write_text(text)
    assert text == file.read_text(), (
        "record it anew: RECORD_ANSWERS=1 pytest backend/tests/api/test_recorded_answers.py"
    )
