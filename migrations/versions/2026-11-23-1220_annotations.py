"""What people note of the times of campaigns and links."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d05a7be1c264"
down_revision = "5c1f0d7e9a42"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "annotations",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("campaign_id", sa.Uuid(), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=True),
        sa.Column("link", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("from_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("to_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("campaign_id IS NOT NULL OR link IS NOT NULL", name=op.f("ck_annotations_subject")),
    )
    op.create_index("ix_annotations_campaign_id", "annotations", ["campaign_id"])
    op.create_index("ix_annotations_link", "annotations", ["link", "from_at"])


def downgrade() -> None:
    op.drop_table("annotations")
