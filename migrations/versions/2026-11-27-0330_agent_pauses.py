"""The pause of an agent that somebody set on the server."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5b0c7e19d3a4"
down_revision = "e41b7c92a0d5"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("agents", sa.Column("paused_by", sa.Text(), nullable=True))
    op.add_column("agents", sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True))
    op.add_column("agents", sa.Column("pause_why", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("agents", "pause_why")
    op.drop_column("agents", "paused_until")
    op.drop_column("agents", "paused_by")
