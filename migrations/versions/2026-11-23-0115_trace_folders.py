"""sealed chunks may be in folders of a trace store; a folder that loses a chunk is due to be looked at."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a6d3f07b9c41"
down_revision = "f0b1d7a35c92"
branch_labels = None
depends_on = None

LEFT = "UPDATE trace_folders SET due_at = now() WHERE id = OLD.folder_id AND due_at IS DISTINCT FROM now();"


def upgrade() -> None:
    op.create_table(
        "trace_folders",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trace_folders")),
    )
    op.create_index(
        op.f("ix_trace_folders_due_at"), "trace_folders", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL")
    )
    op.add_column("chunks", sa.Column("folder_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(op.f("fk_chunks_folder_id"), "chunks", "trace_folders", ["folder_id"], ["id"])
    op.create_index(
        op.f("ix_chunks_folder_id"), "chunks", ["folder_id"], postgresql_where=sa.text("folder_id IS NOT NULL")
    )
    op.execute(f"CREATE FUNCTION leave_folder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {LEFT} RETURN NULL; END $$")
    op.execute(
        "CREATE TRIGGER leave_folder AFTER DELETE ON chunks FOR EACH ROW WHEN (OLD.folder_id IS NOT NULL)"
        " EXECUTE FUNCTION leave_folder()"
    )
    op.execute(
        "CREATE TRIGGER move_folder AFTER UPDATE OF folder_id ON chunks FOR EACH ROW"
        " WHEN (OLD.folder_id IS NOT NULL AND OLD.folder_id IS DISTINCT FROM NEW.folder_id)"
        " EXECUTE FUNCTION leave_folder()"
    )


def downgrade() -> None:
    found = op.get_bind().execute(sa.text("SELECT count(*) FROM chunks WHERE folder_id IS NOT NULL")).scalar_one()
    if found:
        raise RuntimeError(f"{found} chunks are in a trace store: set DOWNLINK_TRACE_STORE=database, type `downlink move-traces`")
    op.execute("DROP TRIGGER move_folder ON chunks")
    op.execute("DROP TRIGGER leave_folder ON chunks")
    op.execute("DROP FUNCTION leave_folder()")
    op.drop_column("chunks", "folder_id")
    op.drop_table("trace_folders")
