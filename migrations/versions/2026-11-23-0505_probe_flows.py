"""metrics of probe flows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c4f19d7e02ab"
down_revision = "c7d20e5a81f4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("metrics", sa.Column("probe_loss_percent", sa.Float(), nullable=True))
    op.add_column("metrics", sa.Column("probe_rtt_p95_ms", sa.Float(), nullable=True))


def downgrade() -> None:
    op.drop_column("metrics", "probe_rtt_p95_ms")
    op.drop_column("metrics", "probe_loss_percent")
