"""what held flows back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c4a9e2f17b60"
down_revision = "b3c7d1f0a5e2"
branch_labels = None
depends_on = None

SHARES = ("congestion_window", "receive_window", "send_buffer", "application")


def upgrade() -> None:
    op.create_table(
        "limits",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Double(), nullable=True) for name in SHARES),
        sa.Column("bdp_bytes", sa.BigInteger(), nullable=True),
        sa.Column("is_lower_bound", sa.Boolean(), nullable=True),
        sa.Column("max_bytes", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_limits_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", name=op.f("pk_limits")),
    )
    op.create_table(
        "limit_bins",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("bin_s", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Double(), nullable=True) for name in SHARES),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_limit_bins_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", "bin_s", name=op.f("pk_limit_bins")),
    )


def downgrade() -> None:
    op.drop_table("limit_bins")
    op.drop_table("limits")
