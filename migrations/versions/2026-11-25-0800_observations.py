"""Quantities of links over time: dish, modem, weather."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c41f80b6d2a7"
down_revision = "f41b7a02c9de"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "link_quantities",
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("quantity", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("link", "quantity", "source", name=op.f("pk_link_quantities")),
    )
    op.create_table(
        "observations",
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("quantity", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("link", "quantity", "source", "at", name=op.f("pk_observations")),
        sa.ForeignKeyConstraint(
            ["link", "quantity", "source"],
            ["link_quantities.link", "link_quantities.quantity", "link_quantities.source"],
            name=op.f("fk_observations_link_link_quantities"),
            ondelete="CASCADE",
        ),
    )


def downgrade() -> None:
    op.drop_table("observations")
    op.drop_table("link_quantities")
