"""Runs by the moment of their end, for those who watch the server."""

from __future__ import annotations

from alembic import op

revision = "c4f17a90d3be"
down_revision = "e8a41c07d925"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_runs_ended_at", "runs", ["ended_at"])


def downgrade() -> None:
    op.drop_index("ix_runs_ended_at", "runs")
