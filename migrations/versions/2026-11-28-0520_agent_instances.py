"""Which start of an agent speaks, and another one that was refused."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "d4a81c6f9e27"
down_revision = "c7f19a3e5d08"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("instance", "rival"):
        op.add_column("agents", sa.Column(name, postgresql.JSONB(astext_type=sa.Text()), nullable=True))


def downgrade() -> None:
    for name in ("rival", "instance"):
        op.drop_column("agents", name)
