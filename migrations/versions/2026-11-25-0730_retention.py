"""How long each campaign's data is kept, and which runs have lost theirs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "f3b71d90a6c2"
down_revision = "b7d05a3c9e14"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "retentions",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("traces_days", sa.BigInteger(), nullable=True),
        sa.Column("series_days", sa.BigInteger(), nullable=True),
        sa.Column("all_days", sa.BigInteger(), nullable=True),
        sa.Column("going", sa.Text(), nullable=True),
        sa.Column("ordered_by", sa.Text(), nullable=True),
        sa.Column("sent_at", MOMENT, nullable=True),
        sa.Column("gone", sa.Text(), nullable=True),
        sa.Column("gone_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_retentions_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_retentions")),
    )
    op.create_index(
        "ix_retentions_going", "retentions", ["sent_at"], postgresql_where=sa.text("going IS NOT NULL")
    )
    op.add_column("runs", sa.Column("traces_removed_at", MOMENT, nullable=True))
    op.add_column("runs", sa.Column("series_removed_at", MOMENT, nullable=True))
    op.add_column("chunks", sa.Column("parquet_bytes", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("chunks", "parquet_bytes")
    op.drop_column("runs", "series_removed_at")
    op.drop_column("runs", "traces_removed_at")
    op.drop_table("retentions")
