"""What a run's numbers are beside what its campaign expects."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "c91e5a0d47b3"
down_revision = "d2a96e41b7f3"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("checks", postgresql.JSONB(none_as_null=True), nullable=True))


def downgrade() -> None:
    # What was logged of it goes along: an older server would not know its kind, in the stream and in what is pruned.
    op.execute("DELETE FROM events WHERE kind = 'unexpected'")
    op.execute("UPDATE channels SET topics = array_remove(topics, 'unexpected')")
    op.execute("DELETE FROM channels WHERE topics = '{}'")
    op.drop_column("runs", "checks")
