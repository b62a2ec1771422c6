"""Triggers of campaigns, what they fired, and the cause of each run that one started."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "f5c18a7d3e90"
down_revision = "e2a9d3b64c17"
branch_labels = None
depends_on = None


def upgrade() -> None:
    at = sa.DateTime(timezone=True)
    json = JSONB(none_as_null=True, astext_type=sa.Text())
    op.create_table(
        "triggers",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("called_at", at, nullable=True),
        sa.Column("waits", sa.Text(), nullable=True),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.Column("refused_at", at, nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_triggers_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_triggers")),
    )
    op.create_table(
        "firings",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at", at, nullable=False),
        sa.Column("cause", json, nullable=False),
        sa.Column("first_cycle", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_firings_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", "number", name=op.f("pk_firings")),
    )
    op.create_index("ix_firings_at", "firings", ["campaign_id", "at"])
    op.add_column("runs", sa.Column("trigger", json, nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "trigger")
    op.drop_table("firings")
    op.drop_table("triggers")
