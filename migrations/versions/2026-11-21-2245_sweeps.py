"""detectors swept over their parameters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "e52d80c6f4b1"
down_revision = "d7e3b05c9a18"
branch_labels = None
depends_on = None


def upgrade() -> None:
    json = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    op.create_table(
        "sweeps",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("detector", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("grid", json, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cells", json, nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_sweeps_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweeps")),
    )
    op.create_index(op.f("ix_sweeps_campaign_id"), "sweeps", ["campaign_id"])
    op.create_table(
        "sweep_parts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("sweep_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("timings", sa.Text(), nullable=True),
        sa.Column("headrooms_us", json, nullable=True),
        sa.ForeignKeyConstraint(["sweep_id"], ["sweeps.id"], name=op.f("fk_sweep_parts_sweep_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_sweep_parts_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweep_parts")),
    )
    op.create_index("ix_sweep_parts_sweep_id", "sweep_parts", ["sweep_id"])
    open_parts = sa.text("timings IS NULL")
    op.create_index("ix_sweep_parts_open", "sweep_parts", ["sweep_id", "sent_at"], postgresql_where=open_parts)


def downgrade() -> None:
    op.drop_table("sweep_parts")
    op.drop_table("sweeps")
