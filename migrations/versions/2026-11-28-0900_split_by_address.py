"""What people say about ways and rates: whether addresses tell runs apart, and how far a link may exceed its nominal rate."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b28e61da04f7"
down_revision = "a17d50c93e62"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("links", sa.Column("rate_tolerance_percent", sa.Double(), server_default="50", nullable=False))
    op.add_column("campaigns", sa.Column("splits_by_address", sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    op.drop_column("links", "rate_tolerance_percent")
    op.drop_column("campaigns", "splits_by_address")
