"""What emulated links did in each phase, and what they lost of each flow."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b7e2c40d9f18"
down_revision = "d8a35e60c17b"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "link_phases",
        sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("queueing_ms", sa.Double(), nullable=True),
        sa.Column("queueing_p95_ms", sa.Double(), nullable=True),
        sa.Column("queueing_most_ms", sa.Double(), nullable=True),
        sa.Column("waiting_bytes", sa.Double(), nullable=True),
        sa.Column("waiting_p95_bytes", sa.Double(), nullable=True),
        sa.Column("waiting_most_bytes", sa.Double(), nullable=True),
        sa.Column("served_ratio", sa.Double(), nullable=True),
        sa.Column("gap_s", sa.Double(), nullable=True),
        sa.Column("outage_s", sa.Double(), nullable=True),
        sa.Column("congestion_loss_percent", sa.Double(), nullable=True),
        sa.Column("link_loss_percent", sa.Double(), nullable=True),
        sa.Column("queue_full_percent", sa.Double(), nullable=True),
        sa.Column("early_drop_percent", sa.Double(), nullable=True),
        sa.Column("random_loss_percent", sa.Double(), nullable=True),
        sa.Column("outage_percent", sa.Double(), nullable=True),
        sa.Column("handover_percent", sa.Double(), nullable=True),
        sa.Column("queue_full_bytes", sa.Double(), nullable=True),
        sa.Column("early_drop_bytes", sa.Double(), nullable=True),
        sa.Column("random_loss_bytes", sa.Double(), nullable=True),
        sa.Column("outage_bytes", sa.Double(), nullable=True),
        sa.Column("handover_bytes", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "phase"),
    )
    op.create_table(
        "flow_losses",
        sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("lost_packets", sa.Double(), nullable=True),
        sa.Column("congestion_share_percent", sa.Double(), nullable=True),
        sa.Column("queue_full_packets", sa.Double(), nullable=True),
        sa.Column("early_drop_packets", sa.Double(), nullable=True),
        sa.Column("random_loss_packets", sa.Double(), nullable=True),
        sa.Column("outage_packets", sa.Double(), nullable=True),
        sa.Column("handover_packets", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "flow"),
    )


def downgrade() -> None:
    op.drop_table("flow_losses")
    op.drop_table("link_phases")
