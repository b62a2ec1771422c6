"""Bring a database to this version's tables."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from downlink.settings import Settings


def alembic_config(database_url: str) -> Config:
    """Alembic over the migrations folder beside the package, or the one in the package's parent."""
    config = Config()
    config.set_main_option("script_location", str(_folder()))
    config.attributes["database_url"] = database_url
    return config


def upgrade(settings: Settings) -> None:
    """Run every migration that is missing; safe to repeat and to run twice at once."""
    command.upgrade(alembic_config(settings.database), "head")


def knows(revision: str) -> bool:
    """Whether this version can bring tables of this revision to its own."""
    script = ScriptDirectory.from_config(alembic_config(""))
    return any(each.revision == revision for each in script.walk_revisions())


def _folder() -> Path:
    return Path(__file__).resolve().parents[3] / "migrations"
