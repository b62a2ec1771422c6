"""One-way delays and jitter of flows that kept delivery tables: metrics of each phase, and a sketch of each flow."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b7d40e92c1a8"
down_revision = "f5c18a7d3e90"
branch_labels = None
depends_on = None

METRICS = ("one_way_delay_ms", "in_order_delay_ms", "jitter_ms")


def upgrade() -> None:
    for name in METRICS:
        op.add_column("metrics", sa.Column(name, sa.Double(), nullable=True))
    op.create_table(
        "flow_delays",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("mean_ms", sa.Double(), nullable=True),
        sa.Column("median_ms", sa.Double(), nullable=True),
        sa.Column("p5_ms", sa.Double(), nullable=True),
        sa.Column("p95_ms", sa.Double(), nullable=True),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("clock_error_ms", sa.Double(), nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.Column("sketch", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_flow_delays_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "flow", "kind", name=op.f("pk_flow_delays")),
    )


def downgrade() -> None:
    op.drop_table("flow_delays")
    for name in METRICS:
        op.drop_column("metrics", name)
