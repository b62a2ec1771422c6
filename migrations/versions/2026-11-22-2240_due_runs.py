"""runs say when they are to be looked at, so that a tick takes only those."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e8a17c53d046"
down_revision = "e7a41c9d0b35"
branch_labels = None
depends_on = None

ACTIVE = "('leased', 'preparing', 'running', 'restoring', 'uploading')"
INDEXES = {
    "ix_runs_wake_at": (["wake_at"], "wake_at IS NOT NULL"),
    "ix_runs_needs": (["needs_sent_at"], "needs IS NOT NULL"),
    "ix_runs_planned": (["campaign_id", "link", "due_at", "cycle", "position", "attempt"], "state = 'planned'"),
    "ix_runs_link_ended": (["link", sa.text("coalesce(released_at, ended_at)")], None),
}


def upgrade() -> None:
    op.add_column("runs", sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "wakes",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_wakes"),
    )
    for name, (columns, where) in INDEXES.items():
        op.create_index(name, "runs", columns, postgresql_where=sa.text(where) if where else None)
    # Whatever is under way is looked at by the first tick.
    op.execute(f"UPDATE runs SET wake_at = now() WHERE state IN {ACTIVE} AND released_at IS NULL")
    op.execute("INSERT INTO wakes (link) SELECT DISTINCT link FROM runs WHERE state = 'planned'")


def downgrade() -> None:
    for name in INDEXES:
        op.drop_index(name, table_name="runs")
    op.drop_table("wakes")
    op.drop_column("runs", "wake_at")
