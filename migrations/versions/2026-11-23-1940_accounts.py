"""Accounts have roles; invitations make them; campaigns, links and tokens have owners."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c51b0e7d2a84"
down_revision = "a4d17e60c93b"
branch_labels = None
depends_on = None
OWNED = ("campaigns", "links")


def upgrade() -> None:
    op.add_column("users", sa.Column("role", sa.Text(), server_default="admin", nullable=False))
    op.create_table(
        "invitations",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Uuid(), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=True),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_invitations_secret_hash")),
    )
    _add_account("api_tokens", "user_id", "CASCADE")
    for table in OWNED:
        _add_account(table, "owner_id", "SET NULL")
        # Until now there was one account, and it made what there is.
        op.execute(f"UPDATE {table} SET owner_id = (SELECT id FROM users ORDER BY created_at LIMIT 1)")


def _add_account(table: str, column: str, at_its_end: str) -> None:
    op.add_column(table, sa.Column(column, sa.Uuid(), nullable=True))
    op.create_foreign_key(f"fk_{table}_{column}_users", table, "users", [column], ["id"], ondelete=at_its_end)
    op.create_index(f"ix_{table}_{column}", table, [column])


def downgrade() -> None:
    for table in OWNED:
        op.drop_column(table, "owner_id")
    op.drop_column("api_tokens", "user_id")
    op.drop_table("invitations")
    op.drop_column("users", "role")
