"""Paths over satellites that were made on this server."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "e2a86c41f70d"
down_revision = "d7b3e5091ac4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "paths",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("ready", sa.Text(), nullable=False),
        sa.Column("duration_us", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("done_us", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tries", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("header", JSONB(), nullable=True),
        sa.Column("summary", JSONB(), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=True),
    )


def downgrade() -> None:
    op.drop_table("paths")
