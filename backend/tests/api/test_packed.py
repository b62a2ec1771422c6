"""A report is packed once: whoever takes gzip and whoever does not read the same."""

from __future__ import annotations

import gzip

import pytest

from downlink.actions.campaigns.archive_read import load_archive
from downlink.api.http import answers as encoded
from downlink.views.body_cache import Remade
from tests.fixtures.lab import API, Lab
from tests.fixtures.recorded import ARCHIVE


def test_a_report_is_packed_once_and_read_by_everybody(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[bytes] = []
    real = gzip.compress

    def compress(body: bytes, level: int) -> bytes:
        packed.append(body)
        return real(body, level)

    monkeypatch.setattr(encoded.gzip, "compress", compress)
    # The archive keeps the names of its runs: another test of this process may have had the very same report packed.
    monkeypatch.setattr(encoded, "_PACKED", Remade(32))
    with lab.units() as unit:
        campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
    while lab.work():
        pass
    path, token = f"{API}/campaigns/{campaign}/report", f"Bearer {lab.token}"
    answers = [
        lab.client.get(path, headers={"Authorization": token, "Accept-Encoding": encoding})
        for encoding in ("gzip", "gzip, br", "identity")
    ]
    assert [answer.headers.get("content-encoding") for answer in answers] == ["gzip", "gzip", None]
    assert [answer.headers["vary"] for answer in answers] == ["Accept-Encoding"] * 3
    assert answers[0].content == answers[1].content == answers[2].content
    assert packed == [answers[2].content]
