"""Which campaign keeps the quick tests of a link."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c41d90b7a2e5"
down_revision = "b7e2c40d9f18"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("quick_link", sa.Text(), nullable=True))
    op.create_index(
        "ix_campaigns_quick_link", "campaigns", ["quick_link"], postgresql_where=sa.text("quick_link IS NOT NULL")
    )


def downgrade() -> None:
    op.drop_index("ix_campaigns_quick_link", "campaigns")
    op.drop_column("campaigns", "quick_link")
