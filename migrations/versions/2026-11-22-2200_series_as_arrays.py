"""series and limits of each second are arrays, a row for each flow; answers are stored with the report."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "f2a74c9d0b16"
down_revision = "d3b86f1e52a9"
branch_labels = None
depends_on = None

QUANTITIES = (
    "throughput_bps", "goodput_bps", "rtt_ms", "rwnd_bytes", "cwnd_bytes", "retransmission_percent", "in_flight_bytes",
)  # fmt: skip
LIMITS = ("congestion_window", "receive_window", "send_buffer", "application")
BATCH = 200


def packed(names: Sequence[str]) -> str:
    """SQL for the big-endian doubles of these columns, one column after the other, NaN where missing."""
    each = "string_agg(float8send(coalesce({}, 'NaN')), ''::bytea ORDER BY bin_s)"
    return " || ".join(each.format(name) for name in names)


def upgrade() -> None:
    op.create_table(
        "flow_series",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("bins", sa.BigInteger(), nullable=False),
        sa.Column("quantities", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_flow_series_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", name="pk_flow_series"),
    )
    names = ", ".join(f"'{name}'" for name in QUANTITIES)
    op.execute(
        f"INSERT INTO flow_series SELECT run_id, flow, count(*), ARRAY[{names}], {packed(QUANTITIES)} "  # noqa: S608
        "FROM series GROUP BY run_id, flow"
    )
    op.drop_table("series")
    op.add_column("limits", sa.Column("seconds", sa.LargeBinary(), server_default="", nullable=False))
    op.execute(
        f"UPDATE limits SET seconds = found.seconds FROM (SELECT run_id, flow, {packed(LIMITS)} AS seconds "  # noqa: S608
        "FROM limit_bins GROUP BY run_id, flow) found WHERE limits.run_id = found.run_id AND limits.flow = found.flow"
    )
    op.alter_column("limits", "seconds", server_default=None)
    op.drop_table("limit_bins")
    op.create_table(
        "report_answers",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name="fk_report_answers_campaign_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", "name", name="pk_report_answers"),
    )


def downgrade() -> None:
    op.drop_table("report_answers")
    for table, names in (("series", QUANTITIES), ("limit_bins", LIMITS)):
        made = op.create_table(
            table,
            sa.Column("run_id", sa.Uuid(), nullable=False),
            sa.Column("flow", sa.BigInteger(), nullable=False),
            sa.Column("bin_s", sa.BigInteger(), nullable=False),
            *(sa.Column(name, sa.Double(), nullable=True) for name in names),
            sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=f"fk_{table}_run_id", ondelete="CASCADE"),
            sa.PrimaryKeyConstraint("run_id", "flow", "bin_s", name=f"pk_{table}"),
        )
        source = "packed FROM flow_series" if table == "series" else "seconds FROM limits"
        stored = op.get_bind().execute(sa.text(f"SELECT run_id, flow, {source}")).fetchall()  # noqa: S608
        for at in range(0, len(stored), BATCH):
            rows = [second for row in stored[at : at + BATCH] for second in seconds(row, names)]
            if rows:
                op.bulk_insert(made, rows)
    op.drop_column("limits", "seconds")
    op.drop_table("flow_series")


def seconds(row: Any, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of one flow."""
    run_id, flow, values = row
    bins = len(values) // 8 // len(names)
    numbers = struct.unpack(f">{len(values) // 8}d", values)
    for bin_s in range(bins):
        found = {name: numbers[rank * bins + bin_s] for rank, name in enumerate(names)}
        present = {name: None if number != number else number for name, number in found.items()}  # noqa: PLR0124
        yield {"run_id": run_id, "flow": flow, "bin_s": bin_s, **present}
