"""The disk guard, on a small file system of its own: samples and imports are refused before it is full, and taken again after."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from downlink.api.http.disk_room import LOOK_EVERY_S, MIB, Room
from downlink.domain.errors import UnavailableError
from downlink.process.settings import Settings
from downlink.storage.unit import UnitFactory
from tests.actions.test_faults import ONE, pair, until
from tests.api.test_figures import figures
from tests.fixtures.foreign_files import iperf3_file
from tests.fixtures.lab import API, Lab

LEAST_MIB, DISK_MIB = 8, 16


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """16 MiB of room, mounted for this test alone."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """All but 4 MiB."""
    taken = folder / "taken"
    taken.write_bytes(bytes((DISK_MIB - 4) * MIB))
    return taken


@pytest.fixture
def guarded(units: UnitFactory, settings: Settings, disk: Path) -> Iterator[Lab]:
    small = {"disks": str(disk), "least_free_mib": LEAST_MIB}
    with Lab(settings.model_copy(update=small), units) as opened:
        yield opened


def look_again(lab: Lab) -> None:
    """As if the seconds until the next look had passed."""
    lab.app.state.room._until = -1.0


def test_chunks_are_refused_before_the_disk_is_full_and_the_run_completes_when_there_is_room(
    guarded: Lab, disk: Path
) -> None:
    client, server = pair(guarded)
    campaign = guarded.launch(**ONE)
    run = until(guarded, campaign, [client, server], "uploading")
    taken = fill(disk)
    look_again(guarded)
    place, body = next(iter(server.spool[run["id"], 1].items()))
    answer = server.put(run["id"], 1, place, body)
    assert (answer.status_code, answer.json()["code"]) == (507, "disk_full")
    assert answer.json()["message"].startswith(f"The server accepts nothing more: 4 MiB are free at {disk}")
    assert int(answer.headers["retry-after"]) == 60
    said = guarded.call("GET", "/service")["room"]
    assert said["reason"].endswith(f"and {LEAST_MIB} are to stay free")
    assert said["disks"][0]["total_bytes"] == DISK_MIB * MIB
    assert figures(guarded)["downlink_accepting",] == 0
    assert figures(guarded)["downlink_disk_free_bytes", str(disk)] == 4 * MIB
    taken.unlink()
    look_again(guarded)
    assert figures(guarded)["downlink_accepting",] == 1
    runs = guarded.drive(campaign, [client, server])
    assert [each["state"] for each in runs] == ["complete"]


def test_imports_wait_for_room_too(guarded: Lab, disk: Path) -> None:
    fill(disk)
    look_again(guarded)
    files = {"files": ("a.json", iperf3_file(), "application/json")}
    headers = {"Authorization": f"Bearer {guarded.token}"}
    refused = guarded.client.post(f"{API}/imports", files=files, data={"campaign": "a"}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (507, "disk_full")


def test_strangers_learn_nothing_of_it(guarded: Lab, disk: Path) -> None:
    fill(disk)
    look_again(guarded)
    assert guarded.client.post(f"{API}/imports").status_code == 401
    assert guarded.client.get(f"{API}/service").status_code == 401


def test_a_database_elsewhere_is_bounded_by_its_size(units: UnitFactory, settings: Settings) -> None:
    room = Room(settings.model_copy(update={"database_most_gib": 1}), units)
    assert room.look().reason is None
    assert room.look().database_bytes
    room = Room(settings.model_copy(update={"database_most_gib": 1}), units)
    room._most_bytes = 2**20
    with pytest.raises(UnavailableError, match=r"the database has \d+\.\d GiB, and 0\.0 are allowed") as caught:
        room.check()
    assert caught.value.code == "disk_full"


def test_a_disk_that_cannot_be_read_is_not_trusted(units: UnitFactory, settings: Settings, tmp_path: Path) -> None:
    room = Room(settings.model_copy(update={"disks": str(tmp_path / "gone")}), units)
    assert room.look().reason == f"the disk of {tmp_path / 'gone'} cannot be read"


def test_a_disk_is_looked_at_every_few_seconds(units: UnitFactory, settings: Settings, disk: Path) -> None:
    moment = [100.0]
    small = settings.model_copy(update={"disks": str(disk), "least_free_mib": LEAST_MIB})
    room = Room(small, units, lambda: moment[0])
    assert room.look().reason is None
    fill(disk)
    moment[0] += LOOK_EVERY_S - 0.1
    assert room.look().reason is None
    moment[0] += 0.2
    assert room.look().reason


def test_a_folder_that_is_not_there_is_named_at_the_start() -> None:
    with pytest.raises(ValidationError, match="DOWNLINK_DISKS names /nowhere, which is no folder here"):
        Settings(disks="/nowhere")
