"""first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from downlink.storage.tables.base import Xid8

revision = "91d7ca2e579b"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Equality inside an exclusion constraint: leases.
    op.execute("CREATE EXTENSION IF NOT EXISTS btree_gist")
    op.execute(sa.schema.CreateSequence(sa.Sequence("lease_slots")))

    op.create_table(
        "agents",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("boot_id", sa.Text(), nullable=False),
        sa.Column(
            "host",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column(
            "progress",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "spool",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint("name", name=op.f("uq_agents_name")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_agents_secret_hash")),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_api_tokens_secret_hash")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("is_recorded", sa.Boolean(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column(
            "spec",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column(
            "estimate",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("launched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resumed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("report_wanted", sa.BigInteger(), nullable=False),
        sa.Column("report_sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
    )
    op.create_index("ix_campaigns_created_at", "campaigns", ["created_at"], unique=False)
    op.create_table(
        "enrolments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enrolments")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_enrolments_token_hash")),
    )
    op.create_table(
        "links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("orbit", sa.Text(), nullable=False),
        sa.Column("operator", sa.Text(), nullable=False),
        sa.Column("nominal_rate_bps", sa.BigInteger(), nullable=False),
        sa.Column("base_rtt_ms", sa.Double(), nullable=False),
        sa.Column("receiver", sa.Text(), nullable=False),
        sa.Column("senders", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("allowance_bytes", sa.BigInteger(), nullable=True),
        sa.Column("is_emulated", sa.Boolean(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_links")),
        sa.UniqueConstraint("name", name=op.f("uq_links_name")),
    )
    op.create_table(
        "login_failures",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_failures")),
    )
    op.create_index("ix_login_failures_key_at", "login_failures", ["key", "at"], unique=False)
    op.create_table(
        "setup_tokens",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_setup_tokens")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("username", name=op.f("uq_users_username")),
    )
    op.create_table(
        "reports",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("analysis_version", sa.Text(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaigns.id"],
            name=op.f("fk_reports_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_reports")),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("cycle", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "stop",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column("deadline_s", sa.Double(), nullable=False),
        sa.Column("expected_s", sa.Double(), nullable=False),
        sa.Column("base_rtt_ms", sa.Double(), nullable=False),
        sa.Column("nominal_rate_bps", sa.BigInteger(), nullable=False),
        sa.Column("is_host_wide", sa.Boolean(), nullable=False),
        sa.Column(
            "live",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("needs", sa.Text(), nullable=True),
        sa.Column("needs_sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("analysis_version", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaigns.id"],
            name=op.f("fk_runs_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("campaign_id", "link", "cycle", "position", "attempt", name="uq_runs_place"),
    )
    op.create_index(
        "ix_runs_unfinished",
        "runs",
        ["state", "due_at"],
        unique=False,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "sessions",
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_sessions_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("secret_hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_user_id"), "sessions", ["user_id"], unique=False)
    op.create_table(
        "chunks",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=True),
        sa.Column("parquet", sa.LargeBinary(), nullable=True),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_chunks_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", "end", "sequence", name=op.f("pk_chunks")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column(
            "xact",
            Xid8(),
            server_default=sa.text("pg_current_xact_id()"),
            nullable=False,
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column(
            "data",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaigns.id"],
            name=op.f("fk_events_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_events_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_order", "events", ["xact", "id"], unique=False)
    op.create_index(
        "ix_events_progress",
        "events",
        ["at"],
        unique=False,
        postgresql_where=sa.text("kind = 'progress'"),
    )
    op.create_index("ix_events_run_id", "events", ["run_id", "id"], unique=False)
    op.create_table(
        "leases",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("slots", postgresql.INT8RANGE(), nullable=False),
        postgresql.ExcludeConstraint(
            (sa.column("resource"), "="),
            (sa.column("slots"), "&&"),
            using="gist",
            name="ex_leases_resource",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_leases_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "resource", name=op.f("pk_leases")),
    )
    op.create_table(
        "metrics",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("throughput_bps", sa.Double(), nullable=True),
        sa.Column("goodput_bps", sa.Double(), nullable=True),
        sa.Column("rtt_ms", sa.Double(), nullable=True),
        sa.Column("rwnd_bytes", sa.Double(), nullable=True),
        sa.Column("cwnd_bytes", sa.Double(), nullable=True),
        sa.Column("retransmission_percent", sa.Double(), nullable=True),
        sa.Column("in_flight_bytes", sa.Double(), nullable=True),
        sa.Column("utilisation_ratio", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_metrics_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", "phase", name=op.f("pk_metrics")),
    )
    op.create_table(
        "run_flows",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("sender", sa.Text(), nullable=False),
        sa.Column("receiver", sa.Text(), nullable=False),
        sa.Column("asked_cc", sa.Text(), nullable=False),
        sa.Column(
            "cc_options",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column("start_s", sa.Double(), nullable=False),
        sa.Column("pacing_rate_bps", sa.BigInteger(), nullable=True),
        sa.Column("ticket", sa.Text(), nullable=True),
        sa.Column(
            "sender_outcome",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "receiver_outcome",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("time_to_steady_s", sa.Double(), nullable=True),
        sa.Column("object_times_s", sa.ARRAY(sa.Double()), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["runs.id"],
            name=op.f("fk_run_flows_run_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "flow", name=op.f("pk_run_flows")),
    )
    op.create_table(
        "run_hosts",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("roles", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("heard_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("data_address", sa.Text(), nullable=True),
        sa.Column(
            "settings_asked",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column(
            "settings_before",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "settings_during",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "settings_after",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("is_restored", sa.Boolean(), nullable=True),
        sa.Column(
            "differences",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column(
            "fingerprint",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["runs.id"],
            name=op.f("fk_run_hosts_run_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "agent", name=op.f("pk_run_hosts")),
    )
    op.create_index(op.f("ix_run_hosts_agent"), "run_hosts", ["agent"], unique=False)
    op.create_table(
        "series",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("bin_s", sa.BigInteger(), nullable=False),
        sa.Column("throughput_bps", sa.Double(), nullable=True),
        sa.Column("goodput_bps", sa.Double(), nullable=True),
        sa.Column("rtt_ms", sa.Double(), nullable=True),
        sa.Column("rwnd_bytes", sa.Double(), nullable=True),
        sa.Column("cwnd_bytes", sa.Double(), nullable=True),
        sa.Column("retransmission_percent", sa.Double(), nullable=True),
        sa.Column("in_flight_bytes", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_series_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", "bin_s", name=op.f("pk_series")),
    )
    op.create_table(
        "traces",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("flow", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.Text(), nullable=False),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.Column("chunks", sa.BigInteger(), nullable=False),
        sa.Column("missing", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("sealed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_traces_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "flow", "end", name=op.f("pk_traces")),
    )


def downgrade() -> None:
    op.execute(sa.schema.DropSequence(sa.Sequence("lease_slots")))

    op.drop_table("traces")
    op.drop_table("series")
    op.drop_index(op.f("ix_run_hosts_agent"), table_name="run_hosts")
    op.drop_table("run_hosts")
    op.drop_table("run_flows")
    op.drop_table("metrics")
    op.drop_table("leases")
    op.drop_index("ix_events_run_id", table_name="events")
    op.drop_index(
        "ix_events_progress",
        table_name="events",
        postgresql_where=sa.text("kind = 'progress'"),
    )
    op.drop_index("ix_events_order", table_name="events")
    op.drop_table("events")
    op.drop_table("chunks")
    op.drop_index(op.f("ix_sessions_user_id"), table_name="sessions")
    op.drop_table("sessions")
    op.drop_index(
        "ix_runs_unfinished",
        table_name="runs",
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.drop_table("runs")
    op.drop_table("reports")
    op.drop_table("users")
    op.drop_table("setup_tokens")
    op.drop_index("ix_login_failures_key_at", table_name="login_failures")
    op.drop_table("login_failures")
    op.drop_table("links")
    op.drop_table("enrolments")
    op.drop_index("ix_campaigns_created_at", table_name="campaigns")
    op.drop_table("campaigns")
    op.drop_table("audit")
    op.drop_table("api_tokens")
    op.drop_table("agents")
