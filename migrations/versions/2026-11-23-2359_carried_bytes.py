"""a flow's bytes are a number of their own, so that a sum over many runs need not open their outcomes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e8a41c07d925"
down_revision = "d5c20b8e17f6"
branch_labels = None
depends_on = None

CARRIED = "coalesce(greatest((sender_outcome ->> 'app_bytes')::bigint, (receiver_outcome ->> 'app_bytes')::bigint), 0)"


def upgrade() -> None:
    op.add_column(
        "run_flows", sa.Column("carried_bytes", sa.BigInteger(), sa.Computed(CARRIED, persisted=True), nullable=False)
    )
    op.create_index("ix_run_flows_carried", "run_flows", ["run_id"], postgresql_include=["carried_bytes"])


def downgrade() -> None:
    op.drop_index("ix_run_flows_carried", table_name="run_flows")
    op.drop_column("run_flows", "carried_bytes")
