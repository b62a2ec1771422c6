"""Object times at the receiver, and how far SEARCH's binned curve is off; computed when a run is analysed, or analysed anew."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c7b15e90d3a2"
down_revision = "c7e2a90d4f58"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run_flows", sa.Column("received_times_s", sa.ARRAY(sa.Double()), nullable=True))
    op.add_column("slow_starts", sa.Column("mean_error_ratio", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("slow_starts", "mean_error_ratio")
    op.drop_column("run_flows", "received_times_s")
