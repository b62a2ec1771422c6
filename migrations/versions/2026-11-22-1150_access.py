"""sessions that can be listed, an audit by id, and positions that count from 1 in imported runs too."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b93d61f8a27c"
down_revision = "a4c90e27b61d"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("id", sa.Uuid(), nullable=False, server_default=sa.text("gen_random_uuid()")))
    op.alter_column("sessions", "id", server_default=None)
    op.create_unique_constraint(op.f("uq_sessions_id"), "sessions", ["id"])
    for name in ("address", "browser"):
        op.add_column("sessions", sa.Column(name, sa.Text(), nullable=False, server_default=""))
        op.alter_column("sessions", name, server_default=None)
    op.add_column("audit", sa.Column("actor_kind", sa.Text(), nullable=False, server_default="unknown"))
    op.alter_column("audit", "actor_kind", server_default=None)
    op.add_column("audit", sa.Column("actor_id", sa.Uuid(), nullable=True))
    op.add_column("audit", sa.Column("subject_id", sa.Uuid(), nullable=True))
    move_imported_runs(1)


def move_imported_runs(places: int) -> None:
    """By way of negative places: a place is unique at every moment of an update."""
    op.execute(f"UPDATE runs SET position = -1000000 - (position + {places}) WHERE import_source IS NOT NULL")
    op.execute("UPDATE runs SET position = -1000000 - position WHERE import_source IS NOT NULL")


def downgrade() -> None:
    move_imported_runs(-1)
    for name in ("subject_id", "actor_id", "actor_kind"):
        op.drop_column("audit", name)
    op.drop_constraint(op.f("uq_sessions_id"), "sessions")
    for name in ("browser", "address", "id"):
        op.drop_column("sessions", name)
