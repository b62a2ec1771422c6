"""slow-start exits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "b3c7d1f0a5e2"
down_revision = "91d7ca2e579b"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "slow_starts",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("origin_us", sa.BigInteger(), nullable=True),
        sa.Column("cg_us", sa.BigInteger(), nullable=True),
        sa.Column("ex_us", sa.BigInteger(), nullable=True),
        sa.Column("dp_us", sa.BigInteger(), nullable=True),
        sa.Column("hr_us", sa.BigInteger(), nullable=True),
        sa.Column("is_success", sa.Boolean(), nullable=True),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.Column("analysis_version", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_slow_starts_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", name=op.f("pk_slow_starts")),
    )
    json = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    op.create_table(
        "exits",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("detector", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("exit_us", sa.BigInteger(), nullable=True),
        sa.Column("cwnd_segments", sa.BigInteger(), nullable=True),
        sa.Column("parameters", json, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("quantities", json, nullable=False),
        sa.Column("is_decidable", sa.Boolean(), nullable=False),
        sa.Column("timing", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_exits_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", "place", name=op.f("pk_exits")),
    )


def downgrade() -> None:
    op.drop_table("exits")
    op.drop_table("slow_starts")
