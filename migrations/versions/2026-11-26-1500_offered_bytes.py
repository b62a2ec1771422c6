"""Bytes that came to an emulated link in each phase."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e41b7c92a0d5"
down_revision = "a7d3105be96c"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("link_phases", sa.Column("offered_bytes", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("link_phases", "offered_bytes")
