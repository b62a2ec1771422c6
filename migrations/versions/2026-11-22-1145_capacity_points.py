"""capacity points; marks of verdicts as columns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a4c90e27b61d"
down_revision = "a41c7be02f95"
branch_labels = None
depends_on = None

CAPACITY = {
    "capacity_us": sa.BigInteger,
    "capacity_basis": sa.Text,
    "capacity_rate_bps": sa.Float,
    "least_rtt_us": sa.BigInteger,
    "stayed_in_slow_start": sa.Boolean,
}


def upgrade() -> None:
    for name, kind in CAPACITY.items():
        op.add_column("slow_starts", sa.Column(name, kind(), nullable=True))
    op.add_column("exits", sa.Column("is_too_late", sa.Boolean(), nullable=True))
    op.add_column("exits", sa.Column("cwnd_source", sa.Text(), nullable=True))
    op.execute(
        "UPDATE exits SET is_too_late = coalesce((quantities->>'is_too_late')::boolean, false), "
        "cwnd_source = quantities->>'cwnd_source', quantities = quantities - 'is_too_late' - 'cwnd_source'"
    )


def downgrade() -> None:
    op.drop_column("exits", "cwnd_source")
    op.drop_column("exits", "is_too_late")
    for name in reversed(CAPACITY):
        op.drop_column("slow_starts", name)
