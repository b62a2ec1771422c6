"""a run knows what its emulated link is restarted with, and what came of that."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "c7d20e5a81f4"
down_revision = "c7b15e90d3a2"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("link_seed", sa.BigInteger(), nullable=True))
    op.add_column("runs", sa.Column("link_outcome", postgresql.JSONB(none_as_null=True), nullable=True))


def downgrade() -> None:
    """The logs themselves go: what was known of a link then had no place."""
    op.execute("DELETE FROM chunks WHERE point = 'link'")
    op.execute("DELETE FROM traces WHERE point = 'link'")
    op.drop_column("runs", "link_outcome")
    op.drop_column("runs", "link_seed")
