"""Further receivers of links, and flows that go to them or share a content."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a7d3105be96c"
down_revision = "c91e5a0d47b3"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("links", sa.Column("further_receivers", sa.ARRAY(sa.Text()), server_default="{}", nullable=False))
    op.add_column("run_flows", sa.Column("receiver_number", sa.BigInteger(), server_default="1", nullable=False))
    op.add_column("run_flows", sa.Column("content", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("run_flows", "content")
    op.drop_column("run_flows", "receiver_number")
    op.drop_column("links", "further_receivers")
