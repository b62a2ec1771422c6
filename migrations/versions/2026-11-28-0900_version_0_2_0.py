"""Bring tables of commit 4ed48422 to those of version 0.2.0: makers of every means of access, starts of agents, ways of runs, leases
with names, and places of events."""

from __future__ import annotations

from alembic import op

revision = "b28e61da04f7"
down_revision = "b83d5f10c6e2"
branch_labels = None
depends_on = None
replaces = "c7f19a3e5d08 d4a81c6f9e27 e5b92d70a138 f6c03e81b249 a17d50c93e62".split()

MADE_BY = "account_id uuid CONSTRAINT fk_{}_account_id REFERENCES users ON DELETE {}"
COLUMNS = {
    "agents": ("instance jsonb", "rival jsonb"),
    "api_tokens": ("parent_id uuid CONSTRAINT fk_api_tokens_parent_id REFERENCES api_tokens ON DELETE CASCADE",),
    "campaigns": ("splits_by_address boolean NOT NULL DEFAULT false",),
    "enrolments": (MADE_BY.format("enrolments", "CASCADE"),),
    "invitations": (MADE_BY.format("invitations", "CASCADE"),),
    "links": ("rate_tolerance_percent float8 NOT NULL DEFAULT '50'",),
    "provider_visits": (
        "origin text NOT NULL DEFAULT ''",
        "session_id uuid CONSTRAINT fk_provider_visits_session_id REFERENCES sessions (id) ON DELETE CASCADE",
    ),
    "run_flows": ("most_bytes bigint",),
    "runs": ("way jsonb", "implausible jsonb", "decision jsonb", "lease text"),
    "shares": (MADE_BY.format("shares", "SET NULL"),),
    "triggers": (MADE_BY.format("triggers", "SET NULL"),),
}
SENT, RECEIVED = "(sender_outcome ->> 'app_bytes')::bigint", "(receiver_outcome ->> 'app_bytes')::bigint"
BEFORE = f"coalesce(greatest({SENT}, {RECEIVED}), 0)"
AFTER = (
    f"coalesce(CASE WHEN greatest({SENT}, {RECEIVED}) > most_bytes "
    f"THEN least({SENT}, {RECEIVED}, CASE WHEN num_nulls({SENT}, {RECEIVED}) > 0 THEN most_bytes END) "
    f"ELSE greatest({SENT}, {RECEIVED}) END, 0)"
)
"""No claim of an agent exceeds what its link carries."""

# A writer holds a lock that tells the last number given before its own, from its commit's beginning to its end. So a reader that has
# read the counter, and then the locks, knows that every lower number is committed or will never be.
CLASS = 1_145_394_766
LOW = 2**31 - 1
GIVEN = "(last_value - CASE WHEN is_called THEN 0 ELSE 1 END)"
PLACE = f"""
CREATE FUNCTION place_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('downlink.places', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM pg_advisory_xact_lock_shared({CLASS}, ({GIVEN} & {LOW})::int) FROM event_places;
        PERFORM set_config('downlink.places', pg_current_xact_id()::text, true);
    END IF;
    UPDATE events SET xact = nextval('event_places')::text::xid8 WHERE id = NEW.id;
    RETURN NULL;
END $$
"""
END = f"""
CREATE FUNCTION events_end() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    given bigint;
    before bigint;
BEGIN
    SELECT {GIVEN} INTO given FROM event_places;
    SELECT max(behind) INTO before FROM (
        SELECT (given - objid::bigint) & {LOW} AS behind FROM pg_locks
        WHERE locktype = 'advisory' AND classid = {CLASS} AND objsubid = 2 AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ) AS held WHERE behind < {2**30};
    RETURN given - coalesce(before, 0);
END $$
"""
# Behind every place that a reader may know: those were numbers of transactions.
FIRST = """
SELECT setval('event_places', greatest(
    pg_current_xact_id()::text::bigint,
    (SELECT coalesce(max(xact), '0') FROM events)::text::bigint,
    (SELECT coalesce(max(seen_xact), 0) FROM channels)
))
"""
PLACES = (
    "CREATE SEQUENCE event_places",
    FIRST,
    PLACE,
    END,
    "CREATE CONSTRAINT TRIGGER place_event AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION place_event()",
)
NO_PLACES = (
    "DROP TRIGGER place_event ON events",
    "DROP FUNCTION place_event()",
    "DROP FUNCTION events_end()",
    "DROP SEQUENCE event_places",
    "UPDATE events SET xact = '3'",
    "UPDATE channels SET seen_xact = pg_snapshot_xmin(pg_current_snapshot())::text::bigint, seen_id = 0",
)


def upgrade() -> None:
    for table, added in COLUMNS.items():
        op.execute(f"ALTER TABLE {table} {', '.join(f'ADD {column}' for column in added)}")
    compute_carried_bytes(AFTER)
    for statement in PLACES:
        op.execute(statement)


def downgrade() -> None:
    for statement in NO_PLACES:
        op.execute(statement)
    compute_carried_bytes(BEFORE)
    for table, added in COLUMNS.items():
        op.execute(f"ALTER TABLE {table} {', '.join(f'DROP {column.split()[0]}' for column in added)}")


def compute_carried_bytes(expression: str) -> None:
    """Add the column again: PostgreSQL 15 cannot change what a column is computed by."""
    op.execute("ALTER TABLE run_flows DROP carried_bytes")
    op.execute(f"ALTER TABLE run_flows ADD carried_bytes bigint NOT NULL GENERATED ALWAYS AS ({expression}) STORED")
    op.execute("CREATE INDEX ix_run_flows_carried ON run_flows (run_id) INCLUDE (carried_bytes)")
