"""Links by which whoever has one reads one campaign."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a4d17e60c93b"
down_revision = "7d20c4f9b6a1"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "shares",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("campaign_id", sa.Uuid(), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("opened", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_shares_secret_hash")),
    )
    op.create_index("ix_shares_campaign_id", "shares", ["campaign_id"])


def downgrade() -> None:
    op.drop_table("shares")
