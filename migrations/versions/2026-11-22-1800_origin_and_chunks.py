"""where a campaign comes from is said once; chunks are compressed already."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c5f18a2d7e40"
down_revision = "b7d20f4c6e18"
branch_labels = None
depends_on = None

CONTENTS = ("packed", "parquet")


def upgrade() -> None:
    op.drop_column("campaigns", "is_recorded")
    for name in CONTENTS:  # zstd inside: PostgreSQL would try in vain to compress them
        op.execute(f"ALTER TABLE chunks ALTER COLUMN {name} SET STORAGE EXTERNAL")


def downgrade() -> None:
    for name in CONTENTS:
        op.execute(f"ALTER TABLE chunks ALTER COLUMN {name} SET STORAGE EXTENDED")
    op.add_column(
        "campaigns",
        sa.Column("is_recorded", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    op.execute("UPDATE campaigns SET is_recorded = origin = 'recorded'")
    op.alter_column("campaigns", "is_recorded", server_default=None)
