"""Bring a database to this version's tables."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError

from downlink.domain.errors import ConflictError
from downlink.process.settings import Settings

COMMIT_BETWEEN = "8c820127"
"""The last commit with every migration that one of a release replaces."""


def alembic_config(database_url: str) -> Config:
    """Alembic over the migrations folder beside the package, or the one in the package's parent."""
    config = Config()
    config.set_main_option("script_location", str(_folder()))
    config.attributes["database_url"] = database_url
    return config


def upgrade(settings: Settings) -> None:
    """Run every migration that is missing; safe to repeat and to run twice at once.

    ConflictError for tables of a later version, and for those of an unreleased one whose migration was replaced.
    """
    try:
        command.upgrade(alembic_config(settings.database), "head")
    except CommandError as error:
        if not isinstance(error.__cause__, ResolutionError):
            raise
        raise _refusal(str(error.__cause__.argument)) from error


def knows(revision: str) -> bool:
    """Return whether this version can bring tables of this revision to its own."""
    script = ScriptDirectory.from_config(alembic_config(""))
    return any(each.revision == revision for each in script.walk_revisions())


def is_replaced(revision: str) -> bool:
    """Return whether tables of this revision are of an unreleased version, from which a release's migration does not start."""
    script = ScriptDirectory.from_config(alembic_config(""))
    return any(revision in getattr(each.module, "replaces", ()) for each in script.walk_revisions())


def _refusal(revision: str) -> ConflictError:
    if is_replaced(revision):
        message = (
            f"This database has tables of an unreleased version (migration {revision}). Check out commit {COMMIT_BETWEEN} of Downlink "
            "and type `downlink migrate` there (`make up` for a `.demo` folder). Then start this version again."
        )
        return ConflictError("database_unreleased", message)
    message = (
        "This database was brought to a later version of Downlink than this one, which cannot take that back. "
        "Start the later version, or restore a backup from before it into an empty database."
    )
    return ConflictError("database_newer", message)


def _folder() -> Path:
    return Path(__file__).resolve().parents[3] / "migrations"
