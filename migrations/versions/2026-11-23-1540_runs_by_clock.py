"""Runs are found by when they began or are due, whatever campaign and link they are of: for the calendar."""

from __future__ import annotations

from alembic import op

revision = "7d20c4f9b6a1"
down_revision = "e83b1f5c7d42"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX ix_runs_clock ON runs (coalesce(start_at, due_at))")


def downgrade() -> None:
    op.execute("DROP INDEX ix_runs_clock")
