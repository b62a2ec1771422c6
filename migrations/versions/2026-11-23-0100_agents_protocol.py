"""agents say which version of the protocol they speak; those from before spoke version 1."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "f0b1d7a35c92"
down_revision = "e8a17c53d046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("agents", sa.Column("protocol", sa.BigInteger(), server_default="1", nullable=False))


def downgrade() -> None:
    op.drop_column("agents", "protocol")
