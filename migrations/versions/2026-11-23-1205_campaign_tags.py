"""Tags of campaigns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5c1f0d7e9a42"
down_revision = "c31f5a9e8d07"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("tags", sa.ARRAY(sa.Text()), nullable=False, server_default="{}"))


def downgrade() -> None:
    op.drop_column("campaigns", "tags")
