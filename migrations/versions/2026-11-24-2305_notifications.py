"""Channels of notifications, and the notifications themselves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "c1f7a90d53e2"
down_revision = "c4f17a90d3be"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "channels",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("owner_id", sa.Uuid(), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=True),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "kind", "target")),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("topics", ARRAY(sa.Text()), nullable=False),
        sa.Column("is_own_only", sa.Boolean(), nullable=False),
        sa.Column("failures_in_row", sa.BigInteger(), nullable=False),
        sa.Column("gone_after_min", sa.BigInteger(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_xact", sa.BigInteger(), nullable=False),
        sa.Column("seen_id", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_channels_owner_id", "channels", ["owner_id"])
    op.create_table(
        "notifications",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("channel_id", sa.Uuid(), sa.ForeignKey("channels.id", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("key", "topic", "type", "title")),
        sa.Column("body", JSONB(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("hinted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.BigInteger(), server_default="0", nullable=False),
        *(sa.Column(name, sa.DateTime(timezone=True), nullable=True) for name in ("tried_at", "sent_at", "gave_up_at")),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.UniqueConstraint("channel_id", "key", name="uq_notifications_key"),
    )
    is_open = sa.text("sent_at IS NULL AND gave_up_at IS NULL")
    op.create_index("ix_notifications_due", "notifications", ["due_at"], postgresql_where=is_open)
    op.create_index("ix_notifications_newest", "notifications", ["channel_id", "created_at"])


def downgrade() -> None:
    op.drop_table("notifications")
    op.drop_table("channels")
