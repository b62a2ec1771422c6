"""A server with runs is copied, and gives the same answers from the copy: PostgreSQL, its programs and the store are real."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import create_engine, make_url, text

from downlink.actions.backup import back_up, restore_backup
from downlink.domain.errors import ConflictError, InvalidError, UnavailableError
from downlink.process.settings import Settings
from downlink.stack.servers import embedded_tools
from downlink.storage import dump
from downlink.storage.migrate import upgrade
from downlink.storage.notices import events
from downlink.storage.traces.objects import TraceStore
from downlink.storage.unit import UnitFactory, open_units
from tests.actions.test_archive import everything
from tests.actions.test_notifications import cancelled, stored
from tests.actions.test_notifications import make as make_channel
from tests.fixtures.lab import Lab
from tests.fixtures.numbered_log import number_log
from tests.fixtures.s3_server import S3Server

NOW = datetime(2026, 11, 24, tzinfo=UTC)
TOOLS = embedded_tools()
FAR = 10**15


@pytest.fixture
def empty_url(server_url: str, worker_id: str) -> Iterator[str]:
    """A database without tables, on the same server."""
    name = f"downlink_empty_{worker_id}"
    engine = create_engine(server_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield make_url(server_url).set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


def measured(lab: Lab) -> dict[str, Any]:
    """A campaign with complete runs, as the API shows it; its id is under `id`."""
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    campaign = lab.launch()
    runs = lab.drive(campaign, agents)
    assert {run["state"] for run in runs} == {"complete"}
    return {"id": campaign, **answers(lab, campaign)}


def answers(lab: Lab, campaign: str) -> dict[str, Any]:
    return {
        **everything(lab, campaign),
        **{path: lab.call("GET", path) for path in ("/links", "/tokens", "/audit")},
    }


def of_copy(settings: Settings, units: UnitFactory, token: str) -> Lab:
    """A server on the copied database; the original's token works with it."""
    lab = Lab(settings, units)
    lab.token = token
    with units() as unit:
        unit.session.execute(text("DELETE FROM api_tokens WHERE created_at = (SELECT max(created_at) FROM api_tokens)"))
        unit.session.execute(text("DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)"))
    return lab


@pytest.mark.parametrize("place", ["database", pytest.param("store", marks=pytest.mark.verify("packages"))])
def test_a_copy_gives_the_same_answers(
    place: str,
    settings: Settings,
    units: UnitFactory,
    database_url: str,
    empty_url: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    s3: S3Server | None = request.getfixturevalue("s3") if place == "store" else None
    here = s3.settings(settings) if s3 else settings
    with Lab(here, units) as lab:
        before = measured(lab)
        made = back_up(lab.app.state.units, database_url, tmp_path / "copy", NOW, TOOLS)
    assert (made.objects > 0, made.lost) == (place == "store", ())
    moved = {"trace_store": "s3://traces/moved"} if s3 else {}
    there = here.model_copy(update={"database_url": SecretStr(empty_url), **moved})
    copied = open_units(empty_url, 4, store=TraceStore.of(there))
    began = time.perf_counter()
    restore_backup(copied, empty_url, tmp_path / "copy", TOOLS)
    upgrade(there)
    print(f"restored {made.objects} objects and the database in {time.perf_counter() - began:.2f} s")
    if s3:  # the original's objects are not needed
        with units() as unit:
            for (url,) in unit.session.execute(text("SELECT url FROM trace_folders")).all():
                TraceStore.of(here).delete_folder(url)
    with of_copy(there, copied, lab.token) as copy:
        after = answers(copy, before["id"])
    copied.close()
    assert after == {key: value for key, value in before.items() if key != "id"}


def test_what_is_no_whole_backup_is_refused_and_changes_nothing(
    lab: Lab, units: UnitFactory, database_url: str, empty_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "backups" / "copy"
    with pytest.raises(UnavailableError, match="is not installed"):
        back_up(units, database_url, folder, NOW, tmp_path / "gone")
    assert not folder.parent.exists()
    back_up(units, database_url, folder, NOW, TOOLS)
    assert (list(folder.parent.iterdir()), folder.stat().st_mode & 0o777) == ([folder], 0o700)
    with pytest.raises(ConflictError, match="exists already"):
        back_up(units, database_url, folder, NOW, TOOLS)
    with pytest.raises(ConflictError, match="has tables already"):
        restore_backup(units, database_url, folder, TOOLS)
    empty = open_units(empty_url, 1)
    whole = (folder / "database.dump").read_bytes()
    (folder / "database.dump").write_bytes(whole[:-1])
    with pytest.raises(InvalidError, match=r"database\.dump is not as it was written"):
        restore_backup(empty, empty_url, folder, TOOLS)
    manifest = (folder / "manifest.json").read_text()
    for revision, refusal in (
        ("later", "later version"),
        ("d05a7be1c264", "Check out commit 8c820127 of Downlink and restore it there"),
    ):
        (folder / "manifest.json").write_text(json.dumps({**json.loads(manifest), "migration": revision}))
        with pytest.raises(InvalidError, match=refusal):
            restore_backup(empty, empty_url, folder, TOOLS)
    (folder / "manifest.json").unlink()
    with pytest.raises(InvalidError, match="no whole backup"):
        restore_backup(empty, empty_url, folder, TOOLS)
    with empty() as unit:
        assert unit.session.scalar(text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")) == 0
    empty.close()


def test_a_dump_that_breaks_off_leaves_the_database_empty(
    units: UnitFactory, database_url: str, empty_url: str, tmp_path: Path
) -> None:
    """Also where the file's index is whole, so that the restore has begun."""
    back_up(units, database_url, tmp_path / "copy", NOW, TOOLS)
    whole = (tmp_path / "copy" / "database.dump").read_bytes()
    (tmp_path / "broken.dump").write_bytes(whole[:-20])
    with pytest.raises(UnavailableError, match="pg_restore failed"):
        dump.load(empty_url, tmp_path / "broken.dump", TOOLS)
    empty = open_units(empty_url, 1)
    with empty() as unit:
        assert dump.is_empty(unit)
    empty.close()


def test_a_restored_server_sends_what_is_new_and_nothing_old(
    lab: Lab, settings: Settings, units: UnitFactory, database_url: str, empty_url: str, tmp_path: Path
) -> None:
    """The original's log has places far beyond those of a new database."""
    number_log(units, FAR)
    make_channel(lab, "https://hooks.example/before")
    old = cancelled(lab)
    lab.tick()
    with units() as unit:
        assert unit.session.scalar(text("SELECT min(seen_xact) FROM channels")) > FAR
    back_up(units, database_url, tmp_path / "copy", NOW, TOOLS)
    there = settings.model_copy(update={"database_url": SecretStr(empty_url)})
    copied = open_units(empty_url, 4)
    restore_backup(copied, empty_url, tmp_path / "copy", TOOLS)
    upgrade(there)
    with of_copy(there, copied, lab.token) as copy:
        make_channel(copy, "https://hooks.example/after")
        new = cancelled(copy)
        copy.tick()
        heard = [row.body["data"]["campaign_id"] for row in stored(copy)]
        with copied() as unit:
            _, is_whole = events.newest(unit)
            places = unit.session.scalars(text("SELECT xact::text::bigint FROM events ORDER BY id")).all()
    copied.close()
    assert heard == [old, new, new], "once before the copy, then by both channels"
    assert is_whole, "nothing keeps event streams from the log's end"
    assert FAR < min(places) < max(places), "the copy counts on where the original was"
