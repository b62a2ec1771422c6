"""Each lease of a run has a name of its own, which its orders and events carry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "f6c03e81b249"
down_revision = "e5b92d70a138"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("lease", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "lease")
