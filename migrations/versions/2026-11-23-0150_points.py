"""chunks and traces name the point of measurement where they named the end of a flow."""

from __future__ import annotations

from alembic import op

revision = "a4e8c2b61d70"
down_revision = "a6d3f07b9c41"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("chunks", "traces"):
        op.alter_column(table, "end", new_column_name="point")


def downgrade() -> None:
    for table in ("chunks", "traces"):
        op.alter_column(table, "point", new_column_name="end")
