"""Events get their place in the log when they are committed: no transaction under way holds readers back."""

from __future__ import annotations

from alembic import op

revision = "a17d50c93e62"
down_revision = "f6c03e81b249"
branch_labels = None
depends_on = None

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


def upgrade() -> None:
    op.execute("CREATE SEQUENCE event_places")
    op.execute(FIRST)
    op.execute(PLACE)
    op.execute(END)
    op.execute(
        "CREATE CONSTRAINT TRIGGER place_event AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION place_event()"
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER place_event ON events")
    op.execute("DROP FUNCTION place_event()")
    op.execute("DROP FUNCTION events_end()")
    op.execute("DROP SEQUENCE event_places")
    op.execute("UPDATE events SET xact = '3'")
    op.execute("UPDATE channels SET seen_xact = pg_snapshot_xmin(pg_current_snapshot())::text::bigint, seen_id = 0")
