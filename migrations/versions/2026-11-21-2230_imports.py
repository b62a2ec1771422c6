"""where a campaign comes from, and the file behind an imported run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "d7e3b05c9a18"
down_revision = "c4a9e2f17b60"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("origin", sa.Text(), nullable=False, server_default="measured"))
    op.execute("UPDATE campaigns SET origin = 'recorded' WHERE is_recorded")
    json = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    op.add_column("runs", sa.Column("import_source", json, nullable=True))
    op.alter_column("runs", "nominal_rate_bps", existing_type=sa.BigInteger(), nullable=True)


def downgrade() -> None:
    """Imported campaigns have no place in the older tables."""
    op.execute("DELETE FROM campaigns WHERE origin = 'imported'")
    op.alter_column("runs", "nominal_rate_bps", existing_type=sa.BigInteger(), nullable=False)
    op.drop_column("runs", "import_source")
    op.drop_column("campaigns", "origin")
