"""Files of other tools as runs (docs/imports.md)."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field, model_validator

from downlink.api.schemas.base import Body, Name, Shape


class ImportFields(Body):
    """What a form may say beside its files. An empty field is one that was left out."""

    campaign: Name | None = Field(
        default=None, description="Name of a new campaign; by default `Imported` and the date"
    )
    campaign_id: UUID | None = Field(default=None, description="An imported campaign that the files are added to")
    condition: Name | None = Field(
        default=None, description="Condition of all the files; by default each file's congestion control or its source"
    )

    @model_validator(mode="after")
    def _new_or_there(self) -> ImportFields:
        if self.campaign is not None and self.campaign_id is not None:
            raise ValueError("give either campaign (a new one) or campaign_id (one that is there)")
        return self


class ImportedRun(Shape):
    """What became of one file."""

    run_id: UUID
    file: str
    source: str = Field(description="iperf3, ndt7, tcp-info, flent, ack-csv or downlink-csv")
    sha256: str
    flows: int


class ImportAnswer(Shape):
    campaign_id: UUID
    runs: list[ImportedRun]
