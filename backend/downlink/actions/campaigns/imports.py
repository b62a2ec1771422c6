"""Files of other tools become a campaign of their own (docs/imports.md): all of them or, when one is refused, none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from math import floor
from typing import Annotated, BinaryIO
from uuid import UUID

from downlink.actions.campaigns.imported_runs import LINK, add_imported_run
from downlink.actions.own_process import ApartError, call_apart
from downlink.domain.campaigns.campaign import Campaign, Condition, Limits, Phases
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.plan import Estimate
from downlink.domain.campaigns.timetable import Timetable
from downlink.domain.doc import Doc
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.partial import told
from downlink.importers.file_checks import CheckedFiles, check_opened
from downlink.importers.packed_test import SealedFile
from downlink.importers.value_checks import EARLIEST
from downlink.storage import tables
from downlink.storage.campaigns import campaign_store
from downlink.storage.notices.events import add_event
from downlink.storage.runs import run_store
from downlink.storage.unit import Unit, UnitFactory

READING_BYTES = 640 * 2**20
"""Memory to read files in, beside what the api itself takes of its 1 GiB (docker-compose.yml)."""
LEAST_TEST_S = 4.0
"""A shorter test says nothing of phases."""
NamedFile = tuple[str, BinaryIO]


@dataclass(frozen=True)
class Target:
    """The target of the files: an imported campaign by its id, or a new one of this name. condition: of all the files' runs.

    is_skipping: what is refused is left out, as long as something remains. owner_id: whose a new campaign is. is_strict: a test
    of which a part cannot be used is refused. started_at: of a test whose file does not say.
    """

    campaign_id: UUID | None = None
    name: str | None = None
    condition: str | None = None
    is_skipping: bool = False
    owner_id: UUID | None = None
    is_strict: bool = False
    started_at: datetime | None = None


@dataclass(frozen=True)
class ImportedRun:
    """The run that was made of one test."""

    run_id: UUID
    file: str
    source: Annotated[str, Doc("iperf3, ndt7, tcp-info, flent, ack-csv or downlink-csv")]
    sha256: str
    flows: int
    condition: str
    failure: Annotated[str | None, Doc("Why the test failed, as its file says; the run is a failed one")]
    partial: Annotated[list[str], Doc("Parts of the test that cannot be used: the first ten, and how many more")]


@dataclass(frozen=True)
class Imported:
    """The campaign, its new runs, which wait for analysis, and what was left out: {file, reason}."""

    campaign_id: UUID
    runs: list[ImportedRun]
    refused: list[dict[str, str]]


def import_files(units: UnitFactory, files: Sequence[NamedFile], target: Target, now: datetime) -> Imported:
    """Check every file, then keep them all or, where target allows it, those that are not refused.

    They are read in a process of their own, which has no more than READING_BYTES of memory, and without a transaction: what a
    stranger wrote can neither fill this process nor hold up others.

    Raises InvalidError `import_refused`, whose details hold `refused`, a list of {file, reason}; ConflictError when the
    campaign was not imported.
    """
    with units(is_read_only=True) as unit:
        known = _known(unit, target.campaign_id)
    checked = _read_apart(files, known, now, is_strict=target.is_strict)
    _refuse(checked, target.is_skipping)
    sealed = _begun(checked.sealed, target.started_at, now)
    with units() as unit:
        campaign = None if target.campaign_id is None else _imported_campaign(unit, target.campaign_id, is_locked=True)
        held = [] if campaign is None else run_store.imported_runs(unit, campaign.id)
        if len(held) != len(known):
            raise ConflictError("import_under_way", "Another import changed the campaign meanwhile; try again.")
        if campaign is None:
            name = target.name or f"Imported {now:%Y-%m-%d %H:%M}"
            campaign = _new_campaign(unit, name, _phases(sealed), target.owner_id, now)
        added = _add(unit, campaign, sealed, target.condition, Counter(name for name, _ in held), now)
        return Imported(campaign.id, added, checked.reasons())


def _known(unit: Unit, campaign_id: UUID | None) -> list[tuple[str, str]]:
    """The digests of the campaign's tests, each with its file."""
    if campaign_id is None:
        return []
    campaign = _imported_campaign(unit, campaign_id)
    return [(source["sha256"], source["file"]) for _, source in run_store.imported_runs(unit, campaign.id)]


def _read_apart(
    files: Sequence[NamedFile], known: Sequence[tuple[str, str]], now: datetime, *, is_strict: bool
) -> CheckedFiles:
    """InvalidError `import_refused` where reading them takes more memory or time than it may."""
    opened = [(name, content.fileno()) for name, content in files]
    try:
        return call_apart(
            partial(check_opened, is_strict=is_strict), opened, dict(known), now,
            files=[number for _, number in opened], most_bytes=READING_BYTES,
        )  # fmt: skip
    except ApartError as error:
        message = f"The files cannot be read: {error}. Import them in several parts. Nothing was imported."
        refused = [{"file": name, "reason": str(error)} for name, _ in files]
        raise InvalidError("import_refused", message, {"refused": refused}) from error


def _imported_campaign(unit: Unit, campaign_id: UUID, *, is_locked: bool = False) -> tables.Campaign:
    campaign = campaign_store.find_campaign(unit, campaign_id, is_locked=is_locked)
    if campaign.origin != "imported":
        raise ConflictError(
            "campaign_not_imported",
            f"{campaign.name} was not imported; imported runs stay among themselves. Leave campaign_id out for a new campaign.",
        )
    return campaign


def _refuse(checked: CheckedFiles, is_skipping: bool) -> None:
    """One InvalidError that names every refusal, unless they are to be left out and something remains."""
    if not checked.refusals or (is_skipping and checked.sealed):
        return
    sentences = [*(each.message for each in checked.refusals), "Nothing was imported."]
    raise InvalidError("import_refused", "\n".join(sentences), {"refused": checked.reasons()})


def _begun(files: Sequence[SealedFile], started_at: datetime | None, now: datetime) -> list[SealedFile]:
    """The tests, the one whose file does not say when it began with that moment. InvalidError where there is not one such test."""
    if started_at is None:
        return list(files)
    without = [file for file in files if file.started_at is None]
    if len(without) != 1:
        raise InvalidError(
            "start_of_which",
            f"A start is of one test, and {len(without)} of these {len(files)} do not say when they began. "
            "Import such a test by itself.",
        )
    if not EARLIEST <= started_at <= now:
        raise InvalidError("start_invalid", f"A test began between {EARLIEST:%Y-%m-%d} and now.")
    return [replace(file, started_at=file.started_at or started_at) for file in files]


def _phases(files: Sequence[SealedFile]) -> Phases:
    """Start-up and steady state that fit into the shortest test, so that they are never the same seconds."""
    known_s = [file.duration_s for file in files if file.failure is None and file.duration_s >= LEAST_TEST_S]
    return Phases.fitting(floor(min(known_s))) if known_s else Phases()


def _new_campaign(unit: Unit, name: str, phases: Phases, owner_id: UUID | None, now: datetime) -> tables.Campaign:
    """Complete from the start: there is nothing to launch, and its conditions come with its files."""
    spec = Campaign(name, "", (LINK,), phases, Timetable(cycles=1), Limits(attempts=1), ())
    campaign = tables.Campaign(
        name=name,
        notes="",
        state=CampaignState.COMPLETE,
        origin="imported",
        source="",
        spec=spec.to_dict(),
        estimate=asdict(Estimate(runs=0, bytes=0, duration_s=0.0)),
        created_at=now,
        ended_at=now,
        report_wanted=0,
        owner_id=owner_id,
    )
    campaign_store.add_campaign(unit, campaign)
    add_event(unit, now, "campaign", {"campaign_state": CampaignState.COMPLETE}, campaign.id)
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
    conditions = {each.name: each for each in campaign_store.campaign_of(campaign).conditions}
    added = []
    for file in files:
        own = file.condition(condition)
        conditions.setdefault(own.name, own)
        cycles[own.name] += 1
        slot = (own.name, cycles[own.name], list(conditions).index(own.name) + 1)
        run_id = add_imported_run(unit, campaign.id, file, *slot, now)
        about = (file.name, file.source, file.sha256, len(file.controls), own.name, file.failure, told(file.left_out))
        added.append(ImportedRun(run_id, *about))
    _describe(campaign, tuple(conditions.values()), max(cycles.values()), files)
    return added


def _describe(
    campaign: tables.Campaign, conditions: tuple[Condition, ...], cycles: int, files: Sequence[SealedFile]
) -> None:
    """Keep the campaign's account of itself in step with its runs."""
    spec = campaign_store.campaign_of(campaign)
    spec = replace(spec, conditions=conditions, timetable=replace(spec.timetable, cycles=cycles))
    campaign.spec = spec.to_dict()
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
        if (carried := trace.outcome.app_bytes) is not None:
            most[trace.flow] = max(most.get(trace.flow, 0), carried)
    return sum(most.values())
