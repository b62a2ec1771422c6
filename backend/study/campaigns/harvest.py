"""Harvest of a study's campaign: its tables, its archive where that is small, and a record of how it was made."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from downlink.cli.client import Client
from downlink.cli.export import export_archive, export_folder
from downlink.domain.runs.run import RunState
from study.campaigns.traces import write_traces_table

MOST_ARCHIVE_BYTES = 20_000_000
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same tables make the same bytes


def harvest(client: Client, campaign: str, stem: str, facts: dict[str, Any], into: Path) -> Path:
    """Write STEM-tables.zip, STEM-traces.csv where the study has one, STEM.zip unless it is larger than 20 MB, and STEM.json.

    facts: what the record, STEM.json, holds beside what the server knows. Answers the record's file.
    """
    into.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=into) as folder:
        tables, archive = Path(folder, "tables"), Path(folder, "archive.zip")
        _pack(list(export_folder(client, campaign, tables)), Path(folder, "tables.zip"))
        size = export_archive(client, campaign, archive)
        write_traces_table(archive, stem, into)
        Path(folder, "tables.zip").replace(into / f"{stem}-tables.zip")
        if is_small := size <= MOST_ARCHIVE_BYTES:
            archive.replace(into / f"{stem}.zip")
        else:
            (into / f"{stem}.zip").unlink(missing_ok=True)
    record = into / f"{stem}.json"
    kept = {"archive_bytes": size, "is_archive_kept": is_small}
    record.write_text(json.dumps({**_record(client, campaign), **facts, **kept}, indent=1) + "\n")
    return record


def is_harvested(campaign: Mapping[str, Any], stem: str, into: Path) -> bool:
    """Tell whether the record in `into` is of this campaign, as it ended last: runs may have been repeated since."""
    file = into / f"{stem}.json"
    if not file.exists():
        return False
    record = json.loads(file.read_text())
    return (record["campaign_id"], record["ended_at"]) == (campaign["id"], campaign["ended_at"])


def find_commit(folder: Path) -> dict[str, Any]:
    """The commit that a checkout is at, and whether its files differ from it; None where there is no checkout."""

    def git(*arguments: str) -> str | None:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    changes = git("status", "--porcelain", "--", "backend/downlink", "backend/study", "agents", "docs/examples")
    return {"commit": commit, "is_changed": None if commit is None else bool(changes)}


def _record(client: Client, campaign: str) -> dict[str, Any]:
    found = client.get(f"/campaigns/{campaign}")
    runs = client.items(f"/campaigns/{campaign}/runs")
    again = Counter(run["reason"] for run in runs if run["reason"] and run["state"] != RunState.COMPLETE)
    complete = [run["id"] for run in runs if run["state"] == RunState.COMPLETE]
    times = {key: found[key] for key in ("launched_at", "ended_at")}
    counts = {state: number for state, number in found["counts"].items() if number}
    return {
        "campaign_id": campaign,
        "name": found["name"],
        **times,
        "runs_planned": found["runs_total"],
        "runs": counts,
        "not_complete_by_reason": dict(sorted(again.items())),
        **_lateness(client, complete),
    }


def _lateness(client: Client, runs: list[str]) -> dict[str, Any]:
    """Lateness of the emulated links in these runs: the worst one's share of rows above the limit, and the largest of all."""
    logs = [log for run in runs if (log := client.get(f"/runs/{run}")["link_log"])]
    shares = [log["late_samples"] / log["samples"] for log in logs if log["samples"]]
    return {
        "link_logs": len(logs),
        "late_share_max": round(max(shares), 5) if shares else None,
        "lateness_max_us": max((log["lateness_max_us"] for log in logs), default=None),
    }


def _pack(files: list[Path], to: Path) -> None:
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            member = zipfile.ZipInfo(file.name, _FIXED_DATE)
            archive.writestr(member, file.read_bytes(), zipfile.ZIP_DEFLATED)
