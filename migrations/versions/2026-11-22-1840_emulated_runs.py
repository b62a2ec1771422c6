"""a run knows whether its link was emulated, and so on which basis its exits are judged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d3b86f1e52a9"
down_revision = "c5f18a2d7e40"
branch_labels = None
depends_on = None

BY_LINK = """
    UPDATE runs SET is_emulated = links.is_emulated FROM links, campaigns
    WHERE links.name = runs.link AND campaigns.id = runs.campaign_id AND campaigns.origin = 'measured'
"""
BY_BASIS = """
    UPDATE runs SET is_emulated = true FROM slow_starts
    WHERE slow_starts.run_id = runs.id AND slow_starts.capacity_basis = 'emulated_rate'
"""


def upgrade() -> None:
    op.add_column("runs", sa.Column("is_emulated", sa.Boolean(), nullable=True))
    op.execute(BY_LINK)
    op.execute(BY_BASIS)


def downgrade() -> None:
    op.drop_column("runs", "is_emulated")
