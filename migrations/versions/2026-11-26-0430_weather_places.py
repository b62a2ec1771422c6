"""Where links are, and the places for which a weather service is asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d2a96e41b7f3"
down_revision = "b7d40e92c1a8"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("links", sa.Column("latitude", sa.Double(), nullable=True))
    op.add_column("links", sa.Column("longitude", sa.Double(), nullable=True))
    op.create_table(
        "weather_places",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("latitude", sa.Double(), nullable=False),
        sa.Column("longitude", sa.Double(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("hinted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reading_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_weather_places")),
        sa.UniqueConstraint("latitude", "longitude", name="uq_weather_places_place"),
    )


def downgrade() -> None:
    op.drop_table("weather_places")
    op.drop_column("links", "longitude")
    op.drop_column("links", "latitude")
