"""Indexes for what the tick asks every ten seconds of notifications, and at each run's end of the runs before it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d7b3e5091ac4"
down_revision = "c1f7a90d53e2"
branch_labels = None
depends_on = None


def upgrade() -> None:
    of_agents = sa.text("agent_id IS NOT NULL")
    columns = ["channel_id", "agent_id", sa.text("created_at DESC")]
    op.create_index("ix_notifications_agent", "notifications", columns, postgresql_where=of_agents)
    ended = sa.text("coalesce(released_at, ended_at)")
    op.create_index("ix_runs_series", "runs", ["campaign_id", "link", ended, "id"])


def downgrade() -> None:
    op.drop_index("ix_runs_series", "runs")
    op.drop_index("ix_notifications_agent", "notifications")
