"""What a terminal says of a campaign that goes on until its means are known, and of its preview."""

from __future__ import annotations

from typing import Any

import pytest

from downlink.cli.precision import print_precision, say_forecast

ASKED = {"metric": "throughput_bps", "phase": "steady", "flow": 1, "half_width_percent": 5.0, "most_cycles": 60}
SIDE = {"link": "geo", "runs": 12, "mean": 98_765_432.0, "half_width": 4e6}


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_widths_stand_beside_what_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    widths = [
        {**SIDE, "condition": "Cubic", "half_width_percent": 4.05, "is_narrow": True},
        {**SIDE, "condition": "BBR", "runs": 3, "half_width": None, "half_width_percent": None, "is_narrow": False},
    ]
    found: dict[str, Any] = {"asked": ASKED, "cycles": 12, "widths": widths, "ended": "precise_enough"}
    print_precision(found)
    text = said(capsys)
    assert "Until Throughput (steady) within ± 5 %, at most 60 cycles: 12 have begun." in text
    assert "It ended because every condition is that narrow." in text
    assert "mean, Mb/s" in text
    assert "geo Cubic 12 98.77 4.05 yes" in text
    assert "geo BBR 3 98.77 not yet" in text
    print_precision({**found, "asked": {**ASKED, "flow": 2}, "ended": None})
    assert "(steady, flow 2) within ± 5 %, at most 60 cycles: 12 have begun. link" in said(capsys)


def test_a_preview_says_how_many_cycles_to_expect_and_by_whom(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = {"most_cycles": 60, "cycles": None, "half_width_percent": None, "pilot": None, "pilot_ended_at": None}
    say_forecast(nothing)
    assert said(capsys).startswith("At most 60 cycles, for which this is. No complete campaign")
    known = {"cycles": 23, "half_width_percent": 4.93, "pilot": "Pilot", "pilot_ended_at": "2026-11-25T12:00:00Z"}
    say_forecast({**nothing, **known})
    assert "expected 23, ± 4.9 % then, by campaign Pilot of 2026-11-25" in said(capsys)
