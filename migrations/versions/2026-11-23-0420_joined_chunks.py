"""up to 16 chunks of a sealed trace share one Parquet file; each chunk's samples are in one place."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c7e2a90d4f58"
down_revision = "a4e8c2b61d70"
branch_labels = None
depends_on = None

ONE_PLACE = "num_nonnulls(packed, parquet, folder_id, joined_to) = 1"


def upgrade() -> None:
    op.add_column("chunks", sa.Column("joined_to", sa.BigInteger(), nullable=True))
    op.create_check_constraint(op.f("ck_chunks_one_place"), "chunks", ONE_PLACE)


def downgrade() -> None:
    found = op.get_bind().execute(sa.text("SELECT count(*) FROM chunks WHERE joined_to IS NOT NULL")).scalar_one()
    if found:
        raise RuntimeError(
            f"{found} chunks share Parquet files, which earlier versions cannot read: load a dump from before the upgrade"
        )
    op.drop_constraint(op.f("ck_chunks_one_place"), "chunks")
    op.drop_column("chunks", "joined_to")
