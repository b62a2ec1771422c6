"""Links say in which time zone their terminal is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c31f5a9e8d07"
down_revision = "c41d90b7a2e5"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("links", sa.Column("time_zone", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("links", "time_zone")
