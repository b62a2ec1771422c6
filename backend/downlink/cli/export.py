"""A campaign as files: tables and report for reading, or one archive that holds everything (docs/data-format.md, section 4)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from downlink.cli.client import Client
from downlink.cli.files import download, make_folder, write_text

TABLES = (
    "series.csv", "summary.csv", "runs.csv", "metrics.csv", "exits.csv", "limits.csv", "link.csv",
    "proxies.csv", "delays.csv", "fairness.csv", "statistics.csv", "outliers.csv", "reproduction.csv",
)  # fmt: skip
ANSWERS = ("report", "delays", "rates")
"""Answers that are no table: the report, and the distributions of delays and rates over all runs."""


def export_folder(client: Client, campaign: str, folder: Path) -> Iterator[Path]:
    """Write the campaign's tables, report and distributions into `folder`, file by file."""
    make_folder(folder)
    for table in TABLES:
        download(client, f"/campaigns/{campaign}/{table}", folder / table)
        yield folder / table
    for answer in ANSWERS:
        file = folder / f"{answer}.json"
        write_text(file, json.dumps(client.get(f"/campaigns/{campaign}/{answer}"), indent=1))
        yield file


def export_archive(client: Client, campaign: str, file: Path) -> int:
    """Write everything of the campaign, traces too, into one zip; answer its size in bytes."""
    return download(client, f"/campaigns/{campaign}/archive.zip", file)
