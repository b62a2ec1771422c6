"""Every means of access knows what it was made by, and no claim of an agent exceeds what its link carries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c7f19a3e5d08"
down_revision = "b83d5f10c6e2"
branch_labels = None
depends_on = None

SENT, RECEIVED = "(sender_outcome ->> 'app_bytes')::bigint", "(receiver_outcome ->> 'app_bytes')::bigint"
BEFORE = f"coalesce(greatest({SENT}, {RECEIVED}), 0)"
AFTER = (
    f"coalesce(CASE WHEN greatest({SENT}, {RECEIVED}) > most_bytes "
    f"THEN least({SENT}, {RECEIVED}, CASE WHEN num_nulls({SENT}, {RECEIVED}) > 0 THEN most_bytes END) "
    f"ELSE greatest({SENT}, {RECEIVED}) END, 0)"
)
MADE_BY = {"enrolments": "CASCADE", "invitations": "CASCADE", "shares": "SET NULL", "triggers": "SET NULL"}


def upgrade() -> None:
    op.add_column("provider_visits", sa.Column("origin", sa.Text(), server_default="", nullable=False))
    op.add_column("provider_visits", sa.Column("session_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        op.f("fk_provider_visits_session_id"), "provider_visits", "sessions", ["session_id"], ["id"], ondelete="CASCADE"
    )
    op.add_column("api_tokens", sa.Column("parent_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        op.f("fk_api_tokens_parent_id"), "api_tokens", "api_tokens", ["parent_id"], ["id"], ondelete="CASCADE"
    )
    for table, on_delete in MADE_BY.items():
        op.add_column(table, sa.Column("account_id", sa.Uuid(), nullable=True))
        op.create_foreign_key(
            op.f(f"fk_{table}_account_id"), table, "users", ["account_id"], ["id"], ondelete=on_delete
        )
    op.add_column("run_flows", sa.Column("most_bytes", sa.BigInteger(), nullable=True))
    _compute(AFTER)


def downgrade() -> None:
    _compute(BEFORE)
    op.drop_column("run_flows", "most_bytes")
    for table in MADE_BY:
        op.drop_column(table, "account_id")
    op.drop_column("api_tokens", "parent_id")
    op.drop_column("provider_visits", "session_id")
    op.drop_column("provider_visits", "origin")


def _compute(expression: str) -> None:
    """PostgreSQL 15 cannot change what a column is computed by."""
    op.drop_index("ix_run_flows_carried", table_name="run_flows")
    op.drop_column("run_flows", "carried_bytes")
    op.add_column(
        "run_flows",
        sa.Column("carried_bytes", sa.BigInteger(), sa.Computed(expression, persisted=True), nullable=False),
    )
    op.create_index("ix_run_flows_carried", "run_flows", ["run_id"], postgresql_include=["carried_bytes"])
