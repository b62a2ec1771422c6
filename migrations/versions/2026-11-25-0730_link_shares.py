"""Campaigns take turns on a link by weight."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b7d05a3c9e14"
down_revision = "e2a90c57f1b8"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "link_shares",
        sa.Column(
            "campaign_id", sa.Uuid(), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True, nullable=False
        ),
        sa.Column("link", sa.Text(), primary_key=True, nullable=False),
        sa.Column("from_s", sa.Double(), nullable=False),
        sa.Column("to_s", sa.Double(), nullable=False),
    )
    op.create_index("ix_link_shares_link", "link_shares", ["link"])


def downgrade() -> None:
    op.drop_table("link_shares")
