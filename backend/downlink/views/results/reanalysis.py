"""Progress of a campaign's re-analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from downlink.analysis import ANALYSIS_VERSION
from downlink.domain.doc import Doc
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import reanalysis_store, report_store
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class Reanalysis:
    """The progress of a re-analysis."""

    campaign_id: UUID
    analysis_version: Annotated[str, Doc("The server's own version, used to judge the runs")]
    state: Annotated[Literal["running", "idle"], Doc("running until every run is done and the report is made")]
    runs: Annotated[int, Doc("Analysed runs of the campaign")]
    done: int
    outdated: Annotated[int, Doc("Runs whose numbers were last computed by another version")]


def campaign_reanalysis(unit: Unit, campaign_id: UUID) -> Reanalysis:
    """Running until every run is done and the report shows it."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    counts = reanalysis_store.counts(unit, campaign_id, ANALYSIS_VERSION)
    is_running = counts.waiting > 0 or report_store.report_version(unit, campaign_id) < campaign.report_wanted
    done = counts.runs - counts.waiting
    return Reanalysis(
        campaign_id, ANALYSIS_VERSION, "running" if is_running else "idle", counts.runs, done, counts.outdated
    )
