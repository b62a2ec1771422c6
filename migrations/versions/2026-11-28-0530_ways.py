"""Which way a run's flows took, what the link cannot have given, and what a person decided about it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "e5b92d70a138"
down_revision = "d4a81c6f9e27"
branch_labels = None
depends_on = None

NAMES = ("way", "implausible", "decision")


def upgrade() -> None:
    for name in NAMES:
        op.add_column("runs", sa.Column(name, postgresql.JSONB(astext_type=sa.Text()), nullable=True))


def downgrade() -> None:
    for name in reversed(NAMES):
        op.drop_column("runs", name)
