"""a commit that may give an agent an order, or that adds to the log, wakes whoever waits for it."""

from __future__ import annotations

from alembic import op

revision = "e7a41c9d0b35"
down_revision = "f2a74c9d0b16"
branch_labels = None
depends_on = None

# Planned runs are no agent's yet: to cancel a hundred thousand of them wakes nobody.
RUN_CHANGED = """
    NOT (OLD.state = 'planned' AND NEW.state <> 'leased')
    AND (OLD.state, OLD.verdict, OLD.start_at, OLD.released_at, OLD.needs, OLD.attempt)
        IS DISTINCT FROM (NEW.state, NEW.verdict, NEW.start_at, NEW.released_at, NEW.needs, NEW.attempt)
"""
FUNCTIONS = {
    "wake_agents_of_run": "PERFORM pg_notify('downlink_agents', agent) FROM run_hosts WHERE run_id = NEW.id;",
    "wake_agent_of_host": "PERFORM pg_notify('downlink_agents', coalesce(NEW.agent, OLD.agent));",
    "wake_agent": "PERFORM pg_notify('downlink_agents', NEW.name);",
    "wake_readers": "PERFORM pg_notify('downlink_log', '');",
}
TRIGGERS = (
    ("runs", "wake_agents_of_run", f"AFTER UPDATE ON runs FOR EACH ROW WHEN ({RUN_CHANGED})"),
    ("run_hosts", "wake_agent_of_host", "AFTER UPDATE OF phase OR DELETE ON run_hosts FOR EACH ROW"),
    (
        "agents",
        "wake_agent",
        "AFTER UPDATE OF status, run_id, detail, spool, host, secret_hash, revoked_at ON agents FOR EACH ROW",
    ),
    ("events", "wake_readers", "AFTER INSERT ON events FOR EACH ROW WHEN (NEW.kind <> 'host')"),
)


def upgrade() -> None:
    for name, act in FUNCTIONS.items():
        op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {act} RETURN NULL; END $$")
    for _, name, when in TRIGGERS:
        op.execute(f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION {name}()")


def downgrade() -> None:
    for table, name, _ in TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON {table}")
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION {name}()")
