"""Progress of a campaign's re-analysis."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from downlink.analysis import ANALYSIS_VERSION
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import reanalysis_store, report_store
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class Reanalysis:
    """analysis_version: this server's. runs: analysed ones. done: those that wait for nothing. outdated: judged by another version."""

    campaign_id: UUID
    analysis_version: str
    state: str
    runs: int
    done: int
    outdated: int


def campaign_reanalysis(unit: Unit, campaign_id: UUID) -> Reanalysis:
    """Running until every run is done and the report shows it."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    found = reanalysis_store.counts(unit, campaign_id, ANALYSIS_VERSION)
    is_running = found.waiting > 0 or report_store.report_version(unit, campaign_id) < campaign.report_wanted
    done = found.runs - found.waiting
    state = "running" if is_running else "idle"
    return Reanalysis(campaign_id, ANALYSIS_VERSION, state, found.runs, done, found.outdated)
