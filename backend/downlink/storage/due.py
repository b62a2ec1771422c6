"""One query for all that the tick may find to do: an idle pass ends with its answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import text

from downlink.storage.runs.active_runs import ACTIVE_NAMES
from downlink.storage.runs.plan_store import LEFT_OF_CANCELLED
from downlink.storage.runs.planned import DUE
from downlink.storage.unit import Unit

RUNNING = "campaigns.state = 'running' AND campaigns.origin = 'measured'"
CONDITIONS: Mapping[str, str] = {
    "runs": "SELECT FROM runs WHERE wake_at <= :now AND state = ANY(:active)",
    "triggers": f"SELECT FROM triggers JOIN campaigns ON campaigns.id = triggers.campaign_id WHERE {RUNNING}",
    "leases": f"{DUE.text} UNION ALL SELECT NULL, NULL, link FROM wakes",  # noqa: S608 - constants
    "jobs": """SELECT FROM runs WHERE needs IS NOT NULL
        UNION ALL SELECT FROM campaigns LEFT JOIN reports ON reports.campaign_id = campaigns.id
        WHERE report_wanted > coalesce(reports.version, 0)""",
    "cancelled": LEFT_OF_CANCELLED.text,
    "sweep_part": "SELECT FROM sweeps WHERE state IN ('queued', 'running')",
    "path": "SELECT FROM paths WHERE state IN ('queued', 'making')",
    "remove_data": "SELECT FROM retentions WHERE going IS NOT NULL",
    "collect": "SELECT FROM channels WHERE is_enabled",
    "notify": "SELECT FROM notifications WHERE sent_at IS NULL AND gave_up_at IS NULL AND due_at <= :now",
}
"""Step of the tick to the rows without which it does nothing; never fewer rows than the step's own query finds."""
_QUERY = text("SELECT " + ", ".join(f"EXISTS ({rows}) AS {name}" for name, rows in CONDITIONS.items()))


def find_due(unit: Unit, now: datetime) -> Mapping[str, bool]:
    """Return for each of CONDITIONS whether there are such rows."""
    values = {"now": now, "active": list(ACTIVE_NAMES)}
    return dict(unit.session.execute(_QUERY, values).mappings().one())
