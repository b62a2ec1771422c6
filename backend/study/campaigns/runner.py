"""Runs reproduction studies: their campaigns over emulated links, a few at once, resumed where an earlier time ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from downlink.cli.client import Client
from downlink.cli.watch import PATIENCE_S, PERIOD_S, all_complete
from downlink.codec.campaign_file import parse_campaign
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.campaign_state import ENDED, UNDER_WAY, CampaignState
from downlink.domain.errors import InvalidError, UnavailableError
from downlink.domain.links.link import Link, Orbit
from downlink.stack.emulated import AGENT, build_links
from downlink.stack.launcher import Stack
from downlink.stack.needs import LinkNeed, link_needs, merge_needs
from downlink.stack.rig import known_profiles
from study.campaigns.harvest import find_commit, harvest, is_harvested
from study.campaigns.parts import (
    FOLDER,
    Pace,
    Part,
    duration_text,
    expected_s,
    full_cycles,
    next_campaign,
    parts_of,
    queues_of,
    short_form,
    trial_form,
    without_causes,
)

HYSTART = Path("/sys/module/tcp_cubic/parameters")
Look = Callable[[], None]


@dataclass(frozen=True)
class Job:
    """A campaign to run. source: as it is sent to the server. full: the paper's number of cycles."""

    study: str
    part: Part
    source: str
    campaign: Campaign
    full: int

    @property
    def cycles(self) -> int:
        return self.campaign.timetable.cycles or 0

    def facts(self) -> dict[str, Any]:
        """Facts for the record of the campaign that the server does not know."""
        return {
            "study": self.study,
            "file": str(self.part.path),
            "n": self.cycles,
            "full_n": self.full,
            "is_short": self.cycles < self.full,
            **find_commit(Path.cwd()),
        }


def read_jobs(names: Sequence[str], *, is_full: bool, trial_s: float | None) -> list[Job]:
    """The campaigns of these studies or files, in the short form unless is_full; with trial_s one cycle of runs of so many seconds."""
    return [_read_job(study, part, is_full, trial_s) for name in names for study, part in parts_of(name)]


def _read_job(study: str, part: Part, is_full: bool, trial_s: float | None) -> Job:
    text = part.path.read_text()
    source = text if is_full else short_form(text, part.short)
    if trial_s is not None:
        source = json.dumps(trial_form(parse_campaign(text), 1, trial_s))
    return Job(study, part, source, parse_campaign(source), full_cycles(text))


def needs_of(jobs: Sequence[Job]) -> list[LinkNeed]:
    """The links that the campaigns need, each once."""
    known = known_profiles(AGENT)
    return merge_needs([link_needs(job.campaign, [], known, FOLDER) for job in jobs])


def check_hystart() -> None:
    """The studies' Cubic is the kernel's as it comes; UnavailableError with what to type when this host has another."""
    for name, wanted in (("hystart", "1"), ("hystart_detect", "3")):
        file = HYSTART / name
        if file.exists() and file.read_text().strip() != wanted:
            raise UnavailableError(
                "host_unfit",
                f"{file} is {file.read_text().strip()}, but the studies need {wanted}; type `echo {wanted} >{file}`.",
            )


def run_studies(stack: Stack, client: Client, jobs: Sequence[Job], lanes: int, into: Path, look: Look) -> bool:
    """Run what is not done yet; keep each campaign in `into` when it has ended; answer whether every run is complete.

    Campaigns of an earlier time are known by their text; their runs that failed in all attempts are tried again.
    look: called once a second; looks after the stack.
    """
    typer.echo("Building the emulated links and starting their agents …")
    build_links(stack, client, needs_of(jobs), look)
    ids = {job.part.file: _find_or_create(client, job) for job in jobs}
    board = _Board(client, jobs, ids, lanes)
    heard = time.monotonic()
    while True:
        look()
        try:
            found = {job.part.file: client.get(f"/campaigns/{ids[job.part.file]}") for job in jobs}
            _launch_next(client, jobs, found, lanes)
            for job in jobs:
                if found[job.part.file]["state"] in ENDED:
                    _keep(client, job, found[job.part.file], into)
            heard = time.monotonic()
        except UnavailableError:  # a restart of the server is no reason to end
            if time.monotonic() - heard > PATIENCE_S:
                raise
        else:
            board.show(found)
            if all(each["state"] in ENDED for each in found.values()):
                return _judge(jobs, found)
        time.sleep(PERIOD_S)


def _find_or_create(client: Client, job: Job) -> str:
    for known in client.items("/campaigns"):
        if known["name"] == job.campaign.name and known["state"] != CampaignState.CANCELLED:
            if _is_same(client.get(f"/campaigns/{known['id']}")["source"], job):
                if known["state"] == CampaignState.PAUSED:
                    client.post(f"/campaigns/{known['id']}/resume")
                elif known["state"] == CampaignState.COMPLETE and not all_complete(known):
                    client.post(f"/campaigns/{known['id']}/rerun")
                return str(known["id"])
            if known["state"] in UNDER_WAY:  # another form of it would go on beside this one
                client.post(f"/campaigns/{known['id']}/cancel")
    return str(client.post("/campaigns", {"source": job.source})["id"])


def _is_same(source: str, job: Job) -> bool:
    """Tell whether a stored campaign is the job's, but for comments and causes. One that is no longer read is another."""
    try:
        return source == job.source or without_causes(parse_campaign(source)) == without_causes(job.campaign)
    except InvalidError:
        return False


def _launch_next(client: Client, jobs: Sequence[Job], found: dict[str, dict[str, Any]], lanes: int) -> None:
    """Launch as many campaigns as there are free lanes, none on a link that another one uses."""
    under_way = [job for job in jobs if found[job.part.file]["state"] in UNDER_WAY]
    waiting = [job for job in jobs if found[job.part.file]["state"] == CampaignState.DRAFT]
    while len(under_way) < lanes:
        busy = {link for job in under_way for link in job.campaign.links}
        place = next_campaign([job.campaign.links for job in waiting], busy)
        if place is None:
            return
        job = waiting.pop(place)
        client.post(f"/campaigns/{found[job.part.file]['id']}/launch")
        under_way.append(job)


def _keep(client: Client, job: Job, campaign: Mapping[str, Any], into: Path) -> None:
    if not is_harvested(campaign, job.part.file, into):
        record = harvest(client, str(campaign["id"]), job.part.file, job.facts(), into)
        typer.echo(f"  {job.part.file} has ended: {record}")


def _judge(jobs: Sequence[Job], found: dict[str, dict[str, Any]]) -> bool:
    for job in jobs:
        each = found[job.part.file]
        typer.echo(
            f"{job.part.file}: {each['counts']['complete']} of {each['runs_total']} runs complete, n = {job.cycles} of {job.full}"
        )
    return all(all_complete(found[job.part.file]) for job in jobs)


class _Board:
    """Says how far the studies are, whenever a run has ended."""

    def __init__(self, client: Client, jobs: Sequence[Job], ids: dict[str, str], lanes: int) -> None:
        self._jobs, self._began, self._said = jobs, time.monotonic(), -1
        links = {each["name"]: _link(each) for each in client.items("/links")}
        self._queues = {job.part.file: queues_of(job.campaign, links) for job in jobs}
        self._work_s = {
            name: sum(slot.duration_s for queue in queues.values() for slot in queue)
            for name, queues in self._queues.items()
        }
        found = {name: client.get(f"/campaigns/{id_}") for name, id_ in ids.items()}
        self._done_before_s = self._done_s(found)
        left = [queues for name, queues in self._queues.items() if found[name]["state"] not in ENDED]
        self._pace = Pace(expected_s(left, lanes), sum(self._work_s.values()) - self._done_before_s)

    def _done_s(self, found: dict[str, dict[str, Any]]) -> float:
        shares = {name: each["runs_ended"] / max(1, each["runs_total"]) for name, each in found.items()}
        return sum(self._work_s[name] * float(share) for name, share in shares.items())

    def show(self, found: dict[str, dict[str, Any]]) -> None:
        ended = sum(each["runs_ended"] for each in found.values())
        if ended == self._said:
            return
        self._said = ended
        done_s = self._done_s(found)
        left_s = self._pace.left_s(
            time.monotonic() - self._began, done_s - self._done_before_s, sum(self._work_s.values()) - done_s
        )
        parts = (
            f"{name} {each['runs_ended']}/{each['runs_total']}"
            for name, each in found.items()
            if each["state"] in UNDER_WAY
        )
        total = sum(len(queue) for queues in self._queues.values() for queue in queues.values())
        typer.echo(
            f"  {ended} of {total} runs, about {duration_text(left_s)} to go: {', '.join(parts) or 'none is under way'}"
        )


def _link(row: dict[str, Any]) -> Link:
    return Link(
        row["name"], Orbit(row["orbit"]), row["operator"] or "", row["nominal_rate_bps"], row["base_rtt_ms"], row["receiver"],
        tuple(row["senders"]), further_receivers=tuple(row.get("further_receivers", ())),
    )  # fmt: skip
