"""A run's numbers are held against what its campaign expects."""

from __future__ import annotations

from datetime import datetime

from downlink.domain.campaigns.expectation import Check, checks, sentence, unmet
from downlink.domain.results.metric import LINKED, METRICS
from downlink.domain.runs.run import RunState
from downlink.storage.campaigns import campaign_store
from downlink.storage.notices import events
from downlink.storage.results.judgement_store import Found
from downlink.storage.tables import LinkPhase, Metric, Run
from downlink.storage.unit import Unit


def note_checks(unit: Unit, run: Run, rows: Found, now: datetime) -> None:
    """Note which of a complete run's numbers lie outside, and log it: once per run and expectation, however often it is analysed.

    Other runs are left alone: their numbers do not count anywhere.
    """
    if run.state != RunState.COMPLETE:
        return
    expected = campaign_store.campaign_of(campaign_store.find_campaign(unit, run.campaign_id)).expect
    if not expected:
        return
    made = checks(expected, run.condition, run.link, _numbers(rows))
    run.checks = [each.to_dict() for each in made]
    _log(unit, run, made, now)


def _log(unit: Unit, run: Run, made: list[Check], now: datetime) -> None:
    outside = unmet(made)
    logged = events.logged_expectations(unit, run.id) if outside else set()
    for expectation, own in outside.items():
        if expectation not in logged:
            data = {"expectation": expectation, "detail": sentence(own)}
            events.add_event(unit, now, "unexpected", data, run.campaign_id, run.id)


def _numbers(rows: Found) -> dict[tuple[str, int | None], float]:
    """Return the numbers of the flows and of the link, by phase and metric; without those that a trace does not give."""
    flows = {(f"{row['phase']}.{name}", row["flow"]): row[name] for row in rows[Metric] for name in METRICS}
    link = {(f"{row['phase']}.{name}", None): row[name] for row in rows[LinkPhase] for name in LINKED}
    return {key: value for key, value in {**flows, **link}.items() if value is not None}
