"""Bring tables of version 0.1.0 to those of commit 4ed48422: accounts, shares, triggers, notifications, relays, packed series, trace
folders, retention, observations and paths."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "b83d5f10c6e2"
down_revision = "e52d80c6f4b1"
branch_labels = None
depends_on = None
replaces = """
    a41c7be02f95 a4c90e27b61d b93d61f8a27c b7d20f4c6e18 c5f18a2d7e40 d3b86f1e52a9 f2a74c9d0b16 e7a41c9d0b35 e8a17c53d046 f0b1d7a35c92
    a6d3f07b9c41 a4e8c2b61d70 c7e2a90d4f58 c7b15e90d3a2 c7d20e5a81f4 c4f19d7e02ab d8a35e60c17b b7e2c40d9f18 c41d90b7a2e5 c31f5a9e8d07
    5c1f0d7e9a42 d05a7be1c264 e83b1f5c7d42 7d20c4f9b6a1 a4d17e60c93b c51b0e7d2a84 d5c20b8e17f6 e8a41c07d925 c4f17a90d3be c1f7a90d53e2
    d7b3e5091ac4 e2a86c41f70d e2a90c57f1b8 b7d05a3c9e14 f3b71d90a6c2 a84d20c7e915 f41b7a02c9de c41f80b6d2a7 e2a9d3b64c17 f5c18a7d3e90
    b7d40e92c1a8 d2a96e41b7f3 c91e5a0d47b3 a7d3105be96c e41b7c92a0d5 5b0c7e19d3a4
""".split()

TABLES = {
    "heartbeats": "name text CONSTRAINT pk_heartbeats PRIMARY KEY, at timestamptz NOT NULL, since timestamptz NOT NULL",
    "flow_series": """
        run_id uuid NOT NULL CONSTRAINT fk_flow_series_run_id REFERENCES runs ON DELETE CASCADE,
        flow bigint NOT NULL, bins bigint NOT NULL, quantities text[] NOT NULL, packed bytea NOT NULL,
        CONSTRAINT pk_flow_series PRIMARY KEY (run_id, flow)""",
    "report_answers": """
        campaign_id uuid NOT NULL CONSTRAINT fk_report_answers_campaign_id REFERENCES campaigns ON DELETE CASCADE,
        name text NOT NULL, version bigint NOT NULL, seen text NOT NULL, body bytea NOT NULL,
        CONSTRAINT pk_report_answers PRIMARY KEY (campaign_id, name)""",
    "wakes": "id bigserial CONSTRAINT pk_wakes PRIMARY KEY, link text NOT NULL",
    "trace_folders": "id uuid CONSTRAINT pk_trace_folders PRIMARY KEY, url text NOT NULL, due_at timestamptz",
    "link_phases": """
        run_id uuid NOT NULL CONSTRAINT fk_link_phases_run_id REFERENCES runs ON DELETE CASCADE, phase text NOT NULL,
        queueing_ms float8, queueing_p95_ms float8, queueing_most_ms float8,
        waiting_bytes float8, waiting_p95_bytes float8, waiting_most_bytes float8,
        served_ratio float8, gap_s float8, outage_s float8, congestion_loss_percent float8, link_loss_percent float8,
        queue_full_percent float8, early_drop_percent float8, random_loss_percent float8, outage_percent float8, handover_percent float8,
        queue_full_bytes float8, early_drop_bytes float8, random_loss_bytes float8, outage_bytes float8, handover_bytes float8,
        offered_bytes float8,
        CONSTRAINT pk_link_phases PRIMARY KEY (run_id, phase)""",
    "flow_losses": """
        run_id uuid NOT NULL CONSTRAINT fk_flow_losses_run_id REFERENCES runs ON DELETE CASCADE, flow bigint NOT NULL,
        lost_packets float8, congestion_share_percent float8, queue_full_packets float8, early_drop_packets float8,
        random_loss_packets float8, outage_packets float8, handover_packets float8,
        CONSTRAINT pk_flow_losses PRIMARY KEY (run_id, flow)""",
    "annotations": """
        id uuid CONSTRAINT pk_annotations PRIMARY KEY,
        campaign_id uuid CONSTRAINT fk_annotations_campaign_id REFERENCES campaigns ON DELETE CASCADE, link text,
        kind text NOT NULL, text text NOT NULL, from_at timestamptz NOT NULL, to_at timestamptz, created_at timestamptz NOT NULL,
        CONSTRAINT ck_annotations_subject CHECK (campaign_id IS NOT NULL OR link IS NOT NULL)""",
    "shares": """
        id uuid CONSTRAINT pk_shares PRIMARY KEY,
        campaign_id uuid NOT NULL CONSTRAINT fk_shares_campaign_id REFERENCES campaigns ON DELETE CASCADE,
        name text NOT NULL, secret_hash bytea NOT NULL CONSTRAINT uq_shares_secret_hash UNIQUE,
        created_by text NOT NULL, created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL,
        opened bigint NOT NULL DEFAULT '0', opened_at timestamptz""",
    "invitations": """
        id uuid CONSTRAINT pk_invitations PRIMARY KEY, name text NOT NULL, role text NOT NULL,
        user_id uuid CONSTRAINT fk_invitations_user_id REFERENCES users ON DELETE CASCADE,
        secret_hash bytea NOT NULL CONSTRAINT uq_invitations_secret_hash UNIQUE,
        created_by text NOT NULL, created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL""",
    "channels": """
        id uuid CONSTRAINT pk_channels PRIMARY KEY,
        owner_id uuid CONSTRAINT fk_channels_owner_id REFERENCES users ON DELETE CASCADE,
        name text NOT NULL, kind text NOT NULL, target text NOT NULL, secret text, topics text[] NOT NULL, is_own_only boolean NOT NULL,
        failures_in_row bigint NOT NULL, gone_after_min bigint NOT NULL, is_enabled boolean NOT NULL,
        created_by text NOT NULL, created_at timestamptz NOT NULL, seen_xact bigint NOT NULL, seen_id bigint NOT NULL""",
    "notifications": """
        id uuid CONSTRAINT pk_notifications PRIMARY KEY,
        channel_id uuid NOT NULL CONSTRAINT fk_notifications_channel_id REFERENCES channels ON DELETE CASCADE,
        key text NOT NULL, topic text NOT NULL, type text NOT NULL, title text NOT NULL, body jsonb NOT NULL, agent_id uuid,
        created_at timestamptz NOT NULL, due_at timestamptz NOT NULL, hinted_at timestamptz, tries bigint NOT NULL DEFAULT '0',
        tried_at timestamptz, sent_at timestamptz, gave_up_at timestamptz, detail text,
        CONSTRAINT uq_notifications_key UNIQUE (channel_id, key)""",
    "paths": """
        id uuid CONSTRAINT pk_paths PRIMARY KEY, ready text NOT NULL, duration_us bigint NOT NULL, state text NOT NULL, reason text,
        done_us bigint NOT NULL DEFAULT '0', tries bigint NOT NULL DEFAULT '0',
        created_at timestamptz NOT NULL, sent_at timestamptz, ended_at timestamptz,
        header jsonb, summary jsonb, size_bytes bigint, content bytea""",
    "link_shares": """
        campaign_id uuid NOT NULL CONSTRAINT fk_link_shares_campaign_id REFERENCES campaigns ON DELETE CASCADE,
        link text NOT NULL, from_s float8 NOT NULL, to_s float8 NOT NULL, CONSTRAINT pk_link_shares PRIMARY KEY (campaign_id, link)""",
    "retentions": """
        campaign_id uuid CONSTRAINT pk_retentions PRIMARY KEY
            CONSTRAINT fk_retentions_campaign_id REFERENCES campaigns ON DELETE CASCADE,
        is_pinned boolean NOT NULL DEFAULT false, traces_days bigint, series_days bigint, all_days bigint,
        going text, ordered_by text, sent_at timestamptz, gone text, gone_at timestamptz""",
    "identities": """
        issuer text NOT NULL, subject text NOT NULL,
        user_id uuid NOT NULL CONSTRAINT fk_identities_user_id REFERENCES users ON DELETE CASCADE,
        is_ruled boolean NOT NULL, created_at timestamptz NOT NULL, CONSTRAINT pk_identities PRIMARY KEY (issuer, subject)""",
    "provider_visits": """
        state_hash bytea CONSTRAINT pk_provider_visits PRIMARY KEY,
        browser_hash bytea NOT NULL, nonce text NOT NULL, verifier text NOT NULL,
        user_id uuid CONSTRAINT fk_provider_visits_user_id REFERENCES users ON DELETE CASCADE, expires_at timestamptz NOT NULL""",
    "flow_proxies": """
        run_id uuid NOT NULL CONSTRAINT fk_flow_proxies_run_id_runs REFERENCES runs ON DELETE CASCADE, flow bigint NOT NULL,
        path text NOT NULL, near text, ack_lead_ms float8, clock_error_ms float8, sender_handshake_ms float8,
        receiver_handshake_ms float8, probe_rtt_ms float8, base_rtt_ms float8, sender_window_bytes bigint, receiver_window_bytes bigint,
        CONSTRAINT pk_flow_proxies PRIMARY KEY (run_id, flow)""",
    "link_quantities": """
        link text NOT NULL, quantity text NOT NULL, source text NOT NULL, unit text NOT NULL,
        first_at timestamptz NOT NULL, last_at timestamptz NOT NULL,
        CONSTRAINT pk_link_quantities PRIMARY KEY (link, quantity, source)""",
    "observations": """
        link text NOT NULL, quantity text NOT NULL, source text NOT NULL, at timestamptz NOT NULL, value float8 NOT NULL,
        CONSTRAINT pk_observations PRIMARY KEY (link, quantity, source, at),
        CONSTRAINT fk_observations_link_link_quantities
            FOREIGN KEY (link, quantity, source) REFERENCES link_quantities ON DELETE CASCADE""",
    "triggers": """
        campaign_id uuid CONSTRAINT pk_triggers PRIMARY KEY CONSTRAINT fk_triggers_campaign_id REFERENCES campaigns ON DELETE CASCADE,
        secret text, called_at timestamptz, waits text, refusal text, refused_at timestamptz""",
    "firings": """
        campaign_id uuid NOT NULL CONSTRAINT fk_firings_campaign_id REFERENCES campaigns ON DELETE CASCADE,
        number bigint NOT NULL, at timestamptz NOT NULL, cause jsonb NOT NULL, first_cycle bigint NOT NULL, runs bigint NOT NULL,
        CONSTRAINT pk_firings PRIMARY KEY (campaign_id, number)""",
    "flow_delays": """
        run_id uuid NOT NULL CONSTRAINT fk_flow_delays_run_id_runs REFERENCES runs ON DELETE CASCADE, flow bigint NOT NULL,
        kind text NOT NULL, mean_ms float8, median_ms float8, p5_ms float8, p95_ms float8, n bigint NOT NULL,
        clock_error_ms float8, why text, sketch bytea, CONSTRAINT pk_flow_delays PRIMARY KEY (run_id, flow, kind)""",
    "weather_places": """
        id uuid CONSTRAINT pk_weather_places PRIMARY KEY, latitude float8 NOT NULL, longitude float8 NOT NULL, mark text NOT NULL,
        due_at timestamptz NOT NULL, hinted_at timestamptz, asked_at timestamptz, tried_at timestamptz, taken_at timestamptz,
        reading_at timestamptz, problem text, detail text, failures bigint NOT NULL DEFAULT '0',
        CONSTRAINT uq_weather_places_place UNIQUE (latitude, longitude)""",
}  # fmt: skip
CARRIED = "coalesce(greatest((sender_outcome ->> 'app_bytes')::bigint, (receiver_outcome ->> 'app_bytes')::bigint), 0)"
OWNED = "owner_id uuid CONSTRAINT fk_{}_owner_id_users REFERENCES users ON DELETE SET NULL"
COLUMNS = {
    "agents": ("protocol bigint NOT NULL DEFAULT '1'", "paused_by text", "paused_until timestamptz", "pause_why text"),
    "api_tokens": ("user_id uuid CONSTRAINT fk_api_tokens_user_id_users REFERENCES users ON DELETE CASCADE",),
    "audit": ("actor_kind text NOT NULL DEFAULT 'unknown'", "actor_id uuid", "subject_id uuid"),
    "campaigns": ("quick_link text", "tags text[] NOT NULL DEFAULT '{}'", OWNED.format("campaigns")),
    "chunks": (
        "folder_id uuid CONSTRAINT fk_chunks_folder_id REFERENCES trace_folders", "joined_to bigint", "parquet_bytes bigint",
    ),
    "exits": ("is_too_late boolean", "cwnd_source text"),
    "limits": ("seconds bytea NOT NULL DEFAULT ''",),
    "links": (
        "time_zone text", OWNED.format("links"), "reset_day bigint NOT NULL DEFAULT '1'", "relays text[] NOT NULL DEFAULT '{}'",
        "latitude float8", "longitude float8", "further_receivers text[] NOT NULL DEFAULT '{}'",
    ),
    "metrics": (
        "probe_loss_percent float8", "probe_rtt_p95_ms float8", "one_way_delay_ms float8", "in_order_delay_ms float8", "jitter_ms float8",
    ),
    "run_flows": (
        "received_times_s float8[]", f"carried_bytes bigint NOT NULL GENERATED ALWAYS AS ({CARRIED}) STORED",
        "relays text[] NOT NULL DEFAULT '{}'", "carrier jsonb", "offer jsonb", "hop_outcomes jsonb",
        "receiver_number bigint NOT NULL DEFAULT '1'", "content bigint",
    ),
    "run_hosts": (
        "upload_orders bigint NOT NULL DEFAULT '0'", "upload_asked_at timestamptz", "stored_at timestamptz",
        "stored_bytes bigint NOT NULL DEFAULT '0'", "missing jsonb NOT NULL DEFAULT '[]'",
    ),
    "runs": (
        "is_emulated boolean", "wake_at timestamptz", "link_seed bigint", "link_outcome jsonb", "link_window jsonb",
        "traces_removed_at timestamptz", "series_removed_at timestamptz", "hop_secret text", "trigger jsonb", "checks jsonb",
        "budget jsonb",
    ),
    "sessions": (
        "id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT uq_sessions_id UNIQUE", "address text NOT NULL DEFAULT ''",
        "browser text NOT NULL DEFAULT ''",
    ),
    "slow_starts": (
        "capacity_us bigint", "capacity_basis text", "capacity_rate_bps float8", "least_rtt_us bigint", "stayed_in_slow_start boolean",
        "mean_error_ratio float8",
    ),
    "users": ("role text NOT NULL DEFAULT 'admin'",),
}  # fmt: skip
GIVEN = {"audit": ("actor_kind",), "limits": ("seconds",), "sessions": ("id", "address", "browser")}
"""Columns whose default serves rows of 0.1.0 alone."""
ENDS = "coalesce(released_at, ended_at)"
INDEXES = {
    "ix_annotations_campaign_id": "annotations (campaign_id)",
    "ix_annotations_link": "annotations (link, from_at)",
    "ix_api_tokens_user_id": "api_tokens (user_id)",
    "ix_campaigns_owner_id": "campaigns (owner_id)",
    "ix_campaigns_quick_link": "campaigns (quick_link) WHERE quick_link IS NOT NULL",
    "ix_channels_owner_id": "channels (owner_id)",
    "ix_chunks_folder_id": "chunks (folder_id) WHERE folder_id IS NOT NULL",
    "ix_events_pruned": "events (kind, at) WHERE kind NOT IN ('run', 'campaign', 'report')",
    "ix_firings_at": "firings (campaign_id, at)",
    "ix_identities_user_id": "identities (user_id)",
    "ix_link_shares_link": "link_shares (link)",
    "ix_links_owner_id": "links (owner_id)",
    "ix_notifications_agent": "notifications (channel_id, agent_id, created_at DESC) WHERE agent_id IS NOT NULL",
    "ix_notifications_due": "notifications (due_at) WHERE sent_at IS NULL AND gave_up_at IS NULL",
    "ix_notifications_newest": "notifications (channel_id, created_at)",
    "ix_retentions_going": "retentions (sent_at) WHERE going IS NOT NULL",
    "ix_run_flows_carried": "run_flows (run_id) INCLUDE (carried_bytes)",
    "ix_runs_clock": "runs (coalesce(start_at, due_at))",
    "ix_runs_ended_at": "runs (ended_at)",
    "ix_runs_link_ended": f"runs (link, {ENDS})",
    "ix_runs_needs": "runs (needs_sent_at) WHERE needs IS NOT NULL",
    "ix_runs_planned": "runs (campaign_id, link, due_at, cycle, position, attempt) WHERE state = 'planned'",
    "ix_runs_series": f"runs (campaign_id, link, {ENDS}, id)",
    "ix_runs_wake_at": "runs (wake_at) WHERE wake_at IS NOT NULL",
    "ix_shares_campaign_id": "shares (campaign_id)",
    "ix_trace_folders_due_at": "trace_folders (due_at) WHERE due_at IS NOT NULL",
}
FUNCTIONS = {
    "leave_folder": "UPDATE trace_folders SET due_at = now() WHERE id = OLD.folder_id AND due_at IS DISTINCT FROM now();",
    "wake_agents_of_run": "PERFORM pg_notify('downlink_agents', agent) FROM run_hosts WHERE run_id = NEW.id;",
    "wake_agent_of_host": "PERFORM pg_notify('downlink_agents', coalesce(NEW.agent, OLD.agent));",
    "wake_agent": "PERFORM pg_notify('downlink_agents', NEW.name);",
    "wake_readers": "PERFORM pg_notify('downlink_log', '');",
}
LEFT = "AFTER DELETE ON chunks FOR EACH ROW WHEN (OLD.folder_id IS NOT NULL)"
MOVED = """AFTER UPDATE OF folder_id ON chunks FOR EACH ROW
    WHEN (OLD.folder_id IS NOT NULL AND OLD.folder_id IS DISTINCT FROM NEW.folder_id)"""
# Planned runs are no agent's yet: to cancel a hundred thousand of them wakes nobody.
RUN_CHANGED = """AFTER UPDATE ON runs FOR EACH ROW WHEN (
    NOT (OLD.state = 'planned' AND NEW.state <> 'leased')
    AND (OLD.state, OLD.verdict, OLD.start_at, OLD.released_at, OLD.needs, OLD.attempt)
        IS DISTINCT FROM (NEW.state, NEW.verdict, NEW.start_at, NEW.released_at, NEW.needs, NEW.attempt))"""
AGENT_CHANGED = "AFTER UPDATE OF status, run_id, detail, spool, host, secret_hash, revoked_at ON agents FOR EACH ROW"
TRIGGERS = (
    ("leave_folder", LEFT, "leave_folder"),
    ("move_folder", MOVED, "leave_folder"),
    ("wake_agents_of_run", RUN_CHANGED, "wake_agents_of_run"),
    ("wake_agent_of_host", "AFTER UPDATE OF phase OR DELETE ON run_hosts FOR EACH ROW", "wake_agent_of_host"),
    ("wake_agent", AGENT_CHANGED, "wake_agent"),
    ("wake_readers", "AFTER INSERT ON events FOR EACH ROW WHEN (NEW.kind <> 'host')", "wake_readers"),
)
POINTS = ("chunks", "traces")
"""Tables that name a point of measurement where 0.1.0 named an end of the flow."""
PLAIN = (("chunks", "packed"), ("chunks", "parquet"), ("reports", "body"), ("report_answers", "body"))
"""Columns whose content is compressed already, or costs more to compress than it saves."""
QUANTITIES = (
    "throughput_bps", "goodput_bps", "rtt_ms", "rwnd_bytes", "cwnd_bytes", "retransmission_percent", "in_flight_bytes",
)  # fmt: skip
ONE_PLACE = "num_nonnulls(packed, parquet, folder_id, joined_to) = 1"
LIMITS = ("congestion_window", "receive_window", "send_buffer", "application")


def packed(names: Sequence[str]) -> str:
    """SQL for the big-endian doubles of these columns, one column after the other, NaN where missing."""
    each = "string_agg(float8send(coalesce({}, 'NaN')), ''::bytea ORDER BY bin_s)"
    return " || ".join(each.format(name) for name in names)


VALUES = (
    "UPDATE exits SET is_too_late = coalesce((quantities->>'is_too_late')::boolean, false),"
    " cwnd_source = quantities->>'cwnd_source', quantities = quantities - 'is_too_late' - 'cwnd_source'",
    "UPDATE runs SET is_emulated = links.is_emulated FROM links, campaigns"
    " WHERE links.name = runs.link AND campaigns.id = runs.campaign_id AND campaigns.origin = 'measured'",
    f"INSERT INTO flow_series SELECT run_id, flow, count(*), ARRAY{list(QUANTITIES)}, {packed(QUANTITIES)}"
    " FROM series GROUP BY run_id, flow",
    f"UPDATE limits SET seconds = bins.seconds FROM (SELECT run_id, flow, {packed(LIMITS)} AS seconds"
    " FROM limit_bins GROUP BY run_id, flow) bins WHERE limits.run_id = bins.run_id AND limits.flow = bins.flow",
    # 0.1.0 had one account, which made all there is.
    *(f"UPDATE {table} SET owner_id = (SELECT id FROM users ORDER BY created_at LIMIT 1)" for table in ("campaigns", "links")),
    # The first tick looks at all that is under way.
    "UPDATE runs SET wake_at = now() WHERE released_at IS NULL"
    " AND state IN ('leased', 'preparing', 'running', 'restoring', 'uploading')",
    "INSERT INTO wakes (link) SELECT DISTINCT link FROM runs WHERE state = 'planned'",
)


def upgrade() -> None:
    for table, columns in TABLES.items():
        op.execute(f"CREATE TABLE {table} ({columns})")
    for table, added in COLUMNS.items():
        op.execute(f"ALTER TABLE {table} {', '.join(f'ADD {column}' for column in added)}")
    for table in POINTS:
        op.execute(f'ALTER TABLE {table} RENAME "end" TO point')
    for table, name in PLAIN:
        op.execute(f"ALTER TABLE {table} ALTER {name} SET STORAGE EXTERNAL")
    for statement in VALUES:
        op.execute(statement)
    move_imported_runs(1)
    for table, names in GIVEN.items():
        op.execute(f"ALTER TABLE {table} {', '.join(f'ALTER {name} DROP DEFAULT' for name in names)}")
    op.execute("DROP TABLE series, limit_bins")
    op.execute("ALTER TABLE campaigns DROP is_recorded")
    op.execute(f"ALTER TABLE chunks ADD CONSTRAINT ck_chunks_one_place CHECK ({ONE_PLACE})")
    op.execute("DROP INDEX ix_events_progress")
    for name, columns in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {columns}")
    for name, act in FUNCTIONS.items():
        op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {act} RETURN NULL; END $$")
    for name, when, function in TRIGGERS:
        op.execute(f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION {function}()")


def move_imported_runs(by: int) -> None:
    """Let positions of imported runs count from 1 as others do, or from 0 again. By way of negative ones, which are always free."""
    op.execute(f"UPDATE runs SET position = -1000000 - (position + {by}) WHERE import_source IS NOT NULL")
    op.execute("UPDATE runs SET position = -1000000 - position WHERE import_source IS NOT NULL")


def downgrade() -> None:
    refuse("folder_id IS NOT NULL", "are in a trace store: set DOWNLINK_TRACE_STORE=database, type `downlink move-traces`")
    refuse("joined_to IS NOT NULL", "share Parquet files, which earlier versions cannot read: load a dump from before the upgrade")
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION {name}() CASCADE")
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute("CREATE INDEX ix_events_progress ON events (at) WHERE kind = 'progress'")
    op.execute("ALTER TABLE chunks DROP CONSTRAINT ck_chunks_one_place")
    op.execute("ALTER TABLE campaigns ADD is_recorded boolean NOT NULL DEFAULT false")
    op.execute("UPDATE campaigns SET is_recorded = origin = 'recorded'")
    op.execute("ALTER TABLE campaigns ALTER is_recorded DROP DEFAULT")
    # 0.1.0 has no place for logs of links, and does not know this kind of event.
    for table in POINTS:
        op.execute(f"DELETE FROM {table} WHERE point = 'link'")
        op.execute(f'ALTER TABLE {table} RENAME point TO "end"')
    op.execute("DELETE FROM events WHERE kind = 'unexpected'")
    move_imported_runs(-1)
    unpack_into("series", QUANTITIES, "packed FROM flow_series")
    unpack_into("limit_bins", LIMITS, "seconds FROM limits")
    for table, name in PLAIN:
        op.execute(f"ALTER TABLE {table} ALTER {name} SET STORAGE EXTENDED")
    for table, added in COLUMNS.items():
        op.execute(f"ALTER TABLE {table} {', '.join(f'DROP {column.split()[0]}' for column in added)}")
    op.execute(f"DROP TABLE {', '.join(TABLES)}")


def refuse(where: str, remedy: str) -> None:
    found = op.get_bind().execute(sa.text(f"SELECT count(*) FROM chunks WHERE {where}")).scalar_one()
    if found:
        raise RuntimeError(f"{found} chunks {remedy}")


def unpack_into(table: str, names: Sequence[str], source: str) -> None:
    """Create a table with a row for each second of a flow."""
    columns = ", ".join(f"{name} float8" for name in names)
    op.execute(
        f"CREATE TABLE {table} (run_id uuid NOT NULL CONSTRAINT fk_{table}_run_id REFERENCES runs ON DELETE CASCADE,"
        f" flow bigint NOT NULL, bin_s bigint NOT NULL, {columns}, CONSTRAINT pk_{table} PRIMARY KEY (run_id, flow, bin_s))"
    )
    made = sa.table(table, *(sa.column(name) for name in ("run_id", "flow", "bin_s", *names)))
    for row in op.get_bind().execute(sa.text(f"SELECT run_id, flow, {source}")).fetchall():
        op.bulk_insert(made, list(seconds(row, names)))


def seconds(row: Any, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of one flow."""
    run_id, flow, values = row
    bins = len(values) // 8 // len(names)
    numbers = struct.unpack(f">{len(values) // 8}d", values)
    for bin_s in range(bins):
        found = {name: numbers[rank * bins + bin_s] for rank, name in enumerate(names)}
        present = {name: None if number != number else number for name, number in found.items()}
        yield {"run_id": run_id, "flow": flow, "bin_s": bin_s, **present}
