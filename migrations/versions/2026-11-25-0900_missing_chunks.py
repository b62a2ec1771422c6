"""What an agent says of chunks that it cannot deliver, and whether a proxy ended a flow's TCP."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "f41b7a02c9de"
down_revision = "a84d20c7e915"
branch_labels = None
depends_on = None


def upgrade() -> None:
    missing = sa.Column(
        "missing", postgresql.JSONB(), server_default="[]", nullable=False
    )
    op.add_column("run_hosts", missing)
    op.create_table(
        "flow_proxies",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("near", sa.Text(), nullable=True),
        *(
            sa.Column(name, sa.Double(), nullable=True)
            for name in (
                "ack_lead_ms",
                "clock_error_ms",
                "sender_handshake_ms",
                "receiver_handshake_ms",
                "probe_rtt_ms",
                "base_rtt_ms",
            )
        ),
        sa.Column("sender_window_bytes", sa.BigInteger(), nullable=True),
        sa.Column("receiver_window_bytes", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["runs.id"],
            name=op.f("fk_flow_proxies_run_id_runs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "flow", name=op.f("pk_flow_proxies")),
    )


def downgrade() -> None:
    op.drop_table("flow_proxies")
    op.drop_column("run_hosts", "missing")
