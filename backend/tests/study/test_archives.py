"""Raw archives: the list of them, and how they come back from the history."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from study.archives import FOLDER, LIST, Archive, read_list

ROOT = Path(__file__).resolve().parents[3]
ROWS = read_list(ROOT)
CONTENT = b"raw traces"


def test_the_list_names_every_archive_that_was_kept() -> None:
    """By the records of the campaigns, which need no history."""
    records = {path.stem: json.loads(path.read_text()) for path in (ROOT / FOLDER).glob("*.json")}
    kept = {f"{stem}.zip": record["archive_bytes"] for stem, record in records.items() if record["is_archive_kept"]}
    assert len(kept) > 15
    assert {row.file: row.size for row in ROWS} == kept


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_a_row_is_in_the_tree_or_in_the_history(row: Archive) -> None:
    file = ROOT / row.path
    if file.exists():
        assert row.fits(file.read_bytes())
        return
    found = subprocess.run(
        ["git", "-C", ROOT, "cat-file", "blob", f"{row.commit}:{row.path.as_posix()}"], capture_output=True, check=False
    )
    if found.returncode == 0:
        assert row.fits(found.stdout)
    else:
        is_whole = subprocess.run(
            ["git", "-C", ROOT, "rev-parse", "--is-shallow-repository"], capture_output=True, check=False
        )
        assert is_whole.stdout.strip() != b"false", f"the whole history lacks {row.file}"
        pytest.skip("this clone has no history")


def git(folder: Path, *arguments: str) -> str:
    named = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", "-C", str(folder), *named, *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def list_archive(folder: Path, commit: str, sha256: str = hashlib.sha256(CONTENT).hexdigest()) -> None:
    with (folder / LIST).open("w") as file:
        csv.writer(file).writerows([("file", "bytes", "sha256", "commit"), ("one.zip", len(CONTENT), sha256, commit)])


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A shallow clone of a repository that has removed its archive."""
    origin = tmp_path / "origin"
    (origin / FOLDER).mkdir(parents=True)
    git(origin, "init", "-q")
    (origin / FOLDER / "one.zip").write_bytes(CONTENT)
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "with the archive")
    list_archive(origin, git(origin, "rev-parse", "HEAD"))
    (origin / FOLDER / "one.zip").unlink()
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "without it")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{origin}", tmp_path / "clone"], check=True)
    return tmp_path / "clone"


def take(folder: Path) -> tuple[int, str]:
    """Status and output of `make archives` there."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "backend")}
    command = [sys.executable, "-m", "study.archives"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_shallow_clone_fetches_the_commit_and_takes_only_what_is_missing(clone: Path) -> None:
    assert git(clone, "rev-list", "--count", "HEAD") == "1"
    status, said = take(clone)
    assert (status, said.splitlines()[0]) == (0, str(FOLDER / "one.zip"))
    assert (clone / FOLDER / "one.zip").read_bytes() == CONTENT
    git(clone, "remote", "remove", "origin")
    assert take(clone)[1].startswith("0 archives are taken")


def test_what_has_the_name_of_an_archive_and_is_another_file_stays(clone: Path) -> None:
    (clone / FOLDER).mkdir(parents=True, exist_ok=True)
    (clone / FOLDER / "one.zip").write_bytes(b"measured since")
    status, said = take(clone)
    assert (status, "Move it elsewhere" in said) == (1, True)
    assert (clone / FOLDER / "one.zip").read_bytes() == b"measured since"


def test_a_clone_without_a_remote_names_what_it_lacks(clone: Path) -> None:
    git(clone, "remote", "remove", "origin")
    status, said = take(clone)
    assert (status, "git remote add origin" in said) == (1, True)


def test_another_content_than_the_list_names_is_not_written(clone: Path) -> None:
    (row,) = read_list(clone)
    list_archive(clone, row.commit, sha256="0" * 64)
    status, said = take(clone)
    assert (status, "SHA-256" in said) == (1, True)
    assert not (clone / FOLDER).exists() or not list((clone / FOLDER).iterdir())


def test_a_folder_without_history_is_named(clone: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    (bare / LIST.parent).mkdir(parents=True)
    (bare / LIST).write_bytes((clone / LIST).read_bytes())
    status, said = take(bare)
    assert (status, "no clone" in said) == (1, True)
