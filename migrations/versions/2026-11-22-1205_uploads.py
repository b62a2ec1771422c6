"""how an agent's upload goes on; what is pruned is found by an index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b7d20f4c6e18"
down_revision = "b93d61f8a27c"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run_hosts", sa.Column("upload_orders", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("run_hosts", sa.Column("upload_asked_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("run_hosts", sa.Column("stored_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("run_hosts", sa.Column("stored_bytes", sa.BigInteger(), server_default="0", nullable=False))
    op.drop_index("ix_events_progress", table_name="events")
    pruned = sa.text("kind NOT IN ('run', 'campaign', 'report')")
    op.create_index("ix_events_pruned", "events", ["kind", "at"], postgresql_where=pruned)


def downgrade() -> None:
    op.drop_index("ix_events_pruned", table_name="events")
    op.create_index("ix_events_progress", "events", ["at"], postgresql_where=sa.text("kind = 'progress'"))
    for name in ("stored_bytes", "stored_at", "upload_asked_at", "upload_orders"):
        op.drop_column("run_hosts", name)
