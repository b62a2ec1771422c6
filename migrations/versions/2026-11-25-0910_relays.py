"""Relays of links, what flows over them are carried by, and what came of them there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "e2a9d3b64c17"
down_revision = "c41f80b6d2a7"
branch_labels = None
depends_on = None

_FLOWS = ("carrier", "offer", "hop_outcomes")


def upgrade() -> None:
    for table in ("links", "run_flows"):
        op.add_column(table, sa.Column("relays", sa.ARRAY(sa.Text()), server_default="{}", nullable=False))
    for name in _FLOWS:
        op.add_column("run_flows", sa.Column(name, JSONB(none_as_null=True), nullable=True))
    op.add_column("runs", sa.Column("hop_secret", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "hop_secret")
    for name in _FLOWS:
        op.drop_column("run_flows", name)
    for table in ("links", "run_flows"):
        op.drop_column(table, "relays")
