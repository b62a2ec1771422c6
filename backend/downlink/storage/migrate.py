"""Bring a database to this version's tables."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from downlink.domain.errors import ConflictError
from downlink.process.settings import Settings


def alembic_config(database_url: str) -> Config:
    """Alembic over the migrations folder beside the package, or the one in the package's parent."""
    config = Config()
    config.set_main_option("script_location", str(_folder()))
    config.attributes["database_url"] = database_url
    return config


def upgrade(settings: Settings) -> None:
    """Run every migration that is missing; safe to repeat and to run twice at once. ConflictError for tables of a later version."""
    try:
        command.upgrade(alembic_config(settings.database), "head")
    except CommandError as error:
        if "locate revision" not in str(error):
            raise
        message = (
            "This database was brought to a later version of Downlink than this one, which cannot take that back. "
            "Start the later version, or restore a backup from before it into an empty database."
        )
        raise ConflictError("database_newer", message) from error


def knows(revision: str) -> bool:
    """Whether this version can bring tables of this revision to its own."""
    script = ScriptDirectory.from_config(alembic_config(""))
    return any(each.revision == revision for each in script.walk_revisions())


def _folder() -> Path:
    return Path(__file__).resolve().parents[3] / "migrations"
