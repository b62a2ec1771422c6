"""Raw archives of the studies, which the history of the repository holds: docs/reproduction/archives.csv names each.

`make archives` takes those that are missing. It needs git and the standard library alone.
"""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LIST = Path("docs/reproduction/archives.csv")
FOLDER = Path("docs/reproduction/archives")


class ArchiveError(Exception):
    """A sentence: why an archive cannot be had, and what to do."""


@dataclass(frozen=True)
class Archive:
    """A row of the list. file: its name in FOLDER. size: in bytes. commit: one that holds it there."""

    file: str
    size: int
    sha256: str
    commit: str

    @property
    def path(self) -> Path:
        """Path from the root of the repository."""
        return FOLDER / self.file

    def fits(self, content: bytes) -> bool:
        """Tell whether these bytes are the archive."""
        return len(content) == self.size and hashlib.sha256(content).hexdigest() == self.sha256


def read_list(root: Path) -> list[Archive]:
    """The archives that the list of a checkout names."""
    with (root / LIST).open(newline="") as file:
        return [Archive(row["file"], int(row["bytes"]), row["sha256"], row["commit"]) for row in csv.DictReader(file)]


def take_missing(root: Path) -> list[Archive]:
    """Write the archives that a checkout lacks; return these. ArchiveError where one cannot be had, or another file has its name."""
    missing = [archive for archive in read_list(root) if not _is_there(root, archive)]
    for commit in dict.fromkeys(archive.commit for archive in missing):
        _have_commit(root, commit)
    for archive in missing:
        _take(root, archive)
    return missing


def _is_there(root: Path, archive: Archive) -> bool:
    file = root / archive.path
    if not file.exists():
        return False
    if not archive.fits(file.read_bytes()):
        raise ArchiveError(f"{archive.path} is not the file that {LIST} names. Move it elsewhere and try again.")
    return True


def _take(root: Path, archive: Archive) -> None:
    content = _git(root, "cat-file", "blob", f"{archive.commit}:{archive.path.as_posix()}")
    if not archive.fits(content):
        raise ArchiveError(f"{archive.path} in commit {archive.commit} has not the size or SHA-256 that {LIST} names.")
    file = root / archive.path
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.write_bytes(content)
    part.replace(file)


def _have_commit(root: Path, commit: str) -> None:
    """Fetch a commit where the clone lacks it, as a shallow one does."""
    if _succeeds(root, "cat-file", "-e", f"{commit}^{{commit}}"):
        return
    if not _succeeds(root, "rev-parse", "--git-dir"):
        raise ArchiveError("The raw archives are in the history of the repository; this folder is no clone of it.")
    remotes = _git(root, "remote").decode().split()
    if not remotes:
        raise ArchiveError(
            f"This clone lacks commit {commit} and has no remote to fetch it from; name one with `git remote add origin ADDRESS`."
        )
    _git(root, "fetch", "--quiet", "--depth", "1", "origin" if "origin" in remotes else remotes[0], commit)


def _succeeds(root: Path, *arguments: str) -> bool:
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=False).returncode == 0


def _git(root: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise ArchiveError(f"git {' '.join(arguments)} failed: {done.stderr.decode().strip()}")
    return done.stdout


def main() -> None:
    """Take what is missing in the checkout of this folder, and name it."""
    try:
        taken = take_missing(Path.cwd())
    except ArchiveError as error:
        sys.exit(f"archives: {error}")
    for archive in taken:
        print(archive.path)
    print(f"{len(taken)} archives are taken from the history; all that {LIST} names are in {FOLDER}.")


if __name__ == "__main__":
    main()
