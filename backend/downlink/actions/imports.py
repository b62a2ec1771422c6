"""Files of other tools become a campaign of their own (docs/imports.md): all of them or, when one is refused, none."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, BinaryIO
from uuid import UUID

from downlink.actions.imported_runs import LINK, SealedFile, add_imported_run, seal_file
from downlink.domain.campaign import Campaign, Limits, Phases, Timetable
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.plan import Estimate
from downlink.importers.files import import_file
from downlink.importers.model import refused
from downlink.storage import campaigns, tables
from downlink.storage import runs as run_rows
from downlink.storage.events import add_event
from downlink.storage.unit import Unit, try_lock

MAX_DURATION_S = 86_400.0
MAX_NAME_CHARS = 200
NamedFile = tuple[str, BinaryIO]


@dataclass(frozen=True)
class Target:
    """Where the files go: an imported campaign by its id, or a new one of this name. condition: of all the files' runs."""

    campaign_id: UUID | None = None
    name: str | None = None
    condition: str | None = None


@dataclass(frozen=True)
class ImportedRun:
    """What became of one file."""

    run_id: UUID
    file: str
    source: str
    sha256: str
    flows: int


def import_files(
    unit: Unit, files: Iterable[NamedFile], target: Target, now: datetime
) -> tuple[UUID, list[ImportedRun]]:
    """Check every file, then keep them all; the campaign's id and its new runs, which wait for analysis.

    Raises InvalidError `import_refused`, whose details hold `refused`, a list of {file, reason}; ConflictError when the
    campaign was not imported, or another import is under way (files take memory to read).
    """
    if not try_lock(unit, "imports"):
        raise ConflictError("import_under_way", "Another import is under way; try again when it has ended.")
    campaign = None if target.campaign_id is None else _imported_campaign(unit, target.campaign_id)
    held = [] if campaign is None else run_rows.imported_runs(unit, campaign.id)
    sealed = _checked(files, {source["sha256"]: source["file"] for _, source in held})
    if campaign is None:
        campaign = _new_campaign(unit, target.name or f"Imported {now:%Y-%m-%d %H:%M}", now)
    return campaign.id, _add(unit, campaign, sealed, target.condition, Counter(name for name, _ in held), now)


def _imported_campaign(unit: Unit, campaign_id: UUID) -> tables.Campaign:
    campaign = campaigns.find_campaign(unit, campaign_id, is_locked=True)
    if campaign.origin != "imported":
        raise ConflictError(
            "campaign_not_imported",
            f"{campaign.name} was not imported; imported runs stay among themselves. Leave campaign_id out for a new campaign.",
        )
    return campaign


def _checked(files: Iterable[NamedFile], known: Mapping[str, str]) -> list[SealedFile]:
    """All files, read one at a time; one InvalidError that names every refusal."""
    sealed: list[SealedFile] = []
    there, refusals = dict(known), []
    for name, content in files:
        try:
            file = _read(name, content, there)
        except InvalidError as error:
            refusals.append(error)
        else:
            there[file.sha256] = file.name
            sealed.append(file)
    if refusals:
        said = [*(error.message for error in refusals), "Nothing was imported."]
        details = [{key: error.details[key] for key in ("file", "reason")} for error in refusals]
        raise InvalidError("import_refused", "\n".join(said), {"refused": details})
    return sealed


def _read(name: str, content: BinaryIO, there: Mapping[str, str]) -> SealedFile:
    shown = _shown(name)
    trace = import_file(shown, content.read())
    if trace.sha256 in there:
        raise refused(shown, f"it is the same file as {there[trace.sha256]}")
    file = seal_file(trace)
    if file.duration_s > MAX_DURATION_S:
        raise refused(shown, "it lasts longer than a day")
    return file


def _shown(name: str) -> str:
    """A file's own name, without folders and without what cannot be shown or stored."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in base if unicodedata.category(c)[0] != "C")[-MAX_NAME_CHARS:] or "a file without a name"


def _new_campaign(unit: Unit, name: str, now: datetime) -> tables.Campaign:
    """Complete from the start: there is nothing to launch, and its conditions come with its files."""
    spec = Campaign(name, "", (LINK,), Phases(), Timetable(cycles=1), Limits(attempts=1), ())
    campaign = tables.Campaign(
        name=name,
        notes="",
        state="complete",
        is_recorded=False,
        origin="imported",
        source="",
        spec=spec.to_dict(),
        estimate=asdict(Estimate(runs=0, bytes=0, duration_s=0.0)),
        created_at=now,
        ended_at=now,
        report_wanted=0,
    )
    campaigns.add_campaign(unit, campaign)
    add_event(unit, now, "campaign", {"campaign_state": "complete"}, campaign.id)
    return campaign


def _add(
    unit: Unit,
    campaign: tables.Campaign,
    files: Sequence[SealedFile],
    condition: str | None,
    cycles: Counter[str],
    now: datetime,
) -> list[ImportedRun]:
    """A run for each file, in their order: the nth file of a condition is its cycle n."""
    conditions = {each["name"]: each for each in campaign.spec["conditions"]}
    added = []
    for file in files:
        own = file.condition(condition)
        conditions.setdefault(own.name, own.to_dict())
        cycles[own.name] += 1
        place = (own.name, cycles[own.name], list(conditions).index(own.name) + 1)
        run_id = add_imported_run(unit, campaign.id, file, *place, now)
        added.append(ImportedRun(run_id, file.name, file.source, file.sha256, len(file.controls)))
    _describe(campaign, list(conditions.values()), max(cycles.values()), files)
    return added


def _describe(
    campaign: tables.Campaign, conditions: list[dict[str, Any]], cycles: int, files: Sequence[SealedFile]
) -> None:
    """Keep the campaign's account of itself in step with its runs."""
    timetable = {**campaign.spec["timetable"], "cycles": cycles}
    campaign.spec = {**campaign.spec, "conditions": conditions, "timetable": timetable}
    campaign.source += "".join(f"{file.sha256}  {file.name}\n" for file in files)
    estimate = campaign.estimate
    campaign.estimate = {
        "runs": estimate["runs"] + len(files),
        "bytes": estimate["bytes"] + sum(map(_carried, files)),
        "duration_s": estimate["duration_s"] + sum(file.duration_s for file in files),
    }


def _carried(file: SealedFile) -> int:
    """The bytes of a file's flows; of a flow seen at both ends the larger count."""
    most: dict[int, int] = {}
    for trace in file.traces:
        most[trace.flow] = max(most.get(trace.flow, 0), trace.outcome.get("app_bytes", 0))
    return sum(most.values())
