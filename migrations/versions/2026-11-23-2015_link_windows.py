"""a run knows which part of a path trace its emulated link flies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "d5c20b8e17f6"
down_revision = "c51b0e7d2a84"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("link_window", postgresql.JSONB(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "link_window")
