"""What a run may carry, as settled at its start."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "b83d5f10c6e2"
down_revision = "5b0c7e19d3a4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("budget", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "budget")
