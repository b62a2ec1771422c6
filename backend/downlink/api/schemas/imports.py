"""Files of other tools as runs (docs/imports.md)."""

from __future__ import annotations

from uuid import UUID

from pydantic import AwareDatetime, Field

from downlink.actions.campaigns.imports import ImportedRun
from downlink.api.schemas.base import Form, Name, Shape


class ImportFields(Form):
    """Fields of a form beside its files. An empty field is one that was left out."""

    campaign: Name | None = Field(
        default=None, description="Name of a new campaign; by default `Imported` and the date"
    )
    campaign_id: UUID | None = Field(default=None, description="An imported campaign that the files are added to")
    condition: Name | None = Field(
        default=None,
        description="Condition of all the files; by default each file's test, congestion control and direction",
    )
    skip_refused: bool = Field(
        default=False, description="Leave out what is refused and import the rest; by default one refusal stops all"
    )
    strict: bool = Field(
        default=False,
        description="Refuse a test of which a part cannot be used (a flow, a row); by default such parts are left out and named",
    )
    started_at: AwareDatetime | None = Field(
        default=None, description="When the one test began whose file does not say"
    )


class RefusedFile(Shape):
    """A file, or a test in it, that was left out."""

    file: str
    reason: str


class ImportAnswer(Shape):
    campaign_id: UUID
    runs: list[ImportedRun]
    refused: list[RefusedFile] = Field(description="Left out by `skip_refused`; else one refusal stops the import")
