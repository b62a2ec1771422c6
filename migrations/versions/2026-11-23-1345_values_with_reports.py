"""Reports from before are made again: every run's values are kept beside a report now, and without them each look at a
distribution would compute the whole report."""

from __future__ import annotations

from alembic import op

revision = "e83b1f5c7d42"
down_revision = "d05a7be1c264"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """UPDATE campaigns SET report_wanted = report_wanted + 1, report_sent_at = NULL
           WHERE EXISTS (SELECT FROM report_answers WHERE campaign_id = campaigns.id)
             AND NOT EXISTS (SELECT FROM report_answers WHERE campaign_id = campaigns.id AND name = 'values')"""
    )


def downgrade() -> None:
    """A report that is made once more is the same."""
