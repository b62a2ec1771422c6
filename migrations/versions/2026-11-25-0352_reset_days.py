"""The day on which the month of a link's allowance begins."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e2a90c57f1b8"
down_revision = "e2a86c41f70d"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("links", sa.Column("reset_day", sa.BigInteger(), server_default="1", nullable=False))


def downgrade() -> None:
    op.drop_column("links", "reset_day")
